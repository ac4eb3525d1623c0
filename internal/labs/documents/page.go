package documents

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
)

// The size of a page, in points of 1/72 inch. Letter is 612 by 792.
const (
	margin     = 40.0
	pageWidth  = 612.0
	pageHeight = 792.0
	innerWidth = pageWidth - 2*margin
	bottom     = pageHeight - margin - 28 // above the footer
)

// pdfDocument is a document that is being written. y is the position of the
// next block, in points from the upper edge of the page.
type pdfDocument struct {
	pdf   *fpdf.Fpdf
	y     float64
	wide  bool // the embedded font is loaded
	coded bool // some letters are written as codes
	frame pageFrame
}

// pageFrame holds the texts that every page repeats, so that a page that is
// separated from the others still says where it belongs.
//
// 42 CFR 493.1291(c), 493.1241(c).
type pageFrame struct {
	// banner is at the top of every page: that the order is cancelled.
	banner string
	// title and lines are at the top of every page but the first, which has them
	// in more detail: the patient, the times, the specimen.
	title string
	lines []string
	// laboratory and foot are at the bottom of every page. foot must not name a
	// person.
	laboratory, foot string
}

// newLetterDocument begins a document of letter pages. title is a kind of
// document and must not name a person. made is the date in the file.
func newLetterDocument(title string, frame pageFrame, made time.Time) *pdfDocument {
	s := newDocument(title, fpdf.SizeType{Wd: pageWidth, Ht: pageHeight}, made)
	s.frame = frame
	s.pdf.SetFooterFunc(func() {
		s.pdf.SetTextColor(90, 90, 90)
		s.drawLaboratory()
		s.writeLine(margin, pageHeight-margin+8, 7, "", printableText(s.frame.foot))
		if s.coded {
			s.writeLine(margin, pageHeight-margin+17, 7, "", printableText("[U+...] is the Unicode code of a letter that this document cannot print."))
		}
		s.pdf.SetFont(coreFont, "", 7)
		s.pdf.SetXY(pageWidth-margin-120, pageHeight-margin)
		s.pdf.CellFormat(120, 10, fmt.Sprintf("Page %d of {nb}", s.pdf.PageNo()), "", 0, "R", false, 0, "")
		s.pdf.SetTextColor(0, 0, 0)
	})
	s.addPage()
	return s
}

// newDocument begins a document of pages of a size, without a page.
func newDocument(title string, size fpdf.SizeType, made time.Time) *pdfDocument {
	pdf := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: size})
	pdf.SetCatalogSort(true) // the same order every time
	pdf.SetCreationDate(made.UTC())
	pdf.SetModificationDate(made.UTC())
	pdf.SetProducer("Hale", false)
	pdf.SetTitle(title, false)
	pdf.SetLang("en-US")
	pdf.SetMargins(margin, margin, margin)
	pdf.SetAutoPageBreak(false, 0)
	pdf.AliasNbPages("{nb}")
	return &pdfDocument{pdf: pdf}
}

// addPage begins a page.
func (s *pdfDocument) addPage() {
	s.pdf.AddPage()
	s.y = margin
	s.drawBanner()
	if s.frame.title != "" && s.pdf.PageNo() > 1 {
		s.drawHeader()
	}
}

// drawHeader draws the top of a page after the first.
func (s *pdfDocument) drawHeader() {
	const size = 7.5
	t := printableText(s.frame.title)
	t.letters = s.cut(t, normalSize, "B", innerWidth)
	s.writeLine(margin, s.y+8, normalSize, "B", t)
	s.y += 12
	for _, words := range s.frame.lines {
		t := printableText(words)
		lines := s.wrap(t, size, "", innerWidth)
		lines = lines[:min(len(lines), 3)]
		s.lines(margin, s.y, size, "", t, lines)
		s.y += float64(len(lines)) * size * lineHeight
	}
	s.y += 3
	s.rule()
	s.y += 4
}

// drawLaboratory draws the laboratory at the bottom of a page, in two lines at
// most.
func (s *pdfDocument) drawLaboratory() {
	if s.frame.laboratory == "" {
		return
	}
	const size = 7.0
	t := printableText(s.frame.laboratory)
	lines := s.wrap(t, size, "", innerWidth)
	lines = lines[:min(len(lines), 2)]
	s.lines(margin, pageHeight-margin-1-float64(len(lines))*size*lineHeight, size, "", t, lines)
}

// drawBanner draws the banner in white on black, which survives a fax.
func (s *pdfDocument) drawBanner() {
	if s.frame.banner == "" {
		return
	}
	const height, size = 20.0, 11.0
	t := printableText(s.frame.banner)
	s.pdf.SetFillColor(0, 0, 0)
	s.pdf.Rect(margin, margin-height-4, innerWidth, height, "F")
	s.pdf.SetTextColor(255, 255, 255)
	s.writeLine(margin+(innerWidth-s.textWidth(size, "B", t))/2, margin-10, size, "B", t)
	s.pdf.SetTextColor(0, 0, 0)
}

