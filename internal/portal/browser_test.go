package portal

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"hale/internal/harness/chromium"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/wearables/providers"
)

// checkPage lists what is wrong with a page for a person with a screen reader, a
// keyboard or a small screen.
const checkPage = `(() => {
	const wrong = [], all = s => [...document.querySelectorAll(s)];
	if (!document.documentElement.lang) wrong.push('the language is not named');
	if (!document.title) wrong.push('no title');
	if (all('main').length !== 1) wrong.push('not one main part');
	if (all('h1').length !== 1) wrong.push('not one main heading');
	let level = 0;
	for (const h of all('main h1, main h2, main h3, main h4')) {
		const n = +h.tagName[1];
		if (!h.closest('[role=alert]') && n > level + 1) wrong.push('heading level skipped: ' + h.textContent);
		level = n;
	}
	for (const e of all('input:not([type=hidden]), select, textarea'))
		if (!e.labels.length || !e.labels[0].textContent.trim()) wrong.push('no label: ' + e.name);
	for (const e of all('fieldset')) if (!e.querySelector('legend')) wrong.push('a group without a legend');
	for (const e of all('img')) {
		if (!e.hasAttribute('alt')) wrong.push('a picture without alt');
		if (!e.naturalWidth) wrong.push('a picture that did not load: ' + e.src);
	}
	for (const e of all('button, a')) if (!e.textContent.trim()) wrong.push('a control without words');
	for (const e of all('button, input:not([type=hidden])')) {
		const r = e.getBoundingClientRect();
		if (r.width < 24 || r.height < 44) wrong.push('too small to touch: ' + (e.name || e.textContent));
	}
	for (const e of all('[aria-describedby], [aria-labelledby]'))
		for (const id of (e.getAttribute('aria-describedby') || e.getAttribute('aria-labelledby')).split(' '))
			if (!document.getElementById(id)) wrong.push('points at nothing: ' + id);
	const ids = all('[id]').map(e => e.id);
	if (new Set(ids).size !== ids.length) wrong.push('an id used twice');
	if (document.documentElement.scrollWidth > innerWidth) wrong.push('wider than the screen');
	if (getComputedStyle(document.body).marginTop !== '0px') wrong.push('the style sheet was not applied');
	return wrong;
})()`

func check(t *testing.T, ctx context.Context, page string) {
	t.Helper()
	for _, width := range []int64{320, 768, 1280} {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 800)); err != nil {
			t.Fatal(err)
		}
		wrong, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](checkPage))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range wrong {
			t.Errorf("%s page at %d pixels: %s", page, width, w)
		}
	}
	t.Run("axe: "+page, func(t *testing.T) {
		axe := chromium.LoadAxe(t)
		for _, scheme := range []string{"light", "dark"} {
			chromium.View(t, ctx, 390, scheme)
			for _, violation := range axe.Violations(t, ctx) {
				t.Errorf("%s page, %s: %s", page, scheme, violation)
			}
		}
	})
}

// heading waits for the page with a main heading.
func heading(t *testing.T, ctx context.Context, want string) {
	t.Helper()
	got := ""
	for range 1200 {
		text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.readyState === 'complete' && document.querySelector('h1') ? document.querySelector('h1').textContent : ''`))
		if err == nil && text == want {
			return
		}
		got = text
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the page says %q, want %q", got, want)
}

func keys(t *testing.T, ctx context.Context, all ...string) {
	t.Helper()
	for _, k := range all {
		if err := chromedp.Do(ctx, chromedp.KeyEvent(k)); err != nil {
			t.Fatal(err)
		}
	}
}

// focusedElement describes the element with the keyboard's focus.
func focusedElement(t *testing.T, ctx context.Context) string {
	t.Helper()
	name, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(e => e.id || e.name || e.textContent.trim())(document.activeElement)`))
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// tabTo presses Tab and expects the focus on each of the controls in turn.
func tabTo(t *testing.T, ctx context.Context, controls ...string) {
	t.Helper()
	for _, want := range controls {
		keys(t, ctx, kb.Tab)
		if got := focusedElement(t, ctx); got != want {
			t.Errorf("the focus is on %q, want %q", got, want)
		}
	}
}

