package users

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// A text lies between a prefix and what comes after it exactly when it starts
// with the prefix.
func TestAfterPrefix(t *testing.T) {
	letters := rapid.SampledFrom([]rune{'a', 'b', 'z', 0x7f, 0x80, 'é', 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFE, 0x10FFFF})
	rapid.Check(t, func(t *rapid.T) {
		prefix := string(rapid.SliceOfN(letters, 1, 4).Draw(t, "prefix"))
		text := string(rapid.SliceOfN(letters, 0, 6).Draw(t, "text"))
		if rapid.Bool().Draw(t, "extend") {
			text = prefix + text
		}
		after := afterPrefix(prefix)
		if !utf8.ValidString(after) {
			t.Fatalf("%q is no text", after)
		}
		if inside := text >= prefix && text < after; inside != strings.HasPrefix(text, prefix) {
			t.Fatalf("prefix %q, after %q, text %q: inside %v", prefix, after, text, inside)
		}
	})
}

func TestIDRange(t *testing.T) {
	for _, c := range []struct {
		prefix      string
		first, last string
	}{
		{"01", "01000000-0000-0000-0000-000000000000", "01ffffff-ffff-ffff-ffff-ffffffffffff"},
		{"0190abCD-1", "0190abcd-1000-0000-0000-000000000000", "0190abcd-1fff-ffff-ffff-ffffffffffff"},
		{"0190abcd-1234-7abc-8def-0123456789ab", "0190abcd-1234-7abc-8def-0123456789ab", "0190abcd-1234-7abc-8def-0123456789ab"},
		{"0190abcd1", "", ""},
		{"zz", "", ""},
		{"0190abcd-1234-7abc-8def-0123456789abc", "", ""},
	} {
		first, last, ok := idRange(c.prefix)
		if ok != (c.first != "") || ok && (first != uuid.MustParse(c.first) || last != uuid.MustParse(c.last)) {
			t.Errorf("%q: %v %v %v", c.prefix, first, last, ok)
		}
	}
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{"  José  ÁLVAREZ ": "jose alvarez", "O'Neil-Smith": "o'neil-smith", "": "", "ß": "ß", "Ångström": "angstrom"} {
		if got := fold(in); got != want {
			t.Errorf("fold(%q) = %q, want %q", in, got, want)
		}
	}
}
