package chromium

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// View sets the width of the screen and the color scheme, light or dark.
func View(t *testing.T, ctx context.Context, width int64, scheme string) {
	t.Helper()
	err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
}

// Console collects the errors and warnings that a browser reports about its pages: of
// scripts, of requests, and of the Content Security Policy.
type Console struct {
	mu       sync.Mutex
	messages []string
}

// Watch collects the messages of a tab from now on.
func Watch(t *testing.T, ctx context.Context) *Console {
	t.Helper()
	c := &Console{}
	err := chromedp.Listen(ctx, func(event any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch e := event.(type) {
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
				c.messages = append(c.messages, strings.TrimSpace(e.Entry.Text+" "+e.Entry.URL))
			}
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
				c.messages = append(c.messages, "the console has a message of the kind "+e.Type.String())
			}
		case *runtime.EventExceptionThrown:
			c.messages = append(c.messages, strings.TrimSpace(e.ExceptionDetails.Text+" "+e.ExceptionDetails.URL))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Take returns the messages since the last call.
func (c *Console) Take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	messages := c.messages
	c.messages = nil
	return messages
}

// Axe is the script of axe-core, which checks the accessibility of a page.
type Axe struct{ script string }

// LoadAxe reads axe-core from clients/, or skips the test if npm has not installed it.
func LoadAxe(t *testing.T) Axe {
	t.Helper()
	for folder := "."; ; folder = filepath.Join(folder, "..") {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			script, err := os.ReadFile(filepath.Join(folder, "clients", "node_modules", "axe-core", "axe.min.js"))
			if err != nil {
				t.Skip("axe-core is not here: npm ci in clients/ brings it")
			}
			return Axe{string(script)}
		}
		if strings.Count(folder, "..") > 20 {
			t.Fatal("chromium: no go.mod above the test")
		}
	}
}

// runAxe runs all rules, or those that are named, and describes each violation. The
// pages' policies stay in force, so axe must not load style sheets a second time.
const runAxe = `axe.run(document, {preload: false, resultTypes: ['violations'], ...%s}).then(result =>
	result.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 160) + ' ' + n.failureSummary.replace(/\s+/g, ' '))))`

// Violations returns what axe-core finds in the open page. Without rules it applies all
// that axe-core recommends.
func (a Axe) Violations(t *testing.T, ctx context.Context, rules ...string) []string {
	t.Helper()
	options := "{}"
	if len(rules) > 0 {
		options = fmt.Sprintf("{runOnly: ['%s']}", strings.Join(rules, "', '"))
	}
	loaded, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("typeof axe === 'object'"))
	if err == nil && !loaded {
		err = chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](a.script+"\n;0"))
	}
	found, failed := chromedp.Run(ctx, chromedp.Evaluate[[]string](fmt.Sprintf(runAxe, options), chromedp.EvalAwaitPromise))
	if err := cmp.Or(err, failed); err != nil {
		t.Fatal(err)
	}
	return found
}
