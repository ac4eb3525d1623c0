package documents

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"

	"hale/internal/labs/loinc"
)

// Every PDF reader has Helvetica with the letters of Western Europe. For other
// letters a font is embedded; see fonts/README.md.
//
//go:embed fonts/DejaVuSansCondensed-letters.ttf
var lettersFont []byte

const (
	coreFont = "Helvetica"
	wideFont = "letters"
)

// wideLetters are the letters of the embedded font beyond those of the core
// fonts. A test compares it with the font.
var wideLetters = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x00a0, Hi: 0x024f, Stride: 1}, // Latin
	{Lo: 0x0259, Hi: 0x0259, Stride: 1},
	{Lo: 0x0370, Hi: 0x0373, Stride: 1}, // Greek
	{Lo: 0x0376, Hi: 0x0377, Stride: 1},
	{Lo: 0x037a, Hi: 0x037e, Stride: 1},
	{Lo: 0x0384, Hi: 0x038a, Stride: 1},
	{Lo: 0x038c, Hi: 0x038c, Stride: 1},
	{Lo: 0x038e, Hi: 0x03a1, Stride: 1},
	{Lo: 0x03a3, Hi: 0x03ff, Stride: 1},
	{Lo: 0x0400, Hi: 0x0482, Stride: 1}, // Cyrillic
	{Lo: 0x048a, Hi: 0x0525, Stride: 1},
	{Lo: 0x0531, Hi: 0x0556, Stride: 1}, // Armenian
	{Lo: 0x0561, Hi: 0x0587, Stride: 1},
	{Lo: 0x10d0, Hi: 0x10fa, Stride: 1}, // Georgian
	{Lo: 0x1e00, Hi: 0x1e9b, Stride: 1}, // Latin with two marks, as in Vietnamese
	{Lo: 0x1ea0, Hi: 0x1ef9, Stride: 1},
	{Lo: 0x2010, Hi: 0x2027, Stride: 1}, // signs
	{Lo: 0x2030, Hi: 0x203a, Stride: 1},
	{Lo: 0x2044, Hi: 0x2044, Stride: 1},
	{Lo: 0x2070, Hi: 0x2070, Stride: 1},
	{Lo: 0x2074, Hi: 0x208e, Stride: 1},
	{Lo: 0x20a0, Hi: 0x20b5, Stride: 1},
	{Lo: 0x2103, Hi: 0x2103, Stride: 1},
	{Lo: 0x2109, Hi: 0x2109, Stride: 1},
	{Lo: 0x2116, Hi: 0x2116, Stride: 1},
	{Lo: 0x2122, Hi: 0x2122, Stride: 1},
	{Lo: 0x2126, Hi: 0x2126, Stride: 1},
	{Lo: 0x2190, Hi: 0x2195, Stride: 1},
	{Lo: 0x2206, Hi: 0x2206, Stride: 1},
	{Lo: 0x2212, Hi: 0x2212, Stride: 1},
	{Lo: 0x221e, Hi: 0x221e, Stride: 1},
	{Lo: 0x2248, Hi: 0x2248, Stride: 1},
	{Lo: 0x2260, Hi: 0x2260, Stride: 1},
	{Lo: 0x2264, Hi: 0x2265, Stride: 1},
}}

// text is a text with the font that can write it.
type text struct {
	letters string
	// core means that Helvetica has all letters.
	core bool
	// coded means that some letters are written as their code.
	coded bool
}

// printableText prepares a text for printing. Control characters become spaces. A
// letter that no font has becomes its code in brackets, which cannot be
// mistaken for another letter.
func printableText(s string) text {
	if isPlainASCII(s) {
		return text{letters: s, core: true}
	}
	t := text{core: true}
	var b strings.Builder
	for _, r := range norm.NFC.String(strings.ToValidUTF8(s, "\ufffd")) {
		_, western := charmap.Windows1252.EncodeRune(r)
		switch {
		case r == '\n':
			b.WriteRune(r)
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			b.WriteByte(' ')
		case western:
			b.WriteRune(r)
		case unicode.Is(wideLetters, r):
			t.core = false
			b.WriteRune(r)
		default:
			t.coded = true
			fmt.Fprintf(&b, "[U+%04X]", r)
		}
	}
	t.letters = b.String()
	return t
}

// isPlainASCII reports that a text is ASCII without control characters, except
// line ends.
func isPlainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' || c == 0x7f {
			return false
		}
	}
	return true
}

// encode encodes a part of the text for its font.
func (t text) encode(part string) string {
	if !t.core || isPlainASCII(part) {
		return part
	}
	out := make([]byte, 0, len(part))
	for _, r := range part {
		b, _ := charmap.Windows1252.EncodeRune(r) // core texts have no others
		out = append(out, b)
	}
	return string(out)
}

// Units are printed as people write them: mIU/L, not m[IU]/L, and 10³/µL, not
// 10*3/uL.

var (
	powerOfTen   = regexp.MustCompile(`(?i)^(?:x ?)?10(?:E|\*|\^)(\d+)`)
	microUnit    = regexp.MustCompile(`(^|[/ ])[uμ](g|L|l|mol|IU|U|m|Eq|kat)\b`)
	raisedDigits = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
	exponents    = strings.NewReplacer("m2", "m²", "mm3", "mm³", "cm3", "cm³")
)

// printedUnit returns a unit as people write it.
func printedUnit(unit string) string {
	unit = loinc.PrintedUnit(strings.TrimSpace(unit))
	unit = powerOfTen.ReplaceAllStringFunc(unit, func(power string) string {
		return "10" + raisedDigits.Replace(powerOfTen.FindStringSubmatch(power)[1])
	})
	unit = microUnit.ReplaceAllString(unit, "${1}µ${2}")
	return strings.Replace(exponents.Replace(unit), "1.73m²", "1.73 m²", 1)
}
