package documents

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
)

// The measures of a page, in points of 1/72 inch. Letter is 612 by 792.
const (
	margin     = 40.0
	pageWidth  = 612.0
	pageHeight = 792.0
	inner      = pageWidth - 2*margin
	bottom     = pageHeight - margin - 16 // above the footer
)

// sheet is a document in the making. y is where the next block begins, in
// points from the upper edge of the page.
type sheet struct {
	pdf   *fpdf.Fpdf
	y     float64
	wide  bool // the embedded font is in
	coded bool // some letters stand as codes
	// again is drawn on top of every page but the first, and moves y.
	again func()
}

// newSheet begins a document of letter pages. title is a kind of document, and
// foot stands at the bottom of every page; neither may name a person. made is
// the date in the file.
func newSheet(title, foot string, made time.Time) *sheet {
	s := blank(title, fpdf.SizeType{Wd: pageWidth, Ht: pageHeight}, made)
	s.pdf.SetFooterFunc(func() {
		s.pdf.SetTextColor(90, 90, 90)
		s.put(margin, pageHeight-margin+8, 7, "", printable(foot))
		if s.coded {
			s.put(margin, pageHeight-margin+17, 7, "", printable("[U+...] stands for a letter that cannot be printed here: its Unicode code."))
		}
		s.pdf.SetFont(core, "", 7)
		s.pdf.SetXY(pageWidth-margin-120, pageHeight-margin)
		s.pdf.CellFormat(120, 10, fmt.Sprintf("Page %d of {nb}", s.pdf.PageNo()), "", 0, "R", false, 0, "")
		s.pdf.SetTextColor(0, 0, 0)
	})
	s.next()
	return s
}

// blank begins a document of pages of a size, without a page.
func blank(title string, size fpdf.SizeType, made time.Time) *sheet {
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
	return &sheet{pdf: pdf}
}

// next begins a page.
func (s *sheet) next() {
	s.pdf.AddPage()
	s.y = margin
	if s.again != nil && s.pdf.PageNo() > 1 {
		s.again()
	}
}

// room begins a page when a block of a height does not fit on this one.
func (s *sheet) room(height float64) {
	if s.y+height > bottom {
		s.next()
	}
}

// use sets the font of a text. style is B for bold, which the embedded font
// has not.
func (s *sheet) use(t text, style string, size float64) {
	if t.coded {
		s.coded = true
	}
	if t.core {
		s.pdf.SetFont(core, style, size)
		return
	}
	if !s.wide {
		s.pdf.AddUTF8FontFromBytes(wide, "", lettersFont)
		s.wide = true
	}
	s.pdf.SetFont(wide, "", size)
}

// put writes a text in one line, its baseline at y.
func (s *sheet) put(x, y, size float64, style string, t text) {
	s.use(t, style, size)
	s.pdf.Text(x, y, t.encode(t.letters))
}

// width of a text in one line.
func (s *sheet) width(size float64, style string, t text) float64 {
	s.use(t, style, size)
	return s.pdf.GetStringWidth(t.encode(t.letters))
}

// wrap breaks a text into lines of a width, at blanks where it can and within
// words where it must. There is always a line.
func (s *sheet) wrap(t text, size float64, style string, width float64) []string {
	s.use(t, style, size)
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
				head := fitting(word, width, measure)
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

// fitting is how many bytes of a word fit, at least those of one letter.
func fitting(word string, width float64, measure func(string) float64) int {
	used := 0.0
	for i, r := range word {
		used += measure(string(r))
		if used > width && i > 0 {
			return i
		}
	}
	return len(word)
}

// bytes ends the document.
func (s *sheet) bytes() ([]byte, error) {
	var out bytes.Buffer
	if err := s.pdf.Output(&out); err != nil {
		return nil, fmt.Errorf("documents: writing: %w", err)
	}
	return out.Bytes(), nil
}
