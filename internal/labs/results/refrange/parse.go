package refrange

import (
	"regexp"
	"strconv"
	"strings"

	"hale/internal/labs/loinc"
)

// maxLength bounds the text that is parsed. A longer text is prose, even if it
// has numbers.
const maxLength = 400

// Parse parses a range as printed. A text that it cannot read has the kind
// Other.
func Parse(printed string) Range {
	text := tidy(printed)
	switch {
	case len(text) > maxLength:
		return Range{Kind: Other}
	case noRangeWords[strings.ToLower(text)]:
		return Range{Kind: None}
	}
	if r, ok := parseSimple(text); ok {
		return r
	}
	if titerPattern.MatchString(text) {
		return Range{Kind: Titer, Text: text}
	}
	if r, ok := parseLabelled(text); ok {
		return r
	}
	if expected, ok := parseWord(text); ok {
		return Range{Kind: Text, Text: expected}
	}
	return Range{Kind: Other}
}

var signs = strings.NewReplacer("–", "-", "—", "-", "−", "-", "≤", "<=", "≥", ">=", "\u00a0", " ", "\n", " ", "\t", " ")

// tidy brings a text to one spelling: plain signs, single spaces, no brackets
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

// noRangeWords are the words for having no range.
var noRangeWords = map[string]bool{
	"": true, "-": true, "--": true, "n/a": true, "na": true, "none": true, "not estab.": true, "not estab": true, "not established": true,
	"none established": true, "not applicable": true, "see note": true, "see comment": true, "see below": true, "see report": true,
}

const numberPattern = `([+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+,\d+|\d+(?:\.\d*)?|\.\d+))`

var (
	intervalPattern   = regexp.MustCompile(`^` + numberPattern + `\s*(?:-|to)\s*` + numberPattern + `(?:\s*(\D.*))?$`)
	comparisonPattern = regexp.MustCompile(`(?i)^(<\s*or\s*=|>\s*or\s*=|<=|>=|=<|=>|<|>|up ?to|less than or equal to|greater than or equal to|less than|under|greater than|more than|over|at least|at most)\s*` + numberPattern + `(?:\s*(\D.*))?$`)
	suffixPattern     = regexp.MustCompile(`(?i)^` + numberPattern + `\s*(?:([^\d\s].*?)\s+)?or\s+(less|lower|below|higher|greater|more|above)$`)
	titerPattern      = regexp.MustCompile(`^(?:[<>]=?\s*)?1:\d+$`)
)

// parseSimple parses a range of one or two bounds, with or without its unit.
func parseSimple(text string) (Range, bool) {
	if m := intervalPattern.FindStringSubmatch(text); m != nil && isUnit(m[3]) {
		low, known := parseNumber(m[1], text)
		high, alsoKnown := parseNumber(m[2], text)
		if !known || !alsoKnown || low > high {
			return Range{}, false
		}
		return Range{Kind: Interval, Low: &Bound{low, true}, High: &Bound{high, true}}, true
	}
	if m := comparisonPattern.FindStringSubmatch(text); m != nil && isUnit(m[3]) {
		sign := strings.ToLower(strings.ReplaceAll(m[1], " ", ""))
		end, known := parseNumber(m[2], text)
		return oneSidedRange(upperSigns[sign], Bound{end, strings.Contains(sign, "=") || inclusiveSigns[sign]}), known
	}
	if m := suffixPattern.FindStringSubmatch(text); m != nil && isUnit(m[2]) {
		upper := strings.Contains("less lower below", strings.ToLower(m[3]))
		end, known := parseNumber(m[1], text)
		return oneSidedRange(upper, Bound{end, true}), known
	}
	return Range{}, false
}

// upperSigns are the comparisons that bound a range above; inclusive are those that
// take the bound in without an equals sign.
var (
	// upperSigns are the comparisons that bound a range above; inclusiveSigns
	// are those that include the bound without an equals sign.
	upperSigns = map[string]bool{
		"<": true, "<=": true, "=<": true, "<or=": true, "upto": true, "lessthan": true, "lessthanorequalto": true, "under": true, "atmost": true,
	}
	inclusiveSigns = map[string]bool{"upto": true, "atleast": true, "atmost": true, "lessthanorequalto": true, "greaterthanorequalto": true}
)

func oneSidedRange(upper bool, b Bound) Range {
	if upper {
		return Range{Kind: Upper, High: &b}
	}
	return Range{Kind: Lower, Low: &b}
}

// isUnit reports whether the text after a number is its unit, and not more
// text that would change the meaning of the number.
func isUnit(text string) bool {
	if text == "" {
		return true
	}
	_, known := loinc.UCUM(text)
	return known
}

// parseNumber reads a number that numberPattern matched in a text. It reports
// false if it is not certain whether a comma is a decimal one.
func parseNumber(number, text string) (v float64, known bool) {
	decimal := HasDecimalComma(text)
	if decimal {
		number = strings.Replace(number, ",", ".", 1)
	} else if decimalComma(strings.TrimLeft(number, "+-")) {
		return 0, false // beside a decimal point
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	if err != nil { // digits without end: more than a float holds
		return 0, true
	}
	return v, true
}

var digitsPattern = regexp.MustCompile(`\d*(?:[.,]\d+)+|\d+`)

// HasDecimalComma reports whether the numbers of a text have decimal commas. At
// least one comma must be a decimal comma for certain. No number may have a point
// or two commas.
func HasDecimalComma(text string) bool {
	certain := false
	for _, number := range digitsPattern.FindAllString(text, -1) {
		if strings.Contains(number, ".") || strings.Count(number, ",") > 1 {
			return false
		}
		certain = certain || decimalComma(number)
	}
	return certain
}

// decimalComma reports whether the comma of a number cannot separate thousands:
// 3,5 and 0,400.
func decimalComma(number string) bool {
	whole, rest, cut := strings.Cut(number, ",")
	return cut && whole != "" && (len(rest) != 3 || len(whole) > 3 || strings.HasPrefix(whole, "0"))
}
