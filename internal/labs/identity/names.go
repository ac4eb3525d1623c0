package identity

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// compareFirstNames compares given names. It ignores case, accents, hyphens,
// apostrophes, dots, spaces and suffixes. An initial agrees
// with a name that it begins. Middle names on one side only are ignored;
// middle names on both sides must agree, because twins may share the first.
func compareFirstNames(a, b string) Agreement {
	x, y := withoutSuffix(Words(a), GivenSuffixes), withoutSuffix(Words(b), GivenSuffixes)
	if len(x) == 0 || len(y) == 0 {
		return Unknown
	}
	if joinWords(x) == joinWords(y) {
		return Agrees
	}
	for i := range min(len(x), len(y)) {
		if !agreeGiven(joinWords(x[i:i+1]), joinWords(y[i:i+1])) {
			return Differs
		}
	}
	return Agrees
}

func agreeGiven(a, b string) bool {
	return a == b || isInitial(a) && strings.HasPrefix(b, a) || isInitial(b) && strings.HasPrefix(a, b)
}

// isInitial reports that a word is one Latin letter. One letter of another
// script may be a whole name.
func isInitial(word string) bool { return len(word) == 1 && word[0] >= 'a' && word[0] <= 'z' }

// compareLastNames compares family names, with the same notice of spelling. The
// two parts of a double name may be in either order. One part alone differs
// from both: Garcia and Garcia-Lopez may be two persons. An initial is no last
// name.
func compareLastNames(a, b string) Agreement {
	x, y := withoutSuffix(Words(a), familySuffixes), withoutSuffix(Words(b), familySuffixes)
	if len(x) == 0 || len(y) == 0 {
		return Unknown
	}
	if joinWords(x) == joinWords(y) {
		return Agrees
	}
	x, y = splitHyphens(x), splitHyphens(y)
	if len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0] {
		return Agrees
	}
	return Differs
}

// GivenSuffixes are ignored at the end of given names. They do not include "v": a V at the
// end of given names is a middle initial.
var GivenSuffixes = []string{"jr", "sr", "ii", "iii", "iv"}

// familySuffixes are ignored at the end of a family name.
var familySuffixes = append(slices.Clone(GivenSuffixes), "v")

// withoutSuffix removes suffixes behind the first word.
func withoutSuffix(name, suffixes []string) []string {
	for len(name) > 1 && slices.Contains(suffixes, name[len(name)-1]) {
		name = name[:len(name)-1]
	}
	return name
}

// hl7Null is the text of an HL7 field that is deliberately empty.
const hl7Null = `""`

// Words returns the words of a name in lower case, without accents,
// apostrophes and dots. A word may have hyphens in it.
func Words(name string) []string {
	if strings.TrimSpace(name) == hl7Null {
		return nil
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(name) {
		switch {
		case isAccent(r) || strings.ContainsRune(apostrophes, r):
		case r == '.' || r == ',' || unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.Is(unicode.Pd, r):
			b.WriteByte('-')
		default:
			if r = unicode.ToLower(r); plainLetters[r] != "" {
				b.WriteString(plainLetters[r])
			} else {
				b.WriteRune(r)
			}
		}
	}
	var all []string
	for _, word := range strings.Fields(b.String()) {
		if word = strings.Trim(word, "-"); word != "" {
			all = append(all, word)
		}
	}
	return all
}

// isAccent reports that a rune is an accent of an alphabet. The vowel signs of
// other scripts make different names, so they remain.
func isAccent(r rune) bool { return r >= 0x300 && r <= 0x36f }

const apostrophes = "'`´‘’ʻʼʹ′"

// plainLetters are the letters whose accent is part of the letter.
var plainLetters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ı': "i", 'ħ': "h",
}

func joinWords(name []string) string { return strings.ReplaceAll(strings.Join(name, ""), "-", "") }

func splitHyphens(name []string) []string {
	return strings.FieldsFunc(strings.Join(name, "-"), func(r rune) bool { return r == '-' })
}
