package documents

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"codeberg.org/go-pdf/fpdf"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"golang.org/x/text/encoding/charmap"
)

// pageText is a text on a page, in points from the lower left corner.
type pageText struct {
	x, y, size float64
	text       string
}

// rect is a filled rectangle on a page.
type rect struct{ x, y, w, h float64 }

// leaf is a parsed page.
type leaf struct {
	width, height float64
	texts         []pageText
	rects         []rect
}

// text returns all text of the page, one line for each line of the page.
func (l leaf) text() string {
	lines := map[int][]pageText{}
	for _, w := range l.texts {
		lines[int(w.y*10)] = append(lines[int(w.y*10)], w)
	}
	var out strings.Builder
	heights := make([]int, 0, len(lines))
	for y := range lines {
		heights = append(heights, y)
	}
	slices.Sort(heights)
	slices.Reverse(heights)
	for _, y := range heights {
		slices.SortStableFunc(lines[y], func(a, b pageText) int { return int(a.x*100) - int(b.x*100) })
		for i, w := range lines[y] {
			if i > 0 {
				out.WriteString(" | ")
			}
			out.WriteString(w.text)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// read validates a document by the strict rules and parses its pages.
func read(t testing.TB, body []byte) []leaf {
	t.Helper()
	api.DisableConfigDir() // otherwise the library writes into the home folder
	conf := model.NewDefaultConfiguration()
	conf.ValidationMode = model.ValidationStrict
	if err := api.Validate(bytes.NewReader(body), conf); err != nil {
		t.Fatalf("not a valid PDF: %v", err)
	}
	ctx, err := api.ReadContext(bytes.NewReader(body), conf)
	if err != nil {
		t.Fatal(err)
	}
	if err := api.ValidateContext(ctx); err != nil {
		t.Fatal(err)
	}
	dims, err := ctx.PageDims()
	if err != nil {
		t.Fatal(err)
	}
	var pages []leaf
	for n := 1; n <= ctx.PageCount; n++ {
		content, err := pdfcpu.ExtractPageContent(ctx, n)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		page := parse(t, string(text), wideFonts(t, ctx, n))
		page.width, page.height = dims[n-1].Width, dims[n-1].Height
		pages = append(pages, page)
	}
	return pages
}

// wideFonts returns the names of the fonts of page n. The value is true if texts in the
// font are UTF-16.
func wideFonts(t testing.TB, ctx *model.Context, n int) map[string]bool {
	t.Helper()
	_, _, inherited, err := ctx.PageDict(n, false)
	if err != nil {
		t.Fatal(err)
	}
	fonts, err := ctx.DereferenceDict(inherited.Resources["Font"])
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for name, at := range fonts {
		font, err := ctx.DereferenceDict(at)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = font.Subtype() != nil && *font.Subtype() == "Type0"
	}
	return all
}

var (
	fontOp = regexp.MustCompile(`/(\S+) ([\d.]+) Tf`)
	textOp = regexp.MustCompile(`(?s)(-?[\d.]+) (-?[\d.]+) Td \(((?:[^()\\]|\\.)*)\) ?Tj`)
	rectOp = regexp.MustCompile(`(-?[\d.]+) (-?[\d.]+) (-?[\d.]+) (-?[\d.]+) re f\b`)
	op     = regexp.MustCompile(fontOp.String() + "|" + textOp.String() + "|" + rectOp.String())
)

func parse(t testing.TB, content string, utf map[string]bool) leaf {
	t.Helper()
	var page leaf
	font, size := "", 0.0
	for _, part := range op.FindAllString(content, -1) {
		if m := textOp.FindStringSubmatch(part); m != nil {
			page.texts = append(page.texts, pageText{decimal(t, m[1]), decimal(t, m[2]), size, decode(m[3], utf[font])})
		} else if m := rectOp.FindStringSubmatch(part); m != nil {
			r := rect{decimal(t, m[1]), decimal(t, m[2]), decimal(t, m[3]), decimal(t, m[4])}
			if r.h < 0 {
				r.y, r.h = r.y+r.h, -r.h
			}
			page.rects = append(page.rects, r)
		} else if m := fontOp.FindStringSubmatch(part); m != nil {
			font, size = m[1], decimal(t, m[2])
		}
	}
	return page
}

func decimal(t testing.TB, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// decode reads a string of a content stream.
func decode(s string, wide bool) string {
	plain := regexp.MustCompile(`(?s)\\(.)`).ReplaceAllStringFunc(s, func(m string) string {
		if m[1] == 'r' {
			return "\r"
		}
		return m[1:]
	})
	if wide {
		var units []uint16
		for i := 0; i+1 < len(plain); i += 2 {
			units = append(units, uint16(plain[i])<<8|uint16(plain[i+1]))
		}
		return string(utf16.Decode(units))
	}
	text, err := charmap.Windows1252.NewDecoder().String(plain)
	if err != nil {
		return fmt.Sprintf("<%v>", err)
	}
	return text
}

// allText returns the text of all pages.
func allText(pages []leaf) string {
	var all strings.Builder
	for i, p := range pages {
		fmt.Fprintf(&all, "--- page %d\n%s", i+1, p.text())
	}
	return all.String()
}

// wantTexts fails for each text that a document lacks.
func wantTexts(t *testing.T, pages []leaf, texts ...string) {
	t.Helper()
	said := allText(pages)
	for _, text := range texts {
		if !strings.Contains(said, text) {
			t.Errorf("the document does not say %q:\n%s", text, said)
		}
	}
}

// overlapping returns pairs of texts of a page that overlap: one starts before the text
// to its left ends.
func (l leaf) overlapping() (pairs []string) {
	ruler := newDocument("", fpdf.SizeType{Wd: l.width, Ht: l.height}, time.Time{})
	for i, a := range l.texts {
		right := a.x + ruler.textWidth(a.size, "", printableText(a.text))
		for j, b := range l.texts {
			if i != j && b.x >= a.x && (b.x > a.x || j > i) && b.x < right-0.5 && math.Abs(a.y-b.y) < 0.7*min(a.size, b.size) && strings.TrimSpace(a.text) != "" && strings.TrimSpace(b.text) != "" {
				pairs = append(pairs, a.text+" | "+b.text)
			}
		}
	}
	return pairs
}

// wantInside fails when a text or rectangle is outside of its page, a text ends
// outside of it, or two texts overlap.
func wantInside(t *testing.T, pages []leaf) {
	t.Helper()
	for n, p := range pages {
		if pairs := p.overlapping(); pairs != nil {
			t.Errorf("page %d: texts overlap: %q", n+1, pairs)
		}
		ruler := newDocument("", fpdf.SizeType{Wd: p.width, Ht: p.height}, time.Time{})
		for _, w := range p.texts {
			if right := w.x + ruler.textWidth(w.size, "", printableText(w.text)); right > p.width {
				t.Errorf("page %d: %q ends at %.0f of %.0f", n+1, w.text, right, p.width)
			}
		}
		for _, w := range p.texts {
			if w.x < 0 || w.x > p.width || w.y < 0 || w.y > p.height {
				t.Errorf("page %d: %q is at %.0f, %.0f", n+1, w.text, w.x, w.y)
			}
		}
		for _, r := range p.rects {
			if r.x < 0 || r.x+r.w > p.width+0.1 || r.y < 0 || r.y+r.h > p.height+0.1 {
				t.Errorf("page %d: a rectangle reaches %v of %.0f by %.0f", n+1, r, p.width, p.height)
			}
		}
	}
}
