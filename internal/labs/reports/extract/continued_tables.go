package extract

import (
	"slices"
	"strings"
)

// continueColumns fits the columns of the page before to the rows above the first header of
// a page: they may be at other places. If no row shows the places, and other values are
// beside the current ones, the rows need a review.
func (r *reader) continueColumns(page int) {
	r.isContinued = page > 0 && len(r.columns) > 0
	if !r.isContinued {
		return
	}
	l := r.pages[page]
	var rows [][]cell
	var columns []int // of the cells of rows
	for i, line := range l.lines {
		if _, used, _ := detectHeader(l.lines, i, l.em); used > 0 {
			break
		}
		at := r.columnsInOrder(line)
		if at == nil || len(at) < len(columns) {
			continue
		}
		if len(at) > len(columns) { // a row with more of the columns shows more
			rows, columns = nil, at
		}
		if slices.Equal(at, columns) {
			rows = append(rows, line.cells)
		}
	}
	if len(rows) == 0 {
		r.guessed = r.guessed || hasKind(r.columns, previousColumn)
		return
	}
	for _, cells := range rows {
		for k, c := range cells {
			if place(r.columns, c, l.em) != columns[k] {
				r.columns = movedColumns(r.columns, rows, columns)
				return
			}
		}
	}
}

// columnsInOrder returns the columns of a line's cells, which have the order of the header.
// A line may leave out flags and columns that are not known. It is nil if the line does not
// fit.
func (r *reader) columnsInOrder(l *line) []int {
	var at []int
	k := 0
	for i, c := range r.columns {
		isOptional := c.kind == flagColumn || c.kind == otherColumn
		left, needed := len(l.cells)-k, 0
		for _, later := range r.columns[i:] {
			if later.kind != flagColumn && later.kind != otherColumn {
				needed++
			}
		}
		switch {
		case left > needed || !isOptional && left == needed && left > 0:
			if !r.fitsColumn(l.cells[k].text(), c.kind) {
				if !isOptional {
					return nil
				}
				continue
			}
			at = append(at, i)
			k++
		case !isOptional:
			return nil
		}
	}
	if k < len(l.cells) || k < 3 {
		return nil
	}
	return at
}

// fitsColumn reports whether a text can be in a column of a kind.
func (r *reader) fitsColumn(text string, kind columnKind) bool {
	switch kind {
	case nameColumn:
		_, isValue := ParseValue(text, r.commas)
		return looksNamed(text) && !isValue
	case valueColumn, previousColumn, dateColumn:
		_, isValue := ParseValue(text, r.commas)
		return isValue
	case unitColumn:
		return looksLikeUnit(text)
	case rangeColumn:
		rng := ParseRange(text, r.commas, Patient{Age: -1}).Kind
		return rng != RangeOther
	case flagColumn:
		return isFlagMark(text)
	case otherColumn:
	}
	return strings.TrimSpace(text) != ""
}

// movedColumns places columns at the cells of rows. A column without cells is between its
// neighbours.
func movedColumns(columns []column, rows [][]cell, at []int) []column {
	out := slices.Clone(columns)
	isPlaced := make([]bool, len(out))
	for k, i := range at {
		out[i].x0, out[i].x1, isPlaced[i] = rows[0][k].x0, rows[0][k].x1, true
		for _, cells := range rows {
			out[i].x0, out[i].x1 = min(out[i].x0, cells[k].x0), max(out[i].x1, cells[k].x1)
		}
	}
	for i := range out {
		if isPlaced[i] {
			continue
		}
		left, right := 0.0, out[len(out)-1].x1
		if i > 0 {
			left = out[i-1].x1
		}
		if next := slices.Index(isPlaced[i:], true); next >= 0 {
			right = out[i+next].x0
		}
		out[i].x0, out[i].x1 = left+(right-left)/3, right-(right-left)/3
	}
	return out
}