// A person with a keyboard opens a link from an e-mail, asks for a code,
// mistypes it, signs in, looks and signs out.
func TestPortalInABrowser(t *testing.T) {
	ctx := chromium.Open(t, 5*time.Minute)
	s := newSite(t)
	link := s.link(t, users.Communications)

	if err := chromedp.Do(ctx, chromedp.Navigate(link)); err != nil {
		t.Fatal(err)
	}
	heading(t, ctx, "Open your health portal")
	check(t, ctx, "link")
	tabTo(t, ctx, "Skip to content", "sms")
	keys(t, ctx, kb.ArrowDown) // to the e-mail address
	tabTo(t, ctx, "Continue")
	keys(t, ctx, kb.Enter)
	heading(t, ctx, "Enter your code")
	check(t, ctx, "code")
	if m := s.outbox(t); len(m) != 1 || m[0].Channel != messages.Email {
		t.Errorf("%d messages were sent", len(m))
	}
	tabTo(t, ctx, "Skip to content", "code")
	keys(t, ctx, s.wrongCode(t), kb.Enter)
	waitFor(t, ctx, `document.title.startsWith('Error: ')`)
	check(t, ctx, "wrong code")
	waitFor(t, ctx, `document.activeElement?.className === 'problem'`)
	tabTo(t, ctx, "This is not the code that we sent. You can try 4 more times. After that you need a new code.")
	if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](`document.activeElement.click()`)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, ctx, `document.activeElement?.id === 'code'`)
	tabTo(t, ctx, "Continue", "Send a new code")
	keys(t, ctx, kb.Enter)
	waitFor(t, ctx, `!!document.querySelector('.notice')`)
	check(t, ctx, "code that was sent already")

	tabTo(t, ctx, "Skip to content", "code")
	keys(t, ctx, s.code(t), kb.Enter)
	heading(t, ctx, "Hello Ada")
	check(t, ctx, "home")
	if at, err := chromedp.Run(ctx, chromedp.Location()); err != nil || at != s.url+"/portal" {
		t.Errorf("the address is %s, %v: the secret should be gone from it", at, err)
	}

	tabTo(t, ctx, "Skip to content", "Sign out")
	keys(t, ctx, kb.Enter)
	heading(t, ctx, "You have signed out")
	check(t, ctx, "message")
	if err := chromedp.Do(ctx, chromedp.Navigate(link)); err != nil {
		t.Fatal(err)
	}
	heading(t, ctx, "Open your health portal")
	waitFor(t, ctx, `!document.querySelector('fieldset')`) // the device is known
	tabTo(t, ctx, "Skip to content", "Continue")
	keys(t, ctx, kb.Enter)
	heading(t, ctx, "Hello Ada")
}

// A code that was tried too often leads to a new one.
func TestUsedUpCodeInABrowser(t *testing.T) {
	ctx := chromium.Open(t, 5*time.Minute)
	s := newSite(t)
	link := s.link(t, users.Communications)
	newBrowser(t).post(link, "method", "sms").want(t, 303)
	if err := chromedp.Do(ctx, chromedp.Navigate(link+"/code")); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		heading(t, ctx, "Enter your code")
		waitFor(t, ctx, `document.getElementById('code').value === ''`)
		focus := `document.getElementById('code').focus()`
		if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](focus)); err != nil {
			t.Fatal(err)
		}
		keys(t, ctx, s.wrongCode(t), kb.Enter)
		waitFor(t, ctx, `document.readyState === 'complete' && document.getElementById('code')?.value !== '`+s.wrongCode(t)+`'`)
	}
	heading(t, ctx, "This code no longer works")
	check(t, ctx, "code over")
	s.now = s.now.Add(time.Minute)
	tabTo(t, ctx, "Skip to content", "Send a new code")
	keys(t, ctx, kb.Enter)
	heading(t, ctx, "Enter your code")
	tabTo(t, ctx, "Skip to content", "code")
	keys(t, ctx, s.code(t), kb.Enter)
	heading(t, ctx, "Hello Ada")
}

