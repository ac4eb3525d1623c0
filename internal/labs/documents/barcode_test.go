package documents

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/datamatrix"
	"github.com/boombuler/barcode/pdf417"
	"pgregory.net/rapid"
)

// code128Widths are the widths of bars and gaps of the symbols 0 to 105 of ISO/IEC
// 15417, and of the stop.
var code128Widths = strings.Fields(`212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231
	113222 123122 123221 223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321 232121 111323
	131123 131321 112313 132113 132311 211313 231113 231311 112133 112331 132131 113123 113321 133121 313121 211331 231131 213113 213311
	213131 311123 311321 331121 312113 312311 332111 314111 221411 431111 111224 111422 121124 121421 141122 141221 112214 112412 122114
	122411 142112 142211 241211 221114 413111 241112 134111 111242 121142 121241 114212 124112 124211 411212 421112 421211 212141 214121
	412121 111143 111341 131141 114113 114311 411113 411311 113141 114131 311141 411131 211412 211214 211232 2331112`)

// scan128 reads Code 128 from rectangles of a page, as a scanner does: by the
// widths of bars and gaps alone.
func scan128(t testing.TB, page leaf) string {
	t.Helper()
	for _, line := range linesOf(page) {
		if text, ok := decode128(line); ok {
			return text
		}
	}
	t.Fatal("no Code 128 on the page")
	return ""
}

// linesOf groups the rectangles of a page by their line, from left to right.
func linesOf(page leaf) map[[2]float64][]rect {
	lines := map[[2]float64][]rect{}
	for _, r := range page.rects {
		key := [2]float64{r.y, r.h}
		lines[key] = append(lines[key], r)
	}
	for _, line := range lines {
		slices.SortFunc(line, func(a, b rect) int { return int(a.x*1000) - int(b.x*1000) })
	}
	return lines
}

func decode128(line []rect) (string, bool) {
	if len(line) < 10 {
		return "", false
	}
	module := math.Inf(1)
	for _, r := range line {
		module = min(module, r.w)
	}
	var widths strings.Builder
	for i, r := range line {
		if i > 0 {
			widths.WriteByte('0' + byte(math.Round((r.x-line[i-1].x-line[i-1].w)/module)))
		}
		widths.WriteByte('0' + byte(math.Round(r.w/module)))
	}
	all := widths.String()
	var symbols []int
	for len(all) >= 7 {
		if all == code128Widths[106] {
			return text128(symbols)
		}
		at := slices.Index(code128Widths, all[:6])
		if at < 0 {
			return "", false
		}
		symbols, all = append(symbols, at), all[6:]
	}
	return "", false
}

func text128(symbols []int) (string, bool) {
	if len(symbols) < 3 {
		return "", false
	}
	check := symbols[0]
	for i, s := range symbols[1 : len(symbols)-1] {
		check += (i + 1) * s
	}
	if check%103 != symbols[len(symbols)-1] {
		return "", false
	}
	set := symbols[0] - 103 // 0 is A, 1 is B, 2 is C
	var text strings.Builder
	for _, s := range symbols[1 : len(symbols)-1] {
		switch {
		case set == 2 && s < 100:
			text.WriteString(string([]byte{'0' + byte(s/10), '0' + byte(s%10)}))
		case s == 99:
			set = 2
		case s == 100:
			set = 1
		case s == 101:
			set = 0
		case s < 64 || set == 1 && s < 96:
			text.WriteByte(byte(s) + ' ')
		default:
			return "", false
		}
	}
	return text.String(), true
}

func drawing(draw func(s *pdfDocument)) []byte {
	s := newDocument("Test", fpdf.SizeType{Wd: pageWidth, Ht: pageHeight}, time.Unix(0, 0))
	s.addPage()
	draw(s)
	body, err := s.output()
	if err != nil {
		panic(err)
	}
	return body
}

