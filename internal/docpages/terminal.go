package docpages

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// Style says how a guide looks in a terminal.
type Style struct {
	Width int  // of a line in characters
	Bold  bool // the terminal shows bold text
}

// Terminal returns a guide as text with lines of at most style.Width characters. Code
// keeps its lines.
func (g *Guide) Terminal(style Style) string {
	style.Width = max(style.Width, 40)
	w := &terminalWriter{style: style, source: g.source}
	w.blocks(g.tree, "", "")
	return strings.TrimRight(strings.TrimLeft(w.out.String(), "\n"), "\n") + "\n"
}

type terminalWriter struct {
	style  Style
	source []byte
	out    strings.Builder
	blank  bool // the last line is empty
}

// line writes a line. Two empty lines in a row become one.
func (w *terminalWriter) line(text string) {
	text = strings.TrimRight(text, " ")
	if text != "" || !w.blank {
		w.out.WriteString(text + "\n")
	}
	w.blank = text == ""
}

func (w *terminalWriter) bold(text string) string {
	if !w.style.Bold || text == "" {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}

// blocks writes the blocks below a node. The first line begins with first, the others
// with rest.
func (w *terminalWriter) blocks(parent ast.Node, first, rest string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			text := plainText(n, w.source)
			w.line("")
			if n.Level == 1 {
				text = strings.ToUpper(text)
			}
			for _, l := range Wrap(text, w.style.Width) {
				w.line(rest + w.bold(l))
			}
			w.line("")
		case *ast.List:
			w.list(n, rest)
			if n.Parent().Kind() == ast.KindDocument {
				w.line("")
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			w.line("")
			for l := range strings.Lines(string(n.Lines().Value(w.source))) {
				w.line(rest + "    " + strings.TrimRight(l, "\n"))
			}
			w.line("")
		case *extast.Table:
			w.table(n, rest)
			w.line("")
		case *ast.Blockquote:
			w.blocks(n, rest+"| ", rest+"| ")
		case *ast.ThematicBreak:
			w.line(rest + strings.Repeat("-", w.style.Width-len(rest)))
		default:
			text := w.inline(n)
			for i, l := range Wrap(text, w.style.Width-len(rest)) {
				if i == 0 && n == parent.FirstChild() {
					w.line(first + l)
				} else {
					w.line(rest + l)
				}
			}
			if n.Kind() == ast.KindParagraph && n.Parent().Kind() != ast.KindListItem {
				w.line("")
			}
		}
	}
}

func (w *terminalWriter) list(list *ast.List, indent string) {
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "- "
		if list.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		w.blocks(item, indent+mark, indent+strings.Repeat(" ", len(mark)))
	}
}

// inline returns the text of a block: code in backticks, and the name of the guide after
// a link to it.
func (w *terminalWriter) inline(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.CodeSpan:
			b.WriteByte('`')
		case *ast.Link:
			if name, guide := strings.CutPrefix(string(n.Destination), guidesPath); !entering {
				name, _, _ = strings.Cut(name, "#")
				switch text := plainText(n, w.source); {
				case guide && !strings.EqualFold(text, name) && text != name+".md":
					b.WriteString(" (hale docs " + name + ")")
				case strings.HasPrefix(string(n.Destination), "http"):
					b.WriteString(" (" + string(n.Destination) + ")")
				}
			}
		case *ast.Text:
			if entering {
				b.Write(unescapeText(n, w.source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		case *ast.AutoLink:
			if entering {
				b.Write(n.Label(w.source))
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// leastColumn is the width below which a column does not shrink.
const leastColumn = 6

// table writes a table. Cells wrap if its columns are wider than a line.
func (w *terminalWriter) table(table *extast.Table, indent string) {
	var rows [][]string
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, strings.TrimSpace(w.inline(cell)))
		}
		rows = append(rows, cells)
	}
	widths := columnWidths(rows, w.style.Width-len(indent))
	tall := false
	for _, row := range rows[1:] {
		for i, cell := range row {
			tall = tall || utf8.RuneCountInString(cell) > widths[i]
		}
	}
	for at, row := range rows {
		lines := make([][]string, len(row))
		height := 1
		for i, cell := range row {
			lines[i] = Wrap(cell, widths[i])
			height = max(height, len(lines[i]))
		}
		for l := range height {
			line := indent
			for i := range row {
				text := ""
				if l < len(lines[i]) {
					text = lines[i][l]
				}
				space := ""
				if i+1 < len(row) {
					space = strings.Repeat(" ", max(widths[i]-utf8.RuneCountInString(text), 0)+2)
				}
				if at == 0 {
					text = w.bold(text)
				}
				line += text + space
			}
			w.line(line)
		}
		switch {
		case at > 0 && tall:
			w.line("")
		case at == 0:
			w.line(indent + strings.Repeat("-", min(sum(widths)+2*(len(widths)-1), w.style.Width-len(indent))))
		}
	}
}

// columnWidths returns the widths of columns that fit into a line: narrow ones keep their
// width, wide ones share the rest.
func columnWidths(rows [][]string, line int) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), 1)
		}
	}
	line -= 2 * (len(widths) - 1)
	for sum(widths) > line {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= leastColumn {
			break
		}
		widths[widest]--
	}
	return widths
}

func sum(numbers []int) (total int) {
	for _, n := range numbers {
		total += n
	}
	return total
}

// Wrap splits a text into lines of at most width characters. A longer word is split.
func Wrap(text string, width int) []string {
	var lines []string
	line, length := "", 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if length > 0 && length+1+n > width {
			lines = append(lines, line)
			line, length = "", 0
		}
		if length > 0 {
			line, length = line+" ", length+1
		}
		for length == 0 && n > width {
			runes := []rune(word)
			lines = append(lines, string(runes[:width]))
			word, n = string(runes[width:]), n-width
		}
		line, length = line+word, length+n
	}
	if length > 0 || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}
