package docpages_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"hale/internal/app/apptest"
	"hale/internal/harness/chromium"
	"hale/internal/platform/store/storetest"
)

// checkPage lists the problems of a page for a person with a small screen, a keyboard or
// a screen reader. It also lists the texts with too little contrast.
const checkPage = `(() => {
	const wrong = [], all = s => [...document.querySelectorAll(s)];
	if (document.documentElement.scrollWidth > innerWidth) wrong.push('wider than the screen: ' + document.documentElement.scrollWidth);
	if (all('main').length !== 1) wrong.push('not one main part');
	if (all('h1').length !== 1) wrong.push('not one main heading');
	let level = 0;
	for (const h of all('main h1, main h2, main h3, main h4')) {
		if (+h.tagName[1] > level + 1) wrong.push('heading level skipped: ' + h.textContent);
		level = +h.tagName[1];
	}
	for (const e of all('input, textarea')) if (!e.labels.length || !e.labels[0].textContent.trim()) wrong.push('no label: ' + e.id);
	for (const e of all('button, a, summary')) if (!e.textContent.trim()) wrong.push('a control without words');
	for (const e of all('main *')) {
		const style = getComputedStyle(e);
		if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && /auto|scroll/.test(style.overflowX) && e.tabIndex < 0 && e.tagName !== 'TEXTAREA')
			wrong.push('scrolls, but not with the keyboard: ' + e.outerHTML.slice(0, 80));
	}
	const rgb = text => (text.match(/[\d.]+/g) || []).map(Number);
	const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
	const low = new Set();
	for (const e of all('body *')) {
		if (!e.placeholder && ![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length) continue;
		let back = e, ground = [];
		while (back) {
			ground = rgb(getComputedStyle(back).backgroundColor);
			if (ground.length === 3 || ground[3] > 0) break;
			back = back.parentElement;
		}
		const text = getComputedStyle(e, e.placeholder ? '::placeholder' : null).color;
		const [a, b] = [light(rgb(text).slice(0, 3)), light(ground.slice(0, 3))].sort((x, y) => y - x);
		if ((a + .05) / (b + .05) < 4.5) low.add(e.tagName + '.' + e.className);
	}
	for (const e of low) wrong.push('too little contrast: ' + e);
	return wrong;
})()`

func check(t *testing.T, ctx context.Context, page string) {
	t.Helper()
	wrong, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](checkPage))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Errorf("%s: %s", page, w)
	}
}

func open(t *testing.T, ctx context.Context, address string) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
}

func do(t *testing.T, ctx context.Context, script string) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](script)); err != nil {
		t.Fatal(err)
	}
}

// openDetails shows all that a page hides until a reader opens it.
const openDetails = `for (const d of document.querySelectorAll('main details')) d.open = true`

