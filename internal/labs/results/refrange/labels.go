package refrange

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// label is what stands before a colon: "Male:", "Near optimal:".
var label = regexp.MustCompile(`([A-Za-z][A-Za-z -]*?)\s*[:=]\s*`)

// labelled reads "M: 13.5-17.5 F: 12.0-15.5" and "Normal: <5.7 High: >=5.7".
// Every part must be a range for any of it to count.
func labelled(text string) (Range, bool) {
	marks := label.FindAllStringSubmatchIndex(text, -1)
	if len(marks) == 0 || marks[0][0] != 0 {
		return Range{}, false
	}
	names, parts := make([]string, len(marks)), make([]Range, len(marks))
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		part, ok := simple(strings.TrimRight(text[m[1]:end], " ;,.|/"))
		if !ok {
			return Range{}, false
		}
		names[i], parts[i] = text[m[2]:m[3]], part
	}
	if r, ok := bySex(names, parts); ok {
		return r, true
	}
	return band(names, parts)
}

var sexes = map[string]string{
	"m": "male", "male": "male", "males": "male", "men": "male", "man": "male",
	"f": "female", "female": "female", "females": "female", "women": "female", "woman": "female",
}

func bySex(names []string, parts []Range) (Range, bool) {
	r := Range{Kind: Sexed}
	for i, name := range names {
		part := &parts[i]
		switch sex := sexes[strings.ToLower(name)]; {
		case sex == "male" && r.Male == nil:
			r.Male = part
		case sex == "female" && r.Female == nil:
			r.Female = part
		default:
			return Range{}, false
		}
	}
	return r, true
}

// normals are the labels of the band that is as it should be, the best first.
var normals = []string{"normal", "optimal", "desirable", "sufficient", "sufficiency", "adequate", "acceptable", "non-diabetic", "nondiabetic"}

// band finds the normal one of labelled ranges. A name that two bands share
// names none.
func band(names []string, parts []Range) (Range, bool) {
	for _, normal := range normals {
		at := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, normal) })
		if at < 0 {
			continue
		}
		if slices.ContainsFunc(names[at+1:], func(name string) bool { return strings.EqualFold(name, normal) }) {
			return Range{}, false
		}
		return Range{Kind: Bands, Low: parts[at].Low, High: parts[at].High, Text: names[at]}, true
	}
	return Range{}, false
}

// spellings are words that stand for another.
var spellings = map[string]string{
	"neg": "Negative", "pos": "Positive", "nonreactive": "Non Reactive", "non-reactive": "Non Reactive", "non reactive": "Non Reactive",
	"nil": "Absent", "nd": "Not Detected", "not detected": "Not Detected",
}

// mostWords is how long an expected value may be; more words are prose.
const mostWords = 4

// word reads an expected value in words, in one spelling.
func word(text string) (string, bool) {
	if len(strings.Fields(text)) > mostWords {
		return "", false
	}
	for _, r := range text {
		if !unicode.IsLetter(r) && r != ' ' && r != '/' && r != '-' {
			return "", false
		}
	}
	return Word(text), text != ""
}

// Word is one spelling of a value in words, so that values can be compared.
func Word(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if known, ok := spellings[strings.ToLower(text)]; ok {
		return known
	}
	return text
}
