package extract

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// groupColumn is a column whose cells can apply to several rows. A blank cell has the text
// of the cell above it, and a merged cell is beside all of its rows.
type groupColumn struct {
	text   func(e *entry) *string
	reason Reason // of rows that may belong to another cell
}

// panelHeader is the header of a column of panels.
var panelHeader = regexp.MustCompile(`(?i)^(?:panel|group|section|category|profile|department)$`)

// fillGroups gives each row the texts of the cells that apply to it.
func (r *reader) fillGroups(entries []*entry, em float64) {
	if slices.ContainsFunc(r.columns, func(c column) bool { return specimenHeader.MatchString(c.text) || panelHeader.MatchString(c.text) }) {
		r.fillColumn(entries, groupColumn{func(e *entry) *string { return &e.specimen }, NameUncertain}, em)
	}
	if slices.ContainsFunc(r.columns, func(c column) bool { return c.kind == otherColumn && rowDateHeader.MatchString(c.text) }) {
		r.fillColumn(entries, groupColumn{func(e *entry) *string { return &e.date }, ColumnUncertain}, em)
	}
}

// fillColumn fills the blank cells of a column. A heading ends the rows of a cell.
func (r *reader) fillColumn(entries []*entry, column groupColumn, em float64) {
	start := 0
	for i := 0; i <= len(entries); i++ {
		isEnd := i < len(entries) && r.endsGroups(entries[i], column)
		if i == len(entries) || isEnd {
			r.above[column.reason] = column.fill(entries[start:i], r.above[column.reason], em)
			start = i
		}
		if isEnd {
			r.above[column.reason] = ""
		}
	}
}

// endsGroups reports whether a line is a heading between rows.
func (r *reader) endsGroups(e *entry, column groupColumn) bool {
	if e.anchor || e.used || *column.text(e) != "" || len(e.line.cells) != 1 {
		return false
	}
	text := e.line.text()
	return specimenIn(text) != "" || panelWords.MatchString(text)
}

// fill decides where the texts of a column are: beside the first one of their rows, or
// beside the middle one. If both are possible, the rows that differ need a review. above is the last
// text of the page before, if the table continues. fill returns the text of the last row.
func (g groupColumn) fill(entries []*entry, above string, em float64) string {
	var rows, labels []*entry
	for _, e := range entries {
		if e.anchor {
			rows = append(rows, e)
		}
		if *g.text(e) != "" && (e.anchor || !e.used) {
			labels = append(labels, e)
		}
	}
	if len(rows) == 0 || len(labels) == 0 && above == "" {
		return above
	}
	atTop, isTop := labelsAtTop(rows, labels, em)
	inMiddle, isMiddle := labelsInMiddle(rows, labels, em)
	isTop = isTop && !repeatsName(rows, atTop)
	isMiddle = isMiddle && !repeatsName(rows, inMiddle)
	chosen := atTop
	if isMiddle && !isTop {
		chosen = inMiddle
	}
	texts := make([]string, len(rows))
	for i, e := range rows {
		text := g.text(e)
		if *text != "" {
			texts[i] = *text
		} else if chosen[i] >= 0 {
			texts[i] = *g.text(labels[chosen[i]])
		} else if texts[i] = above; above != "" {
			e.doubt(g.reason)
		}
		if *text == "" && g.matters(labels) && (isTop && isMiddle && atTop[i] != inMiddle[i] || !isTop && !isMiddle) {
			e.doubt(g.reason)
		}
	}
	for i, e := range rows {
		*g.text(e) = texts[i]
	}
	for _, e := range labels {
		if !e.anchor {
			e.used, e.line.used = true, true
		}
	}
	return texts[len(texts)-1]
}

// matters reports whether the texts of a column differ in meaning. Names of panels of blood
// do not.
func (g groupColumn) matters(labels []*entry) bool {
	return g.reason != NameUncertain || slices.ContainsFunc(labels, func(e *entry) bool {
		specimen := specimenIn(*g.text(e))
		return specimen != "" && specimen != "serum_plasma_blood"
	})
}

// labelsAtTop returns the label of each row if a label is beside its first row; -1 for rows
// above the first label.
func labelsAtTop(rows, labels []*entry, em float64) (of []int, fits bool) {
	of, fits = make([]int, len(rows)), true
	pitch := pitchOf(rows, labels)
	for i, row := range rows {
		of[i] = -1
		for k, label := range labels {
			reach := 0.3 * em
			if isBetween(label, rows, pitch) {
				reach, fits = 0.6*pitch, false
			}
			if label.line.y <= row.line.y+reach {
				of[i] = k
			}
		}
		fits = fits && of[i] >= 0
	}
	return of, fits
}

// labelsInMiddle returns the label of each row if a label is in the middle of its rows.
func labelsInMiddle(rows, labels []*entry, em float64) (of []int, fits bool) {
	of = make([]int, len(rows))
	start, pitch := 0, pitchOf(rows, labels)
	for k, label := range labels {
		end, distance := -1, 0.45*em
		for j := start; j < len(rows); j++ {
			if d := math.Abs((rows[start].line.y+rows[j].line.y)/2 - label.line.y); d < distance {
				end, distance = j, d
			}
		}
		if end < 0 || !label.anchor && pitch > 0 && !isBetween(label, rows, pitch) {
			return of, false
		}
		for ; start <= end; start++ {
			of[start] = k
		}
	}
	return of, start == len(rows)
}

// pitchOf returns the least distance of two rows without a label between them; 0 if there
// are no such rows.
func pitchOf(rows, labels []*entry) float64 {
	pitch := 0.0
	for i := 1; i < len(rows); i++ {
		above, below := rows[i-1].line.y, rows[i].line.y
		hasLabel := slices.ContainsFunc(labels, func(e *entry) bool { return !e.anchor && e.line.y > above && e.line.y < below })
		if gap := below - above; !hasLabel && (pitch == 0 || gap < pitch) {
			pitch = gap
		}
	}
	return pitch
}

// isBetween reports whether a label on a line of its own is nearer to a row than two rows
// are to each other. It is then no heading, which needs the space of a row.
func isBetween(label *entry, rows []*entry, pitch float64) bool {
	return !label.anchor && slices.ContainsFunc(rows, func(e *entry) bool { return math.Abs(e.line.y-label.line.y) < 0.75*pitch })
}

// repeatsName reports whether a label has two rows of one name.
func repeatsName(rows []*entry, of []int) bool {
	seen := map[int][]string{}
	for i, e := range rows {
		name := strings.ToLower(e.text(nameColumn))
		if slices.Contains(seen[of[i]], name) {
			return true
		}
		seen[of[i]] = append(seen[of[i]], name)
	}
	return false
}

// sameHeaders reports whether two headers have the same words.
func sameHeaders(a, b []column) bool {
	return slices.EqualFunc(a, b, func(x, y column) bool { return strings.EqualFold(x.text, y.text) })
}
