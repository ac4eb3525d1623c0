package refrange

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// labelPattern matches a label before a colon: "Male:", "Near optimal:".
var labelPattern = regexp.MustCompile(`([A-Za-z][A-Za-z -]*?)\s*[:=]\s*`)

// parseLabelled parses "M: 13.5-17.5 F: 12.0-15.5" and "Normal: <5.7 High:
// >=5.7". Every part must be a range, or nothing is read.
func parseLabelled(text string) (Range, bool) {
	marks := labelPattern.FindAllStringSubmatchIndex(text, -1)
	if len(marks) == 0 || marks[0][0] != 0 {
		return Range{}, false
	}
	names, parts := make([]string, len(marks)), make([]Range, len(marks))
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		part, ok := parseSimple(strings.TrimRight(text[m[1]:end], " ;,.|/"))
		if !ok {
			return Range{}, false
		}
		names[i], parts[i] = text[m[2]:m[3]], part
	}
	if r, ok := bySex(names, parts); ok {
		return r, true
	}
	return findBand(names, parts)
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

// normalLabels are the labels of the normal band, the best first.
var normalLabels = []string{"normal", "optimal", "desirable", "sufficient", "sufficiency", "adequate", "acceptable", "non-diabetic", "nondiabetic"}

// findBand finds the normal band. A label that two bands share decides
// nothing.
func findBand(names []string, parts []Range) (Range, bool) {
	for _, normal := range normalLabels {
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

// spellings maps words to their usual spelling.
var spellings = map[string]string{
	"neg": "Negative", "pos": "Positive", "nonreactive": "Non Reactive", "non-reactive": "Non Reactive", "non reactive": "Non Reactive",
	"nil": "Absent", "nd": "Not Detected", "not detected": "Not Detected",
}

// maxWords bounds an expected value in words; more words are prose.
const maxWords = 4

// parseWord parses an expected value in words, in one spelling.
func parseWord(text string) (string, bool) {
	if len(strings.Fields(text)) > maxWords {
		return "", false
	}
	for _, r := range text {
		if !unicode.IsLetter(r) && r != ' ' && r != '/' && r != '-' {
			return "", false
		}
	}
	return Word(text), text != ""
}

// Word returns a value in words in one spelling, so that values can be
// compared.
func Word(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if known, ok := spellings[strings.ToLower(text)]; ok {
		return known
	}
	return text
}
