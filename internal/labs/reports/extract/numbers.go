package extract

import (
	"regexp"
	"strconv"
	"strings"
)

// numberPattern matches a number, also with thousands that a comma, a point, an apostrophe
// or a narrow blank separates: 1,234.5 and 1.234,5, 150'000, 1,50,000. blankPattern has
// plain blanks: 150 000.
const (
	numberPattern = `(?:\d{1,3}(?:['’\x{202f}\x{2009}]\d{3})+(?:[.,]\d+)?|` +
		`\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}|` +
		`\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?|\d{1,3}(?:,\d{3})+(?:\.\d+)?|` +
		`\d+[.,]\d+|\d+|[.,]\d+)`
	blankPattern = `[1-9]\d{0,2}(?: \d{3})+(?:[.,]\d+)?`
)

var (
	groupMarks   = strings.NewReplacer("'", "", "’", "", "\u202f", "", "\u2009", "", " ", "")
	pointGroups  = regexp.MustCompile(`^[1-9]\d{0,2}(?:\.\d{3})+,\d+$|^[1-9]\d{0,2}(?:\.\d{3}){2,}$`)
	commaGroups  = regexp.MustCompile(`^[1-9]\d{0,2}(?:,\d{3})+\.\d+$|^[1-9]\d{0,2}(?:,\d{3}){2,}$|^[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?$`)
	commaOrGroup = regexp.MustCompile(`^[1-9]\d{0,2},\d{3}$`) // 1,234
	pointOrGroup = regexp.MustCompile(`^[1-9]\d{0,2}\.\d{3}$`)
	blankGroups  = regexp.MustCompile(`^` + blankPattern + `$`)
	commaDecimal = regexp.MustCompile(`^\d+,(?:\d{1,2}|\d{4,})$|^0,\d{3}$|^\d{4,},\d+$|^\d{1,3}(?:['’]\d{3})+,\d+$`)
	pointDecimal = regexp.MustCompile(`^\d*\.(?:\d{1,2}|\d{4,})$|^0?\.\d{3}$|^\d{4,}\.\d+$|^\d{1,3}(?:['’]\d{3})+\.\d+$`)
	// boundBehind is the rest of a range: "250 150 - 400" is 250 and its range.
	boundBehind   = regexp.MustCompile(`^\s*-\s*[\d<>]`)
	groupOfOne    = regexp.MustCompile(`^([<>]?=?\s*1),(\d{3})$`)
	threeDecimals = regexp.MustCompile(`\d\.\d{3}(?:\D|$)`)
	typedNumber   = regexp.MustCompile(`^((?:<=|>=|<|>)?\s*[+-]?)(` + blankPattern + `|` + numberPattern + `)(\s*%?)$`)
	numberInText  = regexp.MustCompile(wideNumber)
)

// parseNumber reads a number. With commas, the comma is the decimal sign, unless the number
// itself shows another meaning.
func parseNumber(text string, commas bool) (v float64, decimals int, ok bool) {
	sign := 1.0
	switch {
	case strings.HasPrefix(text, "-"):
		sign, text = -1, text[1:]
	case strings.HasPrefix(text, "+"):
		text = text[1:]
	}
	text = withPoint(text, commas)
	if text == "" || len(text) > 20 || strings.ContainsAny(text, ",eExXnNiI_pP") {
		return 0, 0, false
	}
	if at := strings.IndexByte(text, '.'); at >= 0 {
		decimals = len(text) - at - 1
	}
	v, err := strconv.ParseFloat(text, 64)
	return sign * v, decimals, err == nil
}

// withPoint removes the separators of thousands and writes a point for a decimal comma.
func withPoint(text string, commas bool) string {
	text = groupMarks.Replace(text)
	switch {
	case pointGroups.MatchString(text):
		text = strings.ReplaceAll(text, ".", "")
	case commaGroups.MatchString(text), commaOrGroup.MatchString(text) && !commas:
		return strings.ReplaceAll(text, ",", "")
	}
	return strings.Replace(text, ",", ".", 1)
}

// PlainNumber returns a typed number with its comparator, without separators and with a
// decimal point. It takes 1,234 as a thousand. Other texts stay as they are.
func PlainNumber(text string) string {
	m := typedNumber.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	return m[1] + withPoint(m[2], false) + m[3]
}

