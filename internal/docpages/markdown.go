package docpages

import (
	"bytes"
	"html/template"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown leaves out raw HTML, which no guide has.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough),
	goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(linkTransformer{}, 100))),
)

func parseMarkdown(source []byte) ast.Node {
	return markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(&headingIDs{used: map[string]bool{}}))))
}

// linkTransformer leads links between pages to the addresses of the service. A link to a
// page that the binary does not show becomes its text.
type linkTransformer struct{}

func (linkTransformer) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	var links []*ast.Link
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			links = append(links, link)
		}
		return ast.WalkContinue, nil
	})
	for _, link := range links {
		target := string(link.Destination)
		if strings.Contains(target, ":") || strings.HasPrefix(target, "#") {
			continue
		}
		if address, shown := guideLink(target); shown {
			link.Destination = []byte(address)
			continue
		}
		parent := link.Parent()
		for child := link.FirstChild(); child != nil; {
			next := child.NextSibling()
			parent.InsertBefore(parent, link, child)
			child = next
		}
		parent.RemoveChild(parent, link)
	}
}

// headingIDs names headings as GitHub does, so that links with anchors work in both
// places.
type headingIDs struct{ used map[string]bool }

func (h *headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(string(value)))
	if id == "" {
		id = "section"
	}
	name := id
	for n := 1; h.used[name]; n++ {
		name = id + "-" + strconv.Itoa(n)
	}
	h.used[name] = true
	return []byte(name)
}

func (h *headingIDs) Put(value []byte) { h.used[string(value)] = true }

// heading is a heading of a guide.
type heading struct {
	Level    int
	ID, Text string
}

func headingsOf(tree ast.Node, source []byte) (all []heading) {
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			id, _ := h.AttributeString("id")
			name, _ := id.([]byte)
			all = append(all, heading{h.Level, string(name), plainText(h, source)})
		}
	}
	return all
}

// plainText returns the words of a node without marks.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock || n.Kind() == extast.KindTableCell {
				b.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(unescapeText(n, source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			b.Write(n.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// unescapeText returns the text of a node as a reader sees it.
func unescapeText(n *ast.Text, source []byte) []byte {
	value := n.Segment.Value(source)
	if n.IsRaw() || n.Parent() != nil && n.Parent().Kind() == ast.KindCodeSpan {
		return value
	}
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
}

// scrollingTables makes tables and code scroll inside themselves, also with the keyboard. A
// group is no landmark, since a page may have many tables of one name. Code and text are
// escaped before, so no text looks like these tags.
var scrollingTables = strings.NewReplacer(
	"<table>", `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>`, "</table>", "</table></div>",
	"<pre>", `<pre tabindex="0">`,
)

// renderHTML returns a guide as HTML.
func (g *Guide) renderHTML() (template.HTML, error) {
	var b bytes.Buffer
	if err := markdownRenderer.Render(&b, g.source, g.tree); err != nil {
		return "", err
	}
	return template.HTML(scrollingTables.Replace(b.String())), nil //nolint:gosec // the renderer escapes the text of embedded pages
}

var markdownRenderer renderer.Renderer = markdown.Renderer()
