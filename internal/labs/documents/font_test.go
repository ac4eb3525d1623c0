package documents

import (
	"testing"

	"codeberg.org/go-pdf/fpdf"
)

// fontGlyphs returns the letters of the embedded font.
func fontGlyphs(t *testing.T) map[rune]bool {
	t.Helper()
	font, err := fpdf.TtfParse("fonts/DejaVuSansCondensed-letters.ttf")
	if err != nil {
		t.Fatal(err)
	}
	if !font.Embeddable {
		t.Error("the font may not be embedded")
	}
	all := map[rune]bool{}
	for letter, glyph := range font.Chars {
		all[rune(letter)] = glyph != 0
	}
	return all
}
