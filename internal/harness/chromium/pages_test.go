package chromium_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"hale/internal/harness/chromium"
)

// badPage has a script that its policy forbids and a picture that does not exist. It also
// has a text with little contrast in the dark, and a field without a label.
const badPage = `<!doctype html><html lang="en"><head><title>Bad</title>
<style>@media (prefers-color-scheme: dark) { body { background: #222; color: #333 } }</style></head>
<body><main><h1>Bad</h1><p>Words</p><input><img alt="" src="/none.png"></main><script>1</script></body></html>`

func servePage(t *testing.T, page string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/favicon.ico":
			return
		case "/none.png":
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(page))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// The console of a page with mistakes reports them, also those of the policy.
func TestWatchFindsMistakes(t *testing.T) {
	ctx := chromium.Open(t, 5*time.Minute)
	console := chromium.Watch(t, ctx)
	if err := chromedp.Do(ctx, chromedp.Navigate(servePage(t, badPage)), chromedp.Evaluate[chromedp.Void](`console.error('x')`)); err != nil {
		t.Fatal(err)
	}
	messages := strings.Join(console.Take(), "\n")
	for _, want := range []string{"Content Security Policy", "404", "kind error"} {
		if !strings.Contains(messages, want) {
			t.Errorf("%q is not in %s", want, messages)
		}
	}
	if again := console.Take(); len(again) != 0 {
		t.Errorf("taken twice: %v", again)
	}
}

// axe-core finds mistakes under a strict policy, and accepts a page without them.
func TestAxeFindsMistakes(t *testing.T) {
	axe := chromium.LoadAxe(t)
	ctx := chromium.Open(t, 5*time.Minute)
	console := chromium.Watch(t, ctx)
	visit := func(page, scheme string, rules ...string) string {
		t.Helper()
		chromium.View(t, ctx, 1280, scheme)
		if err := chromedp.Do(ctx, chromedp.Navigate(servePage(t, page))); err != nil {
			t.Fatal(err)
		}
		console.Take()
		found := axe.Violations(t, ctx, rules...)
		if messages := console.Take(); len(messages) > 0 {
			t.Errorf("axe-core itself is against the policy: %v", messages)
		}
		return strings.Join(found, "\n")
	}
	light, dark := visit(badPage, "light"), visit(badPage, "dark", "color-contrast")
	if !strings.Contains(light, "label: ") || strings.Contains(light, "color-contrast") {
		t.Errorf("light: %s", light)
	}
	if !strings.Contains(dark, "color-contrast: ") || strings.Contains(dark, "label: ") {
		t.Errorf("dark: %s", dark)
	}
	if found := visit(`<!doctype html><html lang="en"><head><title>Good</title></head><body><main><h1>Good</h1></main></body></html>`, "light"); found != "" {
		t.Errorf("a good page: %s", found)
	}
}