func waitFor(t *testing.T, ctx context.Context, condition string) {
	t.Helper()
	for range 1200 {
		if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.readyState === 'complete' && !!(`+condition+`)`)); err == nil && ok {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the page never met: %s", condition)
}

// screens are a phone and a desktop, by day and by night.
var screens = []struct {
	width  int64
	scheme string
}{{390, "light"}, {390, "dark"}, {1280, "light"}, {1280, "dark"}}

// A reader searches with the keyboard, opens an operation, opens nested fields, tries it
// with a key, and reads a guide.
func TestDocsPagesInABrowser(t *testing.T) {
	ctx := chromium.Open(t, 3*time.Minute)
	a := apptest.Start(t, storetest.NewSQLite(t))
	for i, screen := range screens {
		name := fmt.Sprintf("at %d pixels, %s: ", screen.width, screen.scheme)
		chromium.View(t, ctx, screen.width, screen.scheme)
		open(t, ctx, a.URL()+"/docs")
		check(t, ctx, name+"reference")

		do(t, ctx, `document.getElementById('q').focus()`)
		if err := chromedp.Do(ctx, chromedp.KeyEvent("create a user"), chromedp.KeyEvent(kb.Enter)); err != nil {
			t.Fatal(err)
		}
		waitFor(t, ctx, `location.pathname === '/docs/search' && document.querySelector('mark')`)
		check(t, ctx, name+"search")
		do(t, ctx, `document.querySelector('a[href="/docs/operations/createUser"]').click()`)
		waitFor(t, ctx, `document.querySelector('h1').textContent === 'Create a user' && !document.getElementById('try-form').hidden`)
		do(t, ctx, openDetails)
		check(t, ctx, name+"operation")

		do(t, ctx, fmt.Sprintf(`(() => {
			document.getElementById('try-key').value = %q;
			document.getElementById('try-body').value = '{"client_user_id": "browser-%d"}';
			document.querySelector('#try-form button').click();
		})()`, a.Key, i))
		waitFor(t, ctx, fmt.Sprintf(`document.getElementById('try-status').textContent.startsWith('200') && document.getElementById('try-text').textContent.includes('browser-%d')`, i))
		if stored, err := chromedp.Run(ctx, chromedp.Evaluate[int](`localStorage.length + sessionStorage.length + document.cookie.length`)); err != nil || stored != 0 {
			t.Errorf("%sthe page stores something: %d %v", name, stored, err)
		}
		check(t, ctx, name+"tried operation")

		for _, page := range []string{"/docs/operations/createOrder", "/docs/operations/listSleep", "/docs/guides", "/docs/guides/importing", "/docs/guides/order-states", "/docs/guides/none"} {
			open(t, ctx, a.URL()+page)
			do(t, ctx, openDetails)
			check(t, ctx, name+page)
		}
	}
	for _, id := range []string{"browser-0", "browser-3"} {
		a.Expect(200, "GET", "/v2/user/resolve/"+id, "", nil)
	}
}

// The form sends parameters of the path, the query and headers, and shows refusals.
func TestDocsFormSendsParameters(t *testing.T) {
	ctx := chromium.Open(t, 3*time.Minute)
	a := apptest.Start(t, storetest.NewSQLite(t))
	a.Expect(200, "POST", "/v2/user/", `{"client_user_id": "an odd/name"}`, nil)
	open(t, ctx, a.URL()+"/docs/operations/resolveUser")
	fill := func(key string) {
		do(t, ctx, fmt.Sprintf(`(() => {
			document.getElementById('try-key').value = %q;
			document.querySelector('[data-name=client_user_id]').value = 'an odd/name';
			document.querySelector('#try-form button').click();
		})()`, key))
	}
	fill("sk_wrong")
	waitFor(t, ctx, `document.getElementById('try-status').textContent.startsWith('401') && document.getElementById('try-text').textContent.includes('unauthenticated')`)
	fill(a.Key)
	waitFor(t, ctx, `document.getElementById('try-status').textContent.startsWith('200') && document.getElementById('try-text').textContent.includes('an odd/name')`)
	open(t, ctx, a.URL()+"/docs/operations/listUsers")
	do(t, ctx, fmt.Sprintf(`(() => {
		document.getElementById('try-key').value = %q;
		document.querySelector('[data-name=limit]').value = '0';
		document.querySelector('#try-form button').click();
	})()`, a.Key))
	waitFor(t, ctx, `document.getElementById('try-status').textContent.startsWith('422')`)
}

var pageLinks = regexp.MustCompile(`href="(/docs/(?:guides|operations)/[^"#]*)"`)

// everyPage returns the addresses of all pages without a key: the start page, all guides
// and operations, searches, and pages that do not exist.
func everyPage(t *testing.T, url string) []string {
	t.Helper()
	pages := []string{"/", "/docs", "/docs/guides", "/docs/search", "/docs/search?q=user", "/docs/search?q=qqqzzz", "/docs/nonsense", "/docs/guides/webhoks", "/docs/operations/none"}
	for _, list := range []string{"/docs", "/docs/guides"} {
		_, text := get(t, url+list)
		for _, m := range pageLinks.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(pages, m[1]) {
				pages = append(pages, m[1])
			}
		}
	}
	if len(pages) < 270 {
		t.Fatalf("only %d pages", len(pages))
	}
	return pages
}

// Every page fits a phone and a desktop, by day and by night. The browser reports no
// error, and nothing that the policy forbids.
func TestEveryPageInABrowser(t *testing.T) {
	ctx := chromium.Open(t, 10*time.Minute)
	a := apptest.Start(t, storetest.NewSQLite(t))
	console := chromium.Watch(t, ctx)
	for _, page := range everyPage(t, a.URL()) {
		open(t, ctx, a.URL()+page)
		do(t, ctx, openDetails)
		for i, screen := range screens {
			chromium.View(t, ctx, screen.width, screen.scheme)
			name := fmt.Sprintf("%s at %d pixels, %s", page, screen.width, screen.scheme)
			if i%3 == 0 { // each width and each scheme once; the whole check takes most of the time
				check(t, ctx, name)
			} else if width, err := chromedp.Run(ctx, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); err != nil || width > screen.width {
				t.Errorf("%s: wider than the screen: %d, %v", name, width, err)
			}
		}
		for _, message := range console.Take() {
			if !strings.Contains(message, "404 (Not Found) "+a.URL()+page) { // the page itself
				t.Errorf("%s: the browser reports: %s", page, message)
			}
		}
	}
}

// axe-core, a checker of another maker, finds nothing by day and by night. Operations
// share one template, so one of each task and some with other parts are enough.
func TestAxeFindsNothing(t *testing.T) {
	axe := chromium.LoadAxe(t)
	ctx := chromium.Open(t, 10*time.Minute)
	a := apptest.Start(t, storetest.NewSQLite(t))
	_, list := get(t, a.URL()+"/docs")
	pages := slices.DeleteFunc(everyPage(t, a.URL()), func(page string) bool {
		return strings.HasPrefix(page, "/docs/operations/") && page != "/docs/operations/none"
	})
	for _, task := range strings.Split(list, "<section id=")[1:] {
		pages = append(pages, pageLinks.FindStringSubmatch(task[strings.Index(task, `<ul class="operations">`):])[1])
	}
	for _, operation := range []string{"createOrder", "createImport", "createReportJob", "queryUser", "searchPayorsByBody", "listSleep", "exchangeSignIn"} {
		pages = append(pages, "/docs/operations/"+operation)
	}
	for _, page := range pages {
		open(t, ctx, a.URL()+page)
		do(t, ctx, openDetails)
		chromium.View(t, ctx, 390, "light")
		found := axe.Violations(t, ctx)
		chromium.View(t, ctx, 390, "dark")
		found = append(found, axe.Violations(t, ctx, "color-contrast")...) // the only rule that depends on colors
		for _, violation := range found {
			t.Errorf("%s: %s", page, violation)
		}
	}
}
