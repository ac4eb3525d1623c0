package extract

import (
	"math"
	"slices"
	"strings"
)

// splitTables puts the right one of two tables side by side below the left one.
func (r *reader) splitTables(page int) {
	l := &r.pages[page]
	for i := 0; i < len(l.lines); i++ {
		cut, ok := secondTable(l.lines[i], l.em)
		if !ok {
			continue
		}
		end := i + 1
		for end < len(l.lines) && !crosses(l.lines[end], cut, l.em) {
			end++
		}
		var left, right []*line
		shift := l.lines[end-1].y - l.lines[i].y + 3*l.em
		for _, whole := range l.lines[i:end] {
			a, b := *whole, *whole
			a.cells, b.cells = nil, nil
			for _, c := range whole.cells {
				if c.x0 < cut {
					a.cells = append(a.cells, c)
				} else {
					c.y += shift
					b.cells = append(b.cells, c)
				}
			}
			b.y += shift
			if len(a.cells) > 0 {
				left = append(left, &a)
			}
			if len(b.cells) > 0 {
				right = append(right, &b)
			}
		}
		for _, below := range l.lines[end:] {
			below.y += 2 * shift
			for k := range below.cells {
				below.cells[k].y += 2 * shift
			}
		}
		l.lines = slices.Concat(l.lines[:i:i], left, right, l.lines[end:])
		i += len(left) + len(right) - 1
	}
}

// secondTable returns the left edge of the second table of a header line. Each table has
// a column of names, and a column of values behind it.
func secondTable(header *line, em float64) (cut float64, ok bool) {
	columns := headerColumns(headerCells(header))
	if !isHeader(columns) {
		return 0, false
	}
	names, values := 0, 0
	for _, c := range columns {
		switch c.kind {
		case nameColumn:
			if names == 1 && values == 1 {
				cut = c.x0 - 0.5*em
			}
			names++
		case valueColumn:
			values++
		default:
		}
	}
	return cut, names == 2 && values == 2 && cut > 0
}

// crosses reports whether a line has a cell on both sides of the cut, such as a footer.
func crosses(l *line, cut, em float64) bool {
	return slices.ContainsFunc(l.cells, func(c cell) bool { return c.x0 < cut-em && c.x1 > cut+em })
}

// readCards reads results whose value is below the name, side by side, as portals show
// them: name, value with unit, and perhaps the range.
func (r *reader) readCards(page int) {
	l := r.pages[page]
	for i, names := range l.lines {
		if names.used || slices.ContainsFunc(names.cells, func(c cell) bool { return r.knows(c.text()) < 0.95 && !mayNameCard(c.text()) }) {
			continue
		}
		var drafts []draft
		used := map[*line]bool{names: true}
		for _, name := range names.cells {
			d, ok := r.cardOf(l, i, name, used)
			if !ok || r.knows(d.name) < 0.95 && d.rng == "" {
				break
			}
			d.page = page
			drafts = append(drafts, d)
		}
		if len(drafts) < len(names.cells) {
			continue
		}
		for line := range used {
			line.used = true
		}
		r.drafts = append(r.drafts, drafts...)
	}
}

func isUnitAndFlag(text string) bool {
	_, after := takeUnit(text)
	return after == "" || isFlagMark(after)
}

// mayNameCard reports whether an unknown text can be the name of a card.
func mayNameCard(text string) bool {
	_, _, isHeader := headerKind(text)
	return !isHeader && looksLikeName(text) && !commentLine.MatchString(text)
}

// cardOf reads a card: the value, the unit, the range, the flag and the notes that are
// below the name of a test. i is the index of the name's line. ok is false without a
// number, or with a number that has neither a unit nor a range. cardOf adds the lines
// that it uses to used.
func (r *reader) cardOf(l layout, i int, name cell, used map[*line]bool) (d draft, ok bool) {
	d = draft{name: name.text(), y: name.y, panel: r.panel, specimen: r.specimen, words: slices.Clone(name.words)}
	last := l.lines[i].y
	for j := i + 1; j < len(l.lines) && l.lines[j].y-last < 2.6*l.em; j++ {
		below := l.lines[j]
		at := slices.IndexFunc(below.cells, func(c cell) bool { return math.Abs(c.x0-name.x0) < l.em })
		if below.used || at < 0 || r.knows(below.cells[at].text()) >= 0.95 {
			break
		}
		words := below.cells[at].words
		if d.value == "" && at+1 < len(below.cells) && isUnit(below.cells[at+1].text()) { // a wide gap before the unit
			words = append(slices.Clone(words), below.cells[at+1].words...)
		}
		text := newCell(words).text()
		v, isValue := ParseValue(text, r.commas)
		kind := ParseRange(text, r.commas, Patient{Age: -1}).Kind
		switch {
		case d.value == "" && !timeName.MatchString(text) && isValue && v.Number != nil && isUnitAndFlag(v.Rest):
			d.value, d.valueWords = text, words
		case d.value == "":
			return d, false
		case kind == RangeInterval || kind == RangeUpper || kind == RangeLower:
			d.rng, d.rangeWords = strings.TrimSpace(rangeLabel.ReplaceAllString(plainSpaces(text), "")), words
		case isUnit(text):
			d.unit = text
		case isFlagMark(text):
			d.flag = strings.Trim(text, "()")
		case isValue: // a second value: a table that is turned
			d.reasons = append(d.reasons, ColumnUncertain)
		default:
			if note := tidyNote(text); note != "" {
				d.notes = append(d.notes, note)
			}
		}
		d.words = append(d.words, words...)
		used[below] = true
		last = below.y
	}
	return d, d.value != "" && (d.unit != "" || d.rng != "" || strings.Contains(d.value, " "))
}