// IsAmbiguousNumber reports whether the comma of a typed number can separate thousands or
// decimals, as in 1,234.
func IsAmbiguousNumber(text string) bool {
	m := typedNumber.FindStringSubmatch(text)
	return m != nil && commaOrGroup.MatchString(m[2])
}

// notation says how a report writes numbers. 1,234 alone can be a thousand or one: the
// other numbers of the report decide.
type notation struct {
	decimalCommas bool
	commasGroup   bool // commas are known to separate thousands
	pointsDivide  bool // points are known to be decimal signs
}

// notationOf counts the numbers of a document that can be read in one way only.
func notationOf(doc Document) notation {
	commas, points, groupsOfCommas, groupsOfPoints, undecided := 0, 0, 0, 0, 0
	for _, p := range doc.Pages {
		for _, w := range p.Words {
			for _, text := range strings.Split(dashesReplacer.Replace(w.Text), "-") {
				switch text = strings.Trim(text, "()[]*HL<>=%;"); {
				case pointGroups.MatchString(text):
					groupsOfPoints++
					if strings.Contains(text, ",") {
						commas++
					}
				case commaGroups.MatchString(text):
					groupsOfCommas++
					if strings.Contains(text, ".") {
						points++
					}
				case commaDecimal.MatchString(text):
					commas++
				case pointDecimal.MatchString(text):
					points++
				case pointOrGroup.MatchString(text):
					undecided++
				}
			}
		}
	}
	n := notation{decimalCommas: commas > 2 && commas > 2*(points+undecided) || groupsOfPoints > 0 && commas > points}
	isEnglish := groupsOfPoints == 0 && 10*commas < points+groupsOfCommas
	n.commasGroup = isEnglish && (points > 1 || groupsOfCommas > 0)
	n.pointsDivide = isEnglish && points > 0
	return n
}

// numberIsCertain reports whether a printed number has one meaning in its report.
func (n notation) numberIsCertain(text string, row *Row, source Source) bool {
	number := strings.TrimLeft(text, "<>= +-")
	switch {
	case blankGroups.MatchString(number): // or two numbers
		return row.Range.reaches(1000)
	case commaOrGroup.MatchString(number) && !n.decimalCommas:
		if source == FromOCR && strings.HasPrefix(number, "1,") { // the comma may be a point
			return n.commasGroup && row.Range.reaches(500)
		}
		return n.commasGroup || row.Range.Min != nil && *row.Range.Min >= 1000
	case pointOrGroup.MatchString(number) && !n.decimalCommas:
		return n.pointsDivide || row.Unit == "" // without a unit: a ratio or a density
	case commaOrGroup.MatchString(number), pointOrGroup.MatchString(number):
		return rangeDecimals(row.Range.Text) == 3 && row.Range.hasBounds()
	}
	return true
}

// rangeIsCertain reports whether the bounds of a printed range have one meaning.
func (n notation) rangeIsCertain(row *Row) bool {
	isRound := true
	undecided := false
	for _, number := range numberInText.FindAllString(row.Range.Text, -1) {
		number = strings.TrimLeft(number, "+-")
		isComma, isPoint := commaOrGroup.MatchString(number), pointOrGroup.MatchString(number)
		if n.decimalCommas && commaDecimal.MatchString(number) || !n.decimalCommas && pointDecimal.MatchString(number) {
			return true // both bounds are written alike
		}
		if !isComma && !isPoint {
			continue
		}
		isRound = isRound && strings.HasSuffix(number, "00")
		undecided = undecided || n.decimalCommas || isComma && !n.commasGroup || isPoint && !n.pointsDivide && row.Unit != ""
	}
	if undecided && n.decimalCommas {
		return !isRound // 1,005-1,030 has decimals, 150,000-400,000 may have none
	}
	return !undecided
}

func (r *Range) hasBounds() bool {
	if r.Min != nil || r.Max != nil {
		return true
	}
	return len(r.Choices) > 0
}

// reaches reports whether a bound is at least as large as a number.
func (r *Range) reaches(least float64) bool {
	return r.Min != nil && *r.Min >= least || r.Max != nil && *r.Max >= least
}

// dropBounds keeps the text of a range only.
func (r *Range) dropBounds() {
	r.Min, r.Max, r.MinExclusive, r.MaxExclusive = nil, nil, false, false
	for i := range r.Choices {
		c := &r.Choices[i]
		c.Min, c.Max, c.MinExclusive, c.MaxExclusive = nil, nil, false, false
	}
}
