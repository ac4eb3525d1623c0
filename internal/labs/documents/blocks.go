package documents

import "strings"

// Blocks of a page: headings, fields, tables, paragraphs. Each begins at y,
// takes the room it needs and leaves y below itself.

const (
	small  = 7.0
	normal = 9.0
	lead   = 1.25 // line height by type size
)

// heading is a grey bar with words.
func (s *sheet) heading(words string) {
	s.room(40)
	s.y += 6
	s.pdf.SetFillColor(228, 232, 236)
	s.pdf.Rect(margin, s.y, inner, 14, "F")
	s.put(margin+4, s.y+10, normal, "B", printable(words))
	s.y += 18
}

// field is a value with what it is.
type field struct{ label, value string }

// fields stand in columns of equal width. A field without a value shows a dash,
// so that a reader sees that it is not known and not forgotten.
func (s *sheet) fields(columns int, all ...field) {
	width := inner / float64(columns)
	for len(all) > 0 {
		row := all[:min(columns, len(all))]
		all = all[len(row):]
		lines := make([][]string, len(row))
		texts := make([]text, len(row))
		sizes := make([]float64, len(row))
		deepest := 1
		for i, f := range row {
			if f.value == "" {
				f.value = "-"
			}
			texts[i] = printable(f.value)
			sizes[i] = s.fitWords(texts[i], width-8)
			lines[i] = s.wrap(texts[i], sizes[i], "", width-8)
			deepest = max(deepest, len(lines[i]))
		}
		height := small*lead + float64(deepest)*normal*lead + 4
		s.room(height)
		for i, f := range row {
			x := margin + float64(i)*width + 4
			s.pdf.SetTextColor(90, 90, 90)
			s.put(x, s.y+small, small, "", printable(f.label))
			s.pdf.SetTextColor(0, 0, 0)
			s.lines(x, s.y+small*lead, sizes[i], "", texts[i], lines[i])
		}
		s.y += height
	}
}

// fitWords is the size at which no word of a text is wider than its column,
// such as an id, or the smallest there is.
func (s *sheet) fitWords(t text, width float64) float64 {
	size := normal
	for word := range strings.FieldsSeq(t.letters) {
		for size > small && s.width(size, "", text{letters: word, core: t.core}) > width {
			size -= 0.5
		}
	}
	return size
}

// lines writes wrapped lines of a text, the first below y.
func (s *sheet) lines(x, y, size float64, style string, t text, lines []string) {
	s.use(t, style, size)
	for i, line := range lines {
		s.pdf.Text(x, y+float64(i)*size*lead+size, t.encode(line))
	}
}

// paragraph is running text over the whole width. One that is longer than a
// page goes on on the next.
func (s *sheet) paragraph(words string, size float64, style string) {
	s.indented(words, size, style, 0)
}

func (s *sheet) indented(words string, size float64, style string, indent float64) {
	t := printable(words)
	for _, line := range s.wrap(t, size, style, inner-8-indent) {
		s.room(size * lead)
		s.lines(margin+4+indent, s.y, size, style, t, []string{line})
		s.y += size * lead
	}
	s.y += 3
}

// point is a paragraph with a mark before it, such as a number or a box.
func (s *sheet) point(mark, words string) {
	s.room(2 * normal * lead)
	s.put(margin+4, s.y+normal, normal, "B", printable(mark))
	s.indented(words, normal, "", 18)
}

// box is a square to be ticked, with words beside it.
func (s *sheet) box(words string) {
	s.room(2 * normal * lead)
	s.pdf.Rect(margin+4, s.y+1.5, 8, 8, "D")
	s.indented(words, normal, "", 18)
}

// blanks are lines to write on, side by side.
func (s *sheet) blanks(labels ...string) {
	s.room(40)
	width := inner / float64(len(labels))
	for i, label := range labels {
		x := margin + float64(i)*width + 4
		s.pdf.Line(x, s.y+24, x+width-16, s.y+24)
		s.put(x, s.y+24+small+2, small, "", printable(label))
	}
	s.y += 40
}

// column of a table. Its width is a share of the whole.
type column struct {
	title string
	share float64
}

// cell of a table.
type cell struct {
	words string
	bold  bool
}

// row of a table: cells, or one text over all columns.
type row struct {
	cells []cell
	// title stands alone, in bold; note stands alone, in small type.
	title, note string
}

// table shows rows under titles, which every page has that it runs over.
func (s *sheet) table(columns []column, rows []row) {
	whole := 0.0
	for _, c := range columns {
		whole += c.share
	}
	head := func() {
		x := margin
		s.pdf.SetTextColor(90, 90, 90)
		for _, c := range columns {
			s.put(x+4, s.y+small+1, small, "B", printable(c.title))
			x += inner * c.share / whole
		}
		s.pdf.SetTextColor(0, 0, 0)
		s.y += small + 5
		s.rule()
	}
	s.room(40)
	head()
	for _, r := range rows {
		height, draw := s.tableRow(columns, whole, r)
		if s.y+height > bottom {
			s.next()
			head()
		}
		draw()
		s.y += height
	}
	s.y += 4
}

// tableRow measures a row and gives what draws it at y.
func (s *sheet) tableRow(columns []column, whole float64, r row) (height float64, draw func()) {
	if r.cells == nil {
		words, size, style, x := r.title, normal, "B", margin+4
		if r.title == "" {
			words, size, style, x = r.note, small+0.5, "", margin+14
		}
		t := printable(words)
		lines := s.wrap(t, size, style, inner-(x-margin)-4)
		lines = lines[:min(len(lines), 60)] // a page
		return float64(len(lines))*size*lead + 3, func() { s.lines(x, s.y, size, style, t, lines) }
	}
	type drawn struct {
		text  text
		lines []string
		style string
	}
	all := make([]drawn, len(r.cells))
	deepest := 1
	for i, c := range r.cells {
		d := drawn{text: printable(c.words)}
		if c.bold {
			d.style = "B"
		}
		d.lines = s.wrap(d.text, normal, d.style, inner*columns[i].share/whole-8)
		d.lines = d.lines[:min(len(d.lines), 50)] // a page
		deepest = max(deepest, len(d.lines))
		all[i] = d
	}
	return float64(deepest)*normal*lead + 3, func() {
		x := margin
		for i, d := range all {
			s.lines(x+4, s.y, normal, d.style, d.text, d.lines)
			x += inner * columns[i].share / whole
		}
	}
}

// rule is a thin line.
func (s *sheet) rule() {
	s.pdf.SetDrawColor(170, 170, 170)
	s.pdf.Line(margin, s.y, pageWidth-margin, s.y)
	s.pdf.SetDrawColor(0, 0, 0)
	s.y += 2
}