func TestCode128(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringMatching(`[A-Z0-9 -]{4,20}`).Draw(r, "text")
		pages := read(t, drawing(func(s *pdfDocument) {
			if !s.drawCode128(text, margin, 100, innerWidth, 30) {
				r.Fatalf("%q was not drawn", text)
			}
		}))
		if got := scan128(t, pages[0]); got != text {
			r.Fatalf("%q reads %q", text, got)
		}
	})
}

// Bars have quiet zones and are wide enough for a scanner; otherwise the code
// becomes a Data Matrix.
func TestLongTextBecomesDataMatrix(t *testing.T) {
	long := strings.Repeat("AB12-", 12)
	pages := read(t, drawing(func(s *pdfDocument) {
		if !s.drawCode128(long, 10, 100, 160, 40) {
			t.Error("not drawn")
		}
	}))
	wantInside(t, pages)
	code, err := datamatrix.Encode(long)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := grid(pages[0].rects, code.Bounds().Dx(), code.Bounds().Dy()), modulesOf(code); got != want {
		t.Errorf("the modules are\n%s\nwant\n%s", got, want)
	}
	for _, text := range []string{"", "Zürich", "a\x00b"} {
		drawing(func(s *pdfDocument) {
			if s.drawCode128(text, 10, 100, 160, 40) {
				t.Errorf("%q was drawn", text)
			}
		})
	}
}

func TestPDF417(t *testing.T) {
	text := "HALE1|S-123|019f0000-0000-7000-8000-000000000000|12345|70002,70010"
	height := 0.0
	pages := read(t, drawing(func(s *pdfDocument) {
		var err error
		if height, err = s.drawPDF417(text, margin, 100, innerWidth); err != nil {
			t.Error(err)
		}
	}))
	code, err := pdf417.Encode(text, 4)
	if err != nil {
		t.Fatal(err)
	}
	size := code.Bounds().Size()
	got := grid(pages[0].rects, size.X, size.Y)
	if got != modulesOf(code) {
		t.Errorf("the modules are\n%s", got)
	}
	for line := range strings.Lines(got) { // ISO/IEC 15438: start 81111113, stop 711311121
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "########.#.#.#...") || !strings.HasSuffix(line, "#######.#...#.#..#") {
			t.Errorf("a row begins or ends wrong: %s", line)
		}
	}
	if top := pageHeight - 100 - height; math.Abs(top-lowestEdge(pages[0].rects)) > 0.05 {
		t.Errorf("the code ends at %.2f, not %.2f", lowestEdge(pages[0].rects), top)
	}
	if _, err := new(pdfDocument).drawPDF417(strings.Repeat("x", 3000), 0, 0, 100); err == nil {
		t.Error("3,000 characters fit")
	}
}

func lowestEdge(all []rect) float64 {
	low := math.Inf(1)
	for _, r := range all {
		low = min(low, r.y)
	}
	return low
}

// grid samples rectangles in the middle of each module of a grid of columns and
// rows over all of them.
func grid(all []rect, columns, rows int) string {
	left, right, top := math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, r := range all {
		left, right, top = min(left, r.x), max(right, r.x+r.w), max(top, r.y+r.h)
	}
	w, h := (right-left)/float64(columns), (top-lowestEdge(all))/float64(rows)
	var out strings.Builder
	for y := range rows {
		line := []byte(strings.Repeat(".", columns))
		for x := range columns {
			px, py := left+(float64(x)+0.5)*w, top-(float64(y)+0.5)*h
			for _, r := range all {
				if px > r.x && px < r.x+r.w && py > r.y && py < r.y+r.h {
					line[x] = '#'
				}
			}
		}
		out.Write(append(line, '\n'))
	}
	return out.String()
}

// modulesOf returns the modules of a code as the encoder has them.
func modulesOf(code barcode.Barcode) string {
	var out strings.Builder
	for y := range code.Bounds().Dy() {
		out.WriteString(modules(code, y) + "\n")
	}
	return out.String()
}
