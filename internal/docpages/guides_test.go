package docpages

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"hale/docs"
)

func TestEveryPageIsAGuideOrAnException(t *testing.T) {
	pages, err := fs.Glob(docs.Files, "*.md")
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		_, shown := FindGuide(page)
		if leftOut := slices.Contains(notShown, strings.TrimSuffix(page, ".md")); shown == leftOut {
			t.Errorf("docs/%s must be either in guideGroups or in notShown", page)
		}
	}
	for _, g := range Guides() {
		if g.Title == "" || g.Summary == "" || headingsOf(g.tree, g.source)[0].Level != 1 {
			t.Errorf("%s has no title or no summary", g.Name)
		}
	}
}

var (
	hrefs         = regexp.MustCompile(`href="([^"]*)"`)
	forbiddenHTML = regexp.MustCompile(`<script|<style|<img|<iframe| style=| on[a-z]+=|javascript:|raw HTML omitted`)
)

// Links between guides lead to existing pages and headings.
func TestDocsLinksLeadToHeadings(t *testing.T) {
	ids := map[string]bool{}
	for _, g := range Guides() {
		ids[g.Path()] = true
		for _, h := range headingsOf(g.tree, g.source) {
			ids[g.Path()+"#"+h.ID] = true
		}
	}
	for _, program := range []string{"mirror.py", "mirror.ts"} {
		ids[programsPath+program] = true
	}
	links := 0
	for _, g := range Guides() {
		html, err := g.renderHTML()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range hrefs.FindAllStringSubmatch(string(html), -1) {
			target := m[1]
			if strings.HasPrefix(target, "#") {
				target = g.Path() + target
			}
			if strings.HasPrefix(target, "http") {
				continue
			}
			if links++; !ids[target] {
				t.Errorf("%s links to %s, which does not exist", g.Name, target)
			}
		}
		if found := forbiddenHTML.FindString(string(html)); found != "" {
			t.Errorf("%s contains %q", g.Name, found)
		}
		if strings.Count(string(html), "<table>") != strings.Count(string(html), `aria-label="Table"><table>`) {
			t.Errorf("a table of %s does not scroll inside itself", g.Name)
		}
	}
	if links < 100 {
		t.Errorf("only %d links: the search is broken", links)
	}
}

func TestMarkdownIsEscaped(t *testing.T) {
	source := []byte("# A & `<b>`\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1)) [y](errors.md#codes) [z](decisions/0001-dependencies.md)\n\n| a |\n|--:|\n| <i> |\n")
	g := &Guide{source: source, tree: parseMarkdown(source)}
	html, err := g.renderHTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, unwanted := range []string{"<script", "javascript:", "<i>", "style=", "decisions"} {
		if strings.Contains(string(html), unwanted) {
			t.Errorf("%q is in %s", unwanted, html)
		}
	}
	if !strings.Contains(string(html), `href="/docs/guides/errors#codes"`) || !strings.Contains(string(html), `id="a--b"`) {
		t.Errorf("%s", html)
	}
}

func TestNearestGuides(t *testing.T) {
	for name, want := range map[string]string{
		"webhoks": "webhooks", "Evnts": "events", "push": "pushing-data", "order": "ordering order-states", "qqq": "", "hl8.md": "hl7",
	} {
		if got := strings.Join(NearestGuides(name), " "); got != want {
			t.Errorf("near %s: %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"webhooks", "Webhooks", "webhooks.md", "docs/webhooks.md"} {
		if g, ok := FindGuide(name); !ok || g.Name != "webhooks" {
			t.Errorf("%s is not found", name)
		}
	}
}

func TestSearchInGuides(t *testing.T) {
	x := GuideIndex()
	for query, want := range map[string]string{
		"verify a webhook signature": "webhooks", "deleting data": "deleting-data", "tls-cert": "operations", "idempotency_key_reused": "errors",
		"Health Connect": "importing", "RESTORE backup": "operations", "phlebotomist visit": "appointments",
	} {
		hits := x.Search(query)
		if !slices.ContainsFunc(hits[:min(len(hits), 3)], func(h Hit) bool { return h.Name == want }) {
			t.Errorf("%q: the first hits are not from %s: %+v", query, want, hits[:min(len(hits), 3)])
		}
	}
	for _, nothing := range []string{"", "  ", "{}", "qqqzzz"} {
		if hits := x.Search(nothing); len(hits) != 0 {
			t.Errorf("%q: %d hits", nothing, len(hits))
		}
	}
	for _, odd := range []string{"İstanbul", "ſ webhook", "\xff webhook", strings.Repeat("a b ", 500)} {
		x.Search(odd) // must not fail
	}
}

func TestSnippets(t *testing.T) {
	text := strings.Repeat("před ", 40) + "the Signing secret of an endpoint " + strings.Repeat("after ", 60)
	parts := snippet(text, []string{"sign", "secret"})
	var whole, found string
	for _, p := range parts {
		whole += p.Text
		if p.Found {
			found += p.Text + " "
		}
	}
	if found != "Signing secret " || !strings.HasPrefix(whole, "… ") || !strings.HasSuffix(whole, " …") || !utf8.ValidString(whole) || len(whole) > 300 {
		t.Errorf("found %q in %q", found, whole)
	}
}

func TestTerminal(t *testing.T) {
	source := []byte("# The title\n\nA paragraph with `code` and a [link](errors.md) that is long enough for two lines of text.\n\n## Steps\n\n1. First\n2. Second step that is longer than a line of this narrow terminal:\n   ```sh\n   hale serve --with a-long-line-that-keeps-its-form-for-copying\n   ```\n\n| Name | Meaning |\n|---|---|\n| `a` | a cell whose text is longer than its column |\n| `b` | short |\n\n> Quoted\n")
	g := &Guide{source: source, tree: parseMarkdown(source)}
	want := "THE TITLE\n\nA paragraph with `code` and a link (hale\ndocs errors) that is long enough for two\nlines of text.\n\nSteps\n\n1. First\n2. Second step that is longer than a\n   line of this narrow terminal:\n\n       hale serve --with a-long-line-that-keeps-its-form-for-copying\n\nName  Meaning\n----------------------------------------\n`a`   a cell whose text is longer than\n      its column\n\n`b`   short\n\n| Quoted\n"
	if got := g.Terminal(Style{Width: 40}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if bold := g.Terminal(Style{Width: 40, Bold: true}); !strings.Contains(bold, "\x1b[1mSteps\x1b[0m") {
		t.Errorf("no bold heading in %q", bold)
	}
	for _, g := range Guides() { // no prose is wider than the terminal
		for line := range strings.Lines(g.Terminal(Style{Width: 80})) {
			if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 && !strings.HasPrefix(strings.TrimLeft(line, "|"), "    ") {
				t.Errorf("%s: a line of more than 80 characters: %s", g.Name, line)
			}
		}
	}
}
