package extract

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"hale/internal/labs/loinc"
)

// In images of low resolution, such as a fax, specks look like signs, points vanish and
// letters look alike. All of their rows need review: what follows makes better proposals.

var (
	coarseSign   = regexp.MustCompile(`^[-~]\s*(\d[\d.,]*)$`)
	coarseNoise  = regexp.MustCompile(`^[A-Za-z~.-]{1,3}(?:\s+[A-Za-z~.-]{1,3})?\s+(\d[\d.,]*)$`)
	signedResult = regexp.MustCompile(`(?i)\bexcess\b|\bdeficit\b|\bgap\b|\bz[- ]?score\b|\bt[- ]?score\b|\bdelta\b`)
)

// coarseNumber removes specks and noise before a number. Few results can be negative.
func coarseNumber(text, name string) string {
	if m := coarseSign.FindStringSubmatch(text); m != nil && !signedResult.MatchString(name) {
		return m[1]
	}
	if m := coarseNoise.FindStringSubmatch(text); m != nil {
		if _, isFlag := flagOf(strings.TrimSpace(strings.TrimSuffix(text, m[1]))); !isFlag {
			return m[1]
		}
	}
	return text
}

// hasLostPoint reports whether a number without decimals fits its range only with as many
// decimals as the range has. An example is 28 with a range from 1.9 to 3.7.
func hasLostPoint(row *Row, value Value) bool {
	decimals := rangeDecimals(row.Range.Text)
	if row.Number == nil || row.Type != Numeric || row.Comparator != "" || value.Decimals != 0 || decimals == 0 || len(value.Text) <= decimals ||
		strings.Trim(value.Text, "0123456789") != "" || row.Range.Min == nil || row.Range.Max == nil {
		return false
	}
	shifted := *row.Number / math.Pow10(decimals)
	return *row.Number > 4**row.Range.Max && shifted >= *row.Range.Min/2 && shifted <= *row.Range.Max*2
}

// putPoint gives a number the decimals of its range.
func putPoint(row *Row, commas bool) {
	at := len(row.Value) - rangeDecimals(row.Range.Text)
	text := row.Value[:at] + "." + row.Value[at:]
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return
	}
	if commas {
		text = strings.Replace(text, ".", ",", 1)
	}
	row.Value, row.Number = text, &number
}

// letterShapes has one letter for all that look alike.
var letterShapes = strings.NewReplacer("d", "o", "0", "o", "q", "o", "y", "v", "u", "v", "l", "i", "1", "i", "j", "i", "t", "i", "5", "s", "8", "b", "e", "c", "n", "h")

// shapeOf returns how a short name looks, without repeated letters.
func shapeOf(key string) string {
	var b strings.Builder
	var last rune
	for _, c := range letterShapes.Replace(key) {
		if c != last && c != ' ' {
			b.WriteRune(c)
		}
		last = c
	}
	return b.String()
}

// lookalike returns the code of a short name that looks like another: MPY is MPV, if no
// other code has such a name.
func (d *dictionary) lookalike(key string) []namedCode {
	if len(key) < 3 || len(key) > 5 {
		return nil
	}
	shape := shapeOf(key)
	var code *loinc.Code
	for _, name := range d.names {
		if len(name) < 3 || len(name) > 5 || shapeOf(name) != shape {
			continue
		}
		for _, n := range d.byName[name] {
			if code != nil && n.code != code {
				return nil
			}
			code = n.code
		}
	}
	if code == nil {
		return nil
	}
	return []namedCode{{code, 0.75}}
}
