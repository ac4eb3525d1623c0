// Package chromium starts a real browser for tests of pages.
package chromium

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Open starts a browser for a test of at most limit, or skips the test if there is none.
func Open(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no browser found: install chromium to test the pages in it")
	}
	for attempt := 1; ; attempt++ {
		ctx, err := start(t, path, limit)
		if err == nil {
			return ctx
		}
		if attempt == attempts {
			t.Fatalf("the browser does not start: %v", err)
		}
	}
}

// attempts bounds the starts: a browser may crash at its start on a machine under load.
const attempts = 3

func start(t *testing.T, path string, limit time.Duration) (context.Context, error) {
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Flag("disable-dev-shm-usage", true))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		return nil, err
	}
	ctx, cancel = context.WithTimeout(ctx, limit)
	t.Cleanup(cancel)
	return ctx, nil
}
