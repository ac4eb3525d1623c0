package refrange

import (
	"regexp"
	"strconv"
	"strings"

	"hale/internal/labs/loinc"
)

// longest is how much of a range is looked at. Prose of such length is not a
// range, whatever numbers are in it.
const longest = 400

// Parse reads a range as printed. What it cannot read is of kind Other.
func Parse(printed string) Range {
	text := tidy(printed)
	switch {
	case len(text) > longest:
		return Range{Kind: Other}
	case none[strings.ToLower(text)]:
		return Range{Kind: None}
	}
	if r, ok := simple(text); ok {
		return r
	}
	if titer.MatchString(text) {
		return Range{Kind: Titer, Text: text}
	}
	if r, ok := labelled(text); ok {
		return r
	}
	if expected, ok := word(text); ok {
		return Range{Kind: Text, Text: expected}
	}
	return Range{Kind: Other}
}

var signs = strings.NewReplacer("–", "-", "—", "-", "−", "-", "≤", "<=", "≥", ">=", "\u00a0", " ", "\n", " ", "\t", " ")

// tidy brings a text to one spelling: plain signs, single blanks, no brackets
// around it.
func tidy(text string) string {
	text = strings.Join(strings.Fields(signs.Replace(text)), " ")
	for _, pair := range []string{"()", "[]"} {
		inner, ok := strings.CutPrefix(text, pair[:1])
		if inner, closed := strings.CutSuffix(inner, pair[1:]); ok && closed && !strings.ContainsAny(inner, pair) {
			text = strings.TrimSpace(inner)
		}
	}
	return text
}

// none are the words for having no range.
var none = map[string]bool{
	"": true, "-": true, "--": true, "n/a": true, "na": true, "none": true, "not estab.": true, "not estab": true, "not established": true,
	"none established": true, "not applicable": true, "see note": true, "see comment": true, "see below": true, "see report": true,
}

const number = `([+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+))`

var (
	between  = regexp.MustCompile(`^` + number + `\s*(?:-|to)\s*` + number + `(?:\s*(\D.*))?$`)
	compared = regexp.MustCompile(`(?i)^(<\s*or\s*=|>\s*or\s*=|<=|>=|=<|=>|<|>|up ?to|less than or equal to|greater than or equal to|less than|under|greater than|more than|over|at least|at most)\s*` + number + `(?:\s*(\D.*))?$`)
	trailing = regexp.MustCompile(`(?i)^` + number + `\s*(?:([^\d\s].*?)\s+)?or\s+(less|lower|below|higher|greater|more|above)$`)
	titer    = regexp.MustCompile(`^(?:[<>]=?\s*)?1:\d+$`)
)

// simple reads a range of one or two bounds, with or without its unit.
func simple(text string) (Range, bool) {
	if m := between.FindStringSubmatch(text); m != nil && isUnit(m[3]) {
		low, high := value(m[1]), value(m[2])
		if low > high {
			return Range{}, false
		}
		return Range{Kind: Interval, Low: &Bound{low, true}, High: &Bound{high, true}}, true
	}
	if m := compared.FindStringSubmatch(text); m != nil && isUnit(m[3]) {
		sign := strings.ToLower(strings.ReplaceAll(m[1], " ", ""))
		return oneSided(uppers[sign], Bound{value(m[2]), strings.Contains(sign, "=") || inclusive[sign]}), true
	}
	if m := trailing.FindStringSubmatch(text); m != nil && isUnit(m[2]) {
		upper := strings.Contains("less lower below", strings.ToLower(m[3]))
		return oneSided(upper, Bound{value(m[1]), true}), true
	}
	return Range{}, false
}

// uppers are the comparisons that bound a range above; inclusive are those that
// take the bound in without an equals sign.
var (
	uppers = map[string]bool{
		"<": true, "<=": true, "=<": true, "<or=": true, "upto": true, "lessthan": true, "lessthanorequalto": true, "under": true, "atmost": true,
	}
	inclusive = map[string]bool{"upto": true, "atleast": true, "atmost": true, "lessthanorequalto": true, "greaterthanorequalto": true}
)

func oneSided(upper bool, b Bound) Range {
	if upper {
		return Range{Kind: Upper, High: &b}
	}
	return Range{Kind: Lower, Low: &b}
}

// isUnit reports whether what follows a number is its unit and not more text
// that would change what the number means.
func isUnit(text string) bool {
	if text == "" {
		return true
	}
	_, known := loinc.UCUM(text)
	return known
}

// value reads what number matched.
func value(text string) float64 {
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil { // digits without end: more than a float holds
		return 0
	}
	return v
}