// ensureRoom begins a page when a block of a height does not fit on the
// current one.
func (s *pdfDocument) ensureRoom(height float64) {
	if s.y+height > bottom {
		s.addPage()
	}
}

// setFont sets the font of a text. style is B for bold, which the embedded
// font lacks.
func (s *pdfDocument) setFont(t text, style string, size float64) {
	if t.coded {
		s.coded = true
	}
	if t.core {
		s.pdf.SetFont(coreFont, style, size)
		return
	}
	if !s.wide {
		s.pdf.AddUTF8FontFromBytes(wideFont, "", lettersFont)
		s.wide = true
	}
	s.pdf.SetFont(wideFont, "", size)
}

// writeLine writes a text in one line, with its baseline at y.
func (s *pdfDocument) writeLine(x, y, size float64, style string, t text) {
	s.setFont(t, style, size)
	s.pdf.Text(x, y, t.encode(t.letters))
}

// textWidth returns the width of a text in one line.
func (s *pdfDocument) textWidth(size float64, style string, t text) float64 {
	s.setFont(t, style, size)
	return s.pdf.GetStringWidth(t.encode(t.letters))
}

// wrap breaks a text into lines of a width, at spaces where possible and
// within words where necessary. It returns at least one line.
func (s *pdfDocument) wrap(t text, size float64, style string, width float64) []string {
	s.setFont(t, style, size)
	measure := func(part string) float64 { return s.pdf.GetStringWidth(t.encode(part)) }
	blank := measure(" ")
	var lines []string
	for paragraph := range strings.SplitSeq(t.letters, "\n") {
		line, used := "", 0.0
		for word := range strings.FieldsSeq(paragraph) {
			w := measure(word)
			if line != "" && used+blank+w <= width {
				line, used = line+" "+word, used+blank+w
				continue
			}
			if line != "" {
				lines = append(lines, line)
			}
			for w > width {
				head := fittingBytes(word, width, measure)
				lines = append(lines, word[:head])
				word = word[head:]
				w = measure(word)
			}
			line, used = word, w
		}
		lines = append(lines, line)
	}
	return lines
}

// fittingBytes returns the number of bytes of a word that fit, at least one
// letter. It prefers to break after a slash or a hyphen, as in units.
func fittingBytes(word string, width float64, measure func(string) float64) int {
	used := 0.0
	for i, r := range word {
		used += measure(string(r))
		if used > width && i > 0 {
			if at := strings.LastIndexAny(word[:i], "/-") + 1; at > 1 {
				return at
			}
			return i
		}
	}
	return len(word)
}

// output returns the finished document.
func (s *pdfDocument) output() ([]byte, error) {
	var out bytes.Buffer
	if err := s.pdf.Output(&out); err != nil {
		return nil, fmt.Errorf("documents: writing: %w", err)
	}
	return out.Bytes(), nil
}

// Blocks of a page: headings, fields, tables, paragraphs. Each begins at y and
// moves y below itself.

const (
	smallSize  = 7.0
	normalSize = 9.0
	lineHeight = 1.25 // line height by type size
)

// heading draws a grey bar with a title.
func (s *pdfDocument) heading(words string) {
	s.ensureRoom(60) // with the first lines below it
	s.y += 6
	s.pdf.SetFillColor(228, 232, 236)
	s.pdf.Rect(margin, s.y, innerWidth, 14, "F")
	s.writeLine(margin+4, s.y+10, normalSize, "B", printableText(words))
	s.y += 18
}

// field is a label with a value.
type field struct{ label, value string }

// fields draws fields in columns of equal width. A field without a value shows
// a dash, so that readers see that it is unknown and not forgotten.
func (s *pdfDocument) fields(columns int, all ...field) {
	width := innerWidth / float64(columns)
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
			texts[i] = printableText(f.value)
			sizes[i] = s.fitWords(texts[i], width-8)
			lines[i] = s.wrap(texts[i], sizes[i], "", width-8)
			deepest = max(deepest, len(lines[i]))
		}
		height := smallSize*lineHeight + float64(deepest)*normalSize*lineHeight + 4
		s.ensureRoom(height)
		for i, f := range row {
			x := margin + float64(i)*width + 4
			s.pdf.SetTextColor(90, 90, 90)
			s.writeLine(x, s.y+smallSize, smallSize, "", printableText(f.label))
			s.pdf.SetTextColor(0, 0, 0)
			s.lines(x, s.y+smallSize*lineHeight, sizes[i], "", texts[i], lines[i])
		}
		s.y += height
	}
}

// fitWords returns the size at which no word of a text, such as an id, is
// wider than its column, or the smallest size.
func (s *pdfDocument) fitWords(t text, width float64) float64 {
	size := normalSize
	for word := range strings.FieldsSeq(t.letters) {
		for size > smallSize && s.textWidth(size, "", text{letters: word, core: t.core}) > width {
			size -= 0.5
		}
	}
	return size
}

