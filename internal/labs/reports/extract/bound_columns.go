package extract

import (
	"regexp"
	"slices"
)

// bound says which bound of the range a column has.
type bound int

const (
	noBound bound = iota
	lowerBound
	upperBound
)

var (
	lowerHeader = regexp.MustCompile(`(?i)^(?:(?:ref(?:erence)?\.?|normal|range|interval)\s*)*(?:low|lower|min\.?|minimum|lln?|from)(?:\s*(?:limit|bound|ref(?:erence)?\.?|range|value|normal|end))*$`)
	upperHeader = regexp.MustCompile(`(?i)^(?:(?:ref(?:erence)?\.?|normal|range|interval)\s*)*(?:high|higher|upper|max\.?|maximum|uln?|to)(?:\s*(?:limit|bound|ref(?:erence)?\.?|range|value|normal|end))*$`)
)

// pairBounds finds the columns of the lower and the upper bound, such as "Low" and "High".
// With a column of ranges or without one of values, such columns are no bounds.
func pairBounds(columns []column) {
	low := slices.IndexFunc(columns, func(c column) bool { return lowerHeader.MatchString(c.text) })
	high := slices.IndexFunc(columns, func(c column) bool { return upperHeader.MatchString(c.text) })
	if low < 0 || high < low || !hasKind(columns, valueColumn) && !hasKind(columns, dateColumn) {
		return
	}
	for i, c := range columns {
		if c.kind == rangeColumn && i != low && i != high {
			return
		}
	}
	columns[low].kind, columns[low].bound = rangeColumn, lowerBound
	columns[high].kind, columns[high].bound = rangeColumn, upperBound
}

// takeBounds makes a range of the cells of two columns.
func (e *entry) takeBounds(cells map[bound][]cell) {
	var words [upperBound + 1][]Word
	for side, list := range cells {
		for _, c := range list {
			if text := c.text(); !noRange.MatchString(text) {
				words[side] = append(words[side], c.words...)
			}
		}
	}
	low, high := words[lowerBound], words[upperBound]
	isNumber := func(words []Word) bool { return numberStart.MatchString(newCell(words).text()) }
	switch {
	case len(low) == 0 && len(high) == 0:
		return
	case len(high) == 0 && isNumber(low):
		low = append([]Word{signBefore(">=", low[0])}, low...)
	case len(low) == 0 && isNumber(high):
		high = append([]Word{signBefore("<=", high[0])}, high...)
	case len(low) > 0 && len(high) > 0:
		low = append(slices.Clone(low), signBefore("-", high[0]))
	}
	e.parts[rangeColumn] = append(e.parts[rangeColumn], newCell(append(slices.Clone(low), high...)))
}

var numberStart = regexp.MustCompile(`^[-+]?[.,]?\d`)

// signBefore returns a word that is not printed, at the start of another one.
func signBefore(sign string, w Word) Word {
	w.Text, w.Box.Width = sign, w.Box.Width/100
	return w
}