// A team that accepts it lets the person enter the date of birth.
func TestBirthDateInABrowser(t *testing.T) {
	ctx := chromium.Open(t, 5*time.Minute)
	s := newSite(t)
	s.acceptBirthDate(t)
	if err := chromedp.Do(ctx, chromedp.Navigate(s.link(t, users.Communications))); err != nil {
		t.Fatal(err)
	}
	heading(t, ctx, "Open your health portal")
	check(t, ctx, "link")
	tabTo(t, ctx, "Skip to content", "sms")
	keys(t, ctx, kb.ArrowUp) // to the last choice
	tabTo(t, ctx, "Continue")
	keys(t, ctx, kb.Enter)
	heading(t, ctx, "Enter your date of birth")
	check(t, ctx, "birth date")
	tabTo(t, ctx, "Skip to content", "month", "day", "year", "Continue", "Choose another way")
	fillDate(t, ctx, "1", "2", "1990")
	waitFor(t, ctx, `document.title.startsWith('Error: ')`)
	heading(t, ctx, "Enter your date of birth")
	check(t, ctx, "wrong date")
	fillDate(t, ctx, "12", "10", "1984")
	heading(t, ctx, "Hello Ada")
}

// The pages of a person with an order, whose appointment is not booked yet.
func TestOrderPageInABrowser(t *testing.T) {
	ctx := chromium.Open(t, 5*time.Minute)
	s := newSite(t)
	o := s.order(t, catalogue.WalkIn, orders.RequisitionCreated)
	link := s.link(t, users.Communications)
	newBrowser(t).post(link, "method", "sms").want(t, 303)
	if err := chromedp.Do(ctx, chromedp.Navigate(link+"/code"), chromedp.Evaluate[chromedp.Void](`document.getElementById('code').focus()`)); err != nil {
		t.Fatal(err)
	}
	keys(t, ctx, s.code(t), kb.Enter)
	heading(t, ctx, "Hello Ada")
	check(t, ctx, "home with an order")
	path := ordersPath + o.ID.String()
	do := `document.querySelector('a[href="` + path + `"]').click()`
	if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](do)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, ctx, `location.pathname === '`+path+`' && !!document.querySelector('h1')`)
	check(t, ctx, "order")
}

func TestUserWithoutAnyCheckInABrowser(t *testing.T) {
	ctx := chromium.Open(t, 5*time.Minute)
	s := newSite(t)
	s.goToProduction(t)
	if err := chromedp.Do(ctx, chromedp.Navigate(s.link(t, users.Communications))); err != nil {
		t.Fatal(err)
	}
	heading(t, ctx, "We cannot check that it is you")
	check(t, ctx, "no way to check")
}

// fillDate types a date of birth and sends it with the keyboard.
func fillDate(t *testing.T, ctx context.Context, month, day, year string) {
	t.Helper()
	for id, text := range map[string]string{"month": month, "day": day, "year": year} {
		clear := `(e => { e.value = ''; e.focus() })(document.getElementById('` + id + `'))`
		if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](clear)); err != nil {
			t.Fatal(err)
		}
		keys(t, ctx, text)
	}
	keys(t, ctx, kb.Enter)
}

func waitFor(t *testing.T, ctx context.Context, condition string) {
	t.Helper()
	for range 1200 {
		if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.readyState === 'complete' && (`+condition+`)`)); err == nil && ok {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the page never met: %s", condition)
}

// serveLogos serves the pictures in place of the API.
func serveLogos(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, found := strings.CutPrefix(r.URL.Path, providers.LogoPath)
		if !found {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write(providers.FindOrName(strings.TrimSuffix(name, ".svg")).Logo())
	})
}