// lines writes wrapped lines of a text, the first below y.
func (s *pdfDocument) lines(x, y, size float64, style string, t text, lines []string) {
	s.setFont(t, style, size)
	for i, line := range lines {
		s.pdf.Text(x, y+float64(i)*size*lineHeight+size, t.encode(line))
	}
}

// paragraph writes running text over the whole width, over several pages if
// necessary.
func (s *pdfDocument) paragraph(words string, size float64, style string) {
	s.indent(words, size, style, 0)
}

func (s *pdfDocument) indent(words string, size float64, style string, indent float64) {
	t := printableText(words)
	for _, line := range s.wrap(t, size, style, innerWidth-8-indent) {
		s.ensureRoom(size * lineHeight)
		s.lines(margin+4+indent, s.y, size, style, t, []string{line})
		s.y += size * lineHeight
	}
	s.y += 3
}

// point writes a paragraph with a mark before it, such as a number.
func (s *pdfDocument) point(mark, words string) {
	s.ensureRoom(2 * normalSize * lineHeight)
	s.writeLine(margin+4, s.y+normalSize, normalSize, "B", printableText(mark))
	s.indent(words, normalSize, "", 18)
}

// box draws a check box with a text.
func (s *pdfDocument) box(words string) {
	s.ensureRoom(2 * normalSize * lineHeight)
	s.pdf.Rect(margin+4, s.y+1.5, 8, 8, "D")
	s.indent(words, normalSize, "", 18)
}

// blanks draws lines to write on, side by side.
func (s *pdfDocument) blanks(labels ...string) {
	s.ensureRoom(40)
	width := innerWidth / float64(len(labels))
	for i, label := range labels {
		x := margin + float64(i)*width + 4
		s.pdf.Line(x, s.y+24, x+width-16, s.y+24)
		s.writeLine(x, s.y+24+smallSize+2, smallSize, "", printableText(label))
	}
	s.y += 40
}

// column is a column of a table. Its width is a share of the whole.
type column struct {
	title string
	share float64
}

// cell is a cell of a table.
type cell struct {
	words string
	bold  bool
}

// row is a row of a table: cells, or one text over all columns.
type row struct {
	cells []cell
	// title is a bold line over all columns; note is a line in small type.
	title, note string
}

// table draws rows under titles, which are repeated on every page.
func (s *pdfDocument) table(columns []column, rows []row) {
	whole := 0.0
	for _, c := range columns {
		whole += c.share
	}
	head := func() {
		x := margin
		s.pdf.SetTextColor(90, 90, 90)
		for _, c := range columns {
			s.writeLine(x+4, s.y+smallSize+1, smallSize, "B", printableText(c.title))
			x += innerWidth * c.share / whole
		}
		s.pdf.SetTextColor(0, 0, 0)
		s.y += smallSize + 5
		s.rule()
	}
	s.ensureRoom(40)
	head()
	for _, r := range rows {
		height, draw := s.tableRow(columns, whole, r)
		if s.y+height > bottom {
			s.addPage()
			head()
		}
		draw()
		s.y += height
	}
	s.y += 4
}

// tableRow measures a row and returns the function that draws it at y.
func (s *pdfDocument) tableRow(columns []column, whole float64, r row) (height float64, draw func()) {
	if r.cells == nil {
		words, size, style, x := r.title, normalSize, "B", margin+4
		if r.title == "" {
			words, size, style, x = r.note, smallSize+0.5, "", margin+14
		}
		t := printableText(words)
		lines := s.wrap(t, size, style, innerWidth-(x-margin)-4)
		lines = lines[:min(len(lines), 60)] // a page
		return float64(len(lines))*size*lineHeight + 3, func() { s.lines(x, s.y, size, style, t, lines) }
	}
	type drawn struct {
		text  text
		lines []string
		style string
	}
	all := make([]drawn, len(r.cells))
	deepest := 1
	for i, c := range r.cells {
		d := drawn{text: printableText(c.words)}
		if c.bold {
			d.style = "B"
		}
		d.lines = s.wrap(d.text, normalSize, d.style, innerWidth*columns[i].share/whole-8)
		d.lines = d.lines[:min(len(d.lines), 50)] // a page
		deepest = max(deepest, len(d.lines))
		all[i] = d
	}
	return float64(deepest)*normalSize*lineHeight + 3, func() {
		x := margin
		for i, d := range all {
			s.lines(x+4, s.y, normalSize, d.style, d.text, d.lines)
			x += innerWidth * columns[i].share / whole
		}
	}
}

// rule draws a thin line.
func (s *pdfDocument) rule() {
	s.pdf.SetDrawColor(170, 170, 170)
	s.pdf.Line(margin, s.y, pageWidth-margin, s.y)
	s.pdf.SetDrawColor(0, 0, 0)
	s.y += 2
}
