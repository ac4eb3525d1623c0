package person

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Patterns state the rules of a form as regular expressions, for the OpenAPI document.
// RE2 and ECMA-262 both read them. The rules ignore spaces around a value, so the
// patterns allow them. A rule with several patterns requires all of them.

const (
	// textChar is a character of a text; wordChar is one at its beginning or end.
	textChar = `[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]`
	wordChar = `[^\s\x00-\x1f\x7f]`
	// MaxLengthInPattern is the largest count of a repetition in RE2.
	MaxLengthInPattern = 1000
)

// TextPattern returns the pattern of Form.Text. It does not limit the length of a text
// above MaxLengthInPattern: several repetitions in a row would backtrack without end.
func TextPattern(limit int) string { return `^\s*` + trimmedText(limit) + `\s*$` }

// OptionalPattern returns the pattern of Form.Optional.
func OptionalPattern(limit int) string { return `^\s*(?:` + trimmedText(limit) + `)?\s*$` }

func trimmedText(limit int) string {
	if limit == 1 {
		return wordChar
	}
	repeat := `*`
	if limit <= MaxLengthInPattern {
		repeat = fmt.Sprintf(`{0,%d}`, limit-2)
	}
	return wordChar + `(?:` + textChar + repeat + wordChar + `)?`
}

// lengthPattern limits the length of a value that other patterns describe.
func lengthPattern(limit int) string { return fmt.Sprintf(`^\s*\S(?:.{0,%d}\S)?\s*$`, limit-2) }

// NamePatterns are the patterns of Form.Name.
var NamePatterns = []string{`^\s*[a-zA-Z0-9][a-zA-Z0-9.,'-]*(?: [a-zA-Z0-9.,'-]+)*\s*$`, lengthPattern(maxName)}

// Characters of an e-mail address. Those outside of ASCII are allowed.
const (
	atomChar   = `[^\x00-\x20"(),.:;<>@\x5b-\x5d\x7f]`
	labelChar  = `[^\x00-,./:-@\x5b-\x60{-\x7f]`
	labelEnd   = `[^\x00-/:-@\x5b-\x60{-\x7f]`
	topChar    = `[^\x00-,.-@\x5b-\x60{-\x7f]`
	topEnd     = `[^\x00-@\x5b-\x60{-\x7f]`
	emailLabel = labelEnd + `(?:` + labelChar + `{0,61}` + labelEnd + `)?`
	emailTop   = topEnd + topChar + `{0,61}` + topEnd + `|[^\x00-\x7f]|xn--` + labelChar + `{0,58}` + labelEnd
)

// EmailPatterns are the patterns of Form.Email.
var EmailPatterns = []string{
	`^\s*` + atomChar + `+(?:\.` + atomChar + `+)*@(?:` + emailLabel + `\.)+(?:` + emailTop + `)\s*$`,
	`^\s*[^@]{1,64}@`,
	lengthPattern(maxEmail),
}

// phoneGap separates the digits of a telephone number.
const phoneGap = `[ ./()-]*`

// phoneDigits returns a pattern for n to m digits with gaps before them.
func phoneDigits(count string) string { return `(?:` + phoneGap + `[0-9]){` + count + `}` }

// PhonePatterns are the patterns of Form.Phone.
var PhonePatterns = []string{
	`^\s*(?:(?:\+|` + phoneGap + `0` + phoneGap + `0)` + phoneGap +
		`(?:1` + phoneDigits("10") + `|[2-9]` + phoneDigits("7,14") + `)|` +
		phoneGap + `(?:[1-9]` + phoneDigits("9") + `|1` + phoneDigits("10") + `))` + phoneGap + `\s*$`,
	lengthPattern(maxPhone),
}

// Phone555Pattern matches the North American numbers with the area code 555.
var Phone555Pattern = `^\s*(?:\+` + phoneGap + `1|` + phoneGap + `0` + phoneGap + `0` + phoneGap + `1|` + phoneGap + `1)?` +
	phoneGap + strings.Repeat(`5`+phoneGap, 3) + strings.TrimPrefix(phoneDigits("1"), phoneGap) + phoneDigits("6") + phoneGap + `\s*$`

// ZipPattern is the pattern of a zip code of the United States.
const ZipPattern = `^\s*[0-9]{5}(?:-[0-9]{4})?\s*$`

// The words for countries in an address.
var (
	// USPattern matches the names of the United States. An empty country means them, too.
	USPattern = `^\s*(?:` + AnyCase("US") + `(?:` + AnyCase("A") + `)?|` + AnyCase("United States") + `(?:` + AnyCase(" of America") + `)?)?\s*$`
	// AbroadPattern matches the codes of all other countries.
	AbroadPattern = `^\s*(?:[A-TV-Za-tv-z][A-Za-z]|[Uu][A-RT-Za-rt-z])\s*$`
)

// StateCodes lists the states of the United States.
func StateCodes() []string { return slices.Sorted(maps.Keys(States)) }

// WordsPattern matches the words, and spaces around them. It is for words in lower case
// or capitals that a rule accepts in any case.
func WordsPattern(words []string, foldCase bool) string {
	parts := slices.Clone(words)
	if foldCase {
		for i := range parts {
			parts[i] = AnyCase(parts[i])
		}
	}
	return `^\s*(?:` + strings.Join(parts, "|") + `)\s*$`
}

// AnyCase returns a pattern for a word in capitals or lower case.
func AnyCase(word string) string {
	var b strings.Builder
	for _, r := range word {
		if unicode.IsLetter(r) {
			fmt.Fprintf(&b, "[%c%c]", unicode.ToUpper(r), unicode.ToLower(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
