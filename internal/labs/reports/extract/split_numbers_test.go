package extract

import (
	"slices"
	"testing"
)

// withSmall adds a word of another size directly behind the last word that has a text.
func withSmall(p *Page, behind, small string, size, raise float64) {
	for i := len(p.Words) - 1; i >= 0; i-- {
		if w := p.Words[i]; w.Text == behind {
			h := w.Box.Height
			p.Words = append(p.Words, Word{Text: small, Confidence: 1, Box: Box{
				X: w.Box.X + w.Box.Width, Y: w.Box.Y + 0.78*h - (0.78*size+raise)*h, Width: float64(len(small)) * 5 * size, Height: size * h,
			}})
			return
		}
	}
}

// Decimals of another size, or raised or lowered ones, belong to their number.
func TestDecimalsInAnotherFont(t *testing.T) {
	for _, c := range []struct {
		small       string
		size, raise float64
		want        string
	}{
		{".9", 0.75, 0, "5.9"},
		{".9", 0.5, 0, "5.9"},
		{".9", 0.66, 0.35, "5.9"},
		{".31", 0.75, -0.15, "5.31"},
		{",21", 0.75, 0, "5,21"},
		{".9", 1.3, 0, "5.9"},
	} {
		p := printedPage(FromText, append(slices.Clone(head),
			"Potassium                  5                  3.5-5.1             mmol/L    ",
			"Sodium                     141                135-145             mmol/L    ")...)
		withSmall(&p, "5", c.small, c.size, c.raise)
		result, err := Read(Document{Pages: []Page{p}})
		if err != nil {
			t.Fatal(err)
		}
		if row := find(t, result, "Potassium"); row.Value != c.want || row.Interpretation != "abnormal" || row.NeedsReview {
			t.Errorf("%+v: the value is %q, %s, %v", c, row.Value, row.Interpretation, row.Reasons)
		}
	}
}

// A small digit on the line of a number can be a mark or a digit. A raised one is a mark.
func TestSmallDigitBehindNumber(t *testing.T) {
	for _, c := range []struct {
		raise     float64
		uncertain bool
	}{{0, true}, {0.4, false}} {
		p := printedPage(FromText, append(slices.Clone(head),
			"Potassium                  4.9                3.5-5.1             mmol/L    ",
			"Sodium                     131                135-145             mmol/L    ")...)
		withSmall(&p, "131", "1", 0.7, c.raise)
		result, err := Read(Document{Pages: []Page{p}})
		if err != nil {
			t.Fatal(err)
		}
		row := find(t, result, "Sodium")
		if got := slices.Contains(row.Reasons, NumberUncertain); got != c.uncertain || row.Value != "131" || (row.Number == nil) != c.uncertain {
			t.Errorf("raised by %v: %q, %v", c.raise, row.Value, row.Reasons)
		}
	}
	row := find(t, read(t, FromText, "Calcium                    2 .31              2.20-2.60           mmol/L    "), "Calcium")
	if row.Number != nil || !slices.Contains(row.Reasons, NumberUncertain) {
		t.Errorf("%+v", row)
	}
}
