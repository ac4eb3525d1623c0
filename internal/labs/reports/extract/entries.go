package extract

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// entry is one line of a page, split into the parts of a row.
type entry struct {
	line   *line
	parts  map[columnKind][]cell
	anchor bool // has a value
	used   bool
	// reasons are doubts about the place of the value.
	reasons []Reason
	notes   []string // words beside the row
	// specimen is the text of the column of specimens.
	specimen string
	// date is the date in a column of its own, and dateHeader the header of the column. clock
	// is the time in another column.
	date, dateHeader, clock string
	isClosed                bool // its line has the whole name
}

func (e *entry) text(kind columnKind) string {
	var parts []string
	for _, c := range e.parts[kind] {
		parts = append(parts, c.text())
	}
	return strings.Join(parts, " ")
}

func (e *entry) addNote(text string) {
	if text = tidyNote(text); text != "" {
		e.notes = append(e.notes, text)
	}
}

// resolve joins wrapped names and ranges to their rows and follows headings.
func (r *reader) resolve(entries []*entry, page int) {
	em := r.pages[page].em
	r.dropBands(entries, em)
	joinHalves(entries, em)
	for i, e := range entries {
		if e.anchor && !e.isClosed {
			r.adoptNames(entries, i, em)
		}
	}
	for i, e := range entries {
		if e.anchor {
			gatherHalves(entries, i, em)
		}
	}
	r.keepEmptyRows(entries, em)
	r.keepUnknownRows(entries, em)
	r.fillGroups(entries, em)
	r.rangesBelow(entries, em)
	for i, e := range entries {
		if e.anchor || e.used {
			continue
		}
		r.continuation(entries, i, em)
	}
	var last *entry
	y := 0.0 // of the row or of its last note
	for i, e := range entries {
		if !e.anchor {
			switch {
			case e.used:
			case r.noteBelow(last, e, y, em):
				y = e.line.y
			default:
				if name := e.line.text(); len(e.line.cells) == 1 && r.knows(name) >= 0.95 {
					r.analyte = strings.Trim(name, " :")
				}
				r.heading(entries, i, em)
			}
			continue
		}
		if len(e.parts[nameColumn]) == 0 {
			r.joinValue(last, e, em)
			continue
		}
		before := len(r.drafts)
		r.emit(e, page)
		if last, y = e, e.line.y; len(r.drafts) == before {
			last = nil // refused: what follows is about no row
		}
	}
}

// keepEmptyRows keeps rows that have a name and a range, and no value. Otherwise their
// range joins another row.
func (r *reader) keepEmptyRows(entries []*entry, em float64) {
	for i, e := range entries {
		if e.anchor || e.used || len(e.parts[nameColumn]) == 0 || len(e.parts[valueColumn]) > 0 {
			continue
		}
		isHalf := func(o *entry) bool { return math.Abs(o.line.y-e.line.y) < 0.95*em }
		if i > 0 && isHalf(entries[i-1]) || i+1 < len(entries) && isHalf(entries[i+1]) {
			continue
		}
		rng := ParseRange(e.text(rangeColumn), r.commas, Patient{Age: -1})
		_, hasUnit := knownUnit(e.text(unitColumn))
		hasRange := rng.Kind != RangeOther && rng.Kind != RangeNone && len(rng.Choices) == 0
		known := r.knows(e.text(nameColumn))
		if hasRange && (known >= 0.95 || hasUnit && looksLikeName(e.text(nameColumn))) || hasUnit && known >= 0.95 {
			e.anchor, e.reasons = true, append(e.reasons, ValueMissing)
		}
	}
}

// gatherHalves gives a row the units and ranges of two lines whose middle is its
// own line.
func gatherHalves(entries []*entry, i int, em float64) {
	e := entries[i]
	for _, kind := range []columnKind{unitColumn, rangeColumn} {
		if len(e.parts[kind]) > 0 {
			continue
		}
		for j := max(0, i-2); j < min(len(entries), i+3); j++ {
			o := entries[j]
			if dy := math.Abs(o.line.y - e.line.y); j == i || o.anchor || dy > 0.95*em || len(o.parts[kind]) == 0 || isFlagMark(o.text(kind)) {
				continue
			}
			e.parts[kind] = append(e.parts[kind], o.parts[kind]...)
			o.parts[kind] = nil
			if len(o.parts[nameColumn]) == 0 {
				o.used, o.line.used = true, true
			}
		}
	}
}

// joinHalves joins values that are broken at a hyphen, or after "not" or a comparator.
func joinHalves(entries []*entry, em float64) {
	for i, e := range entries {
		if !brokenValue.MatchString(e.text(valueColumn)) {
			e.joinBrokenRange(entries[i+1:], em)
			continue
		}
		for _, next := range entries[i+1:] {
			if next.line.y-e.line.y > 1.7*em {
				break
			}
			if len(next.parts[valueColumn]) == 0 {
				continue
			}
			if len(e.parts[nameColumn]) > 0 {
				e.takeSecondHalf(next)
			} else {
				next.parts[valueColumn] = append(slices.Clone(e.parts[valueColumn]), next.parts[valueColumn]...)
				next.parts[rangeColumn] = append(slices.Clone(e.parts[rangeColumn]), next.parts[rangeColumn]...)
				e.anchor, e.used, e.line.used = false, true, true
			}
			break
		}
	}
}

// joinBrokenRange adds the next line to a row whose range ends there: "Non-" and "reactive".
func (e *entry) joinBrokenRange(below []*entry, em float64) {
	if !e.anchor || len(below) == 0 || !brokenValue.MatchString(e.text(rangeColumn)) {
		return
	}
	if next := below[0]; !next.anchor && len(next.parts[rangeColumn]) > 0 && next.line.y-e.line.y < 1.7*em {
		e.takeSecondHalf(next)
	}
}

// brokenValue is a value that ends on the next line.
var brokenValue = regexp.MustCompile(`(?i)^(?:non-|not|none|[<>≤≥]=?)$`)

// takeSecondHalf adds the second line of a row, also of its name: "HIV 1/2" and "antibody".
func (e *entry) takeSecondHalf(next *entry) {
	for _, kind := range []columnKind{nameColumn, valueColumn, unitColumn, rangeColumn, flagColumn} {
		e.parts[kind] = append(e.parts[kind], next.parts[kind]...)
	}
	e.anchor, next.anchor, next.used, next.line.used = true, false, true, true
}

// joinValue adds a second line of a value in words to its row: "Non-" and
// "Reactive".
func (r *reader) joinValue(last, e *entry, em float64) {
	if last == nil || len(r.drafts) == 0 || e.line.y-last.line.y > 1.8*em {
		return
	}
	d := &r.drafts[len(r.drafts)-1]
	if before := last.text(valueColumn); strings.HasSuffix(before, "-") || strings.EqualFold(before, "not") || strings.EqualFold(before, "none") {
		separator := " "
		if strings.HasSuffix(before, "-") {
			separator = ""
		}
		d.value += separator + e.text(valueColumn)
		e.line.used = true
	}
}

// adoptNames finds the name of a value in the middle of a row of several lines.
func (r *reader) adoptNames(entries []*entry, i int, em float64) {
	e := entries[i]
	var above, below []*entry
	for j := i - 1; j >= 0 && e.line.y-entries[j].line.y < 1.9*em; j-- {
		if o := entries[j]; !o.anchor && !o.used && len(o.parts[nameColumn]) > 0 && len(o.parts[valueColumn]) == 0 {
			above = append([]*entry{o}, above...)
		} else if o.anchor {
			break
		}
	}
	for j := i + 1; j < len(entries) && entries[j].line.y-e.line.y < 1.9*em; j++ {
		if o := entries[j]; !o.anchor && !o.used && len(o.parts[nameColumn]) > 0 && len(o.parts[valueColumn]) == 0 {
			below = append(below, o)
		} else if o.anchor {
			break
		}
	}
	own := e.parts[nameColumn]
	bestScore, bestAbove, bestBelow := -1.0, []*entry(nil), []*entry(nil)
	alone := 0.0
	if len(own) > 0 {
		alone = r.knows(e.text(nameColumn))
		bestScore = 0.9
	}
	for a := 0; a <= min(2, len(above)); a++ {
		for b := 0; b <= min(2, len(below)); b++ {
			chosen := append(slices.Clone(above[len(above)-a:]), below[:b]...)
			if len(chosen) == 0 || len(own) > 0 && (a == 0 || startsLower(above[len(above)-a].text(nameColumn)) || slices.ContainsFunc(chosen, func(o *entry) bool { return !r.sameStyle(o, e) })) {
				continue
			}
			score := r.knows(joinWrapped(joinedName(above[len(above)-a:]), e.text(nameColumn), joinedName(below[:b])))
			isTail := len(own) > 0 && a == 1 && b == 0 && r.isTailOfName(e)
			if isTail {
				score = max(score, 0.91)
			}
			if len(own) > 0 && !isTail && score < max(0.95, min(0.99, alone+0.02)) {
				continue
			}
			distance := 0.0
			for _, o := range chosen {
				distance = max(distance, math.Abs(o.line.y-e.line.y))
			}
			if len(own) > 0 {
				score += 0.02 * float64(len(chosen))
			} else {
				score -= 0.1 * distance / em
			}
			if a == b {
				score += 0.06 // the value is in the middle
				if a == 1 && len(own) == 0 && distance < 0.95*em && r.doc.Pages[e.line.page].Source == FromText && !chosen[1].parts[nameColumn][0].bold {
					score += 1 // of two lines
				}
			}
			if score > bestScore {
				bestScore, bestAbove, bestBelow = score, above[len(above)-a:], below[:b]
			}
		}
	}
	var names []cell
	for _, o := range bestAbove {
		names = append(names, o.parts[nameColumn]...)
	}
	names = append(names, own...)
	for _, o := range bestBelow {
		names = append(names, o.parts[nameColumn]...)
	}
	e.parts[nameColumn] = names
	for _, o := range slices.Concat(bestAbove, bestBelow) {
		for _, kind := range []columnKind{rangeColumn, unitColumn, flagColumn} {
			e.parts[kind] = append(e.parts[kind], o.parts[kind]...)
		}
		o.used, o.line.used = true, true
	}
}

// isTailOfName reports whether the name of a row is the second line of an unknown one: it
// begins with a word in small letters.
func (r *reader) isTailOfName(e *entry) bool {
	name := e.text(nameColumn)
	return smallWord.MatchString(name) && r.knows(name) < 0.9
}

var smallWord = regexp.MustCompile(`^[a-z]{2,}(?:\s|$)`)

// sameStyle reports whether a line can be part of a row's name: it looks like it
// and is no heading.
func (r *reader) sameStyle(o, e *entry) bool {
	a, b := o.parts[nameColumn][0], e.parts[nameColumn][0]
	return a.bold == b.bold && math.Abs(a.h-b.h) < r.heightTolerance(e)*b.h && math.Abs(a.x0-b.x0) < b.h && !panelWords.MatchString(o.text(nameColumn)) && !methodLine.MatchString(o.text(nameColumn))
}

func joinedName(entries []*entry) string {
	var parts []string
	for _, e := range entries {
		parts = append(parts, e.text(nameColumn))
	}
	return joinWrapped(parts...)
}

// joinWrapped joins the lines of a wrapped text.
func joinWrapped(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p == "" {
			continue
		}
		if s := b.String(); s != "" && !strings.HasSuffix(s, "-") && !strings.HasSuffix(s, "/") {
			b.WriteByte(' ')
		}
		b.WriteString(p)
	}
	return b.String()
}

// neighbours are the rows above and below a line without a value.
type neighbours struct {
	above, below *entry
	up, down     float64 // distances to them; infinite if there is none
}

// neighboursOf finds the next rows above and below an entry.
func neighboursOf(entries []*entry, i int) neighbours {
	e := entries[i]
	n := neighbours{up: math.Inf(1), down: math.Inf(1)}
	for j := i - 1; j >= 0 && n.above == nil; j-- {
		if entries[j].anchor {
			n.above = entries[j]
		}
	}
	for j := i + 1; j < len(entries) && n.below == nil; j++ {
		if entries[j].anchor {
			n.below = entries[j]
		}
	}
	if n.above != nil {
		last := n.above.line.y
		for j := i - 1; j >= 0 && entries[j] != n.above; j-- { // lines between that belong to it
			if entries[j].used {
				last = max(last, entries[j].line.y)
			}
		}
		n.up = e.line.y - last
	}
	if n.below != nil {
		n.down = n.below.line.y - e.line.y
	}
	return n
}

// continuation adds a line without a value to the row above or below it.
func (r *reader) continuation(entries []*entry, i int, em float64) {
	e, n := entries[i], neighboursOf(entries, i)
	if e.continueFlag(n, em) {
		return
	}
	name := e.text(nameColumn)
	if !r.continueRange(e, n, em) {
		return
	}
	if name == "" || len(e.parts[nameColumn]) > 1 || methodLine.MatchString(name) || commentLine.MatchString(name) || len(strings.Fields(name)) > 6 {
		return
	}
	r.continueName(e, n, em)
}

// continueFlag adds a line that is only a flag to the nearer row: "High" under a bar.
func (e *entry) continueFlag(n neighbours, em float64) bool {
	near := n.above
	if n.down < n.up {
		near = n.below
	}
	if len(e.line.cells) != 1 || len(e.parts[nameColumn]) > 0 || near == nil || min(n.up, n.down) >= 1.6*em {
		return false
	}
	if text := e.line.cells[0].text(); len(text) <= 1 || !isFlagMark(text) || len(near.parts[flagColumn]) > 0 {
		return false
	}
	near.parts[flagColumn] = e.line.cells
	e.used, e.line.used = true, true
	return true
}

// continueRange adds the range and the unit of a line to one of its rows. It returns false
// if the line has a range or a unit that belongs to no row.
func (r *reader) continueRange(e *entry, n neighbours, em float64) bool {
	rng, unit := e.text(rangeColumn), e.text(unitColumn)
	if unit != "" && !looksLikeUnit(unit) {
		if _, joins := knownUnit(joinWrapped(textOf(n.above, unitColumn), unit)); !joins {
			unit = ""
			e.parts[unitColumn] = nil
		}
	}
	if rng == "" && unit == "" {
		return true
	}
	target := n.above
	if n.down < n.up-0.2*em && !(rng != "" && n.above != nil && n.up < 1.9*em && r.continuesChoices(n.above.text(rangeColumn), rng)) {
		target = n.below
	}
	if target == nil || min(n.up, n.down) > 1.9*em || e.text(valueColumn) != "" {
		return false
	}
	if rng != "" && !r.continuesRange(target, rng, target == n.above) && unit == "" {
		return false
	}
	for _, kind := range []columnKind{rangeColumn, unitColumn} {
		e.moveTo(target, kind, target == n.above)
	}
	return true
}

// moveTo adds the cells of a line to those of a row, behind them or before them.
func (e *entry) moveTo(target *entry, kind columnKind, behind bool) {
	if behind {
		target.parts[kind] = append(target.parts[kind], e.parts[kind]...)
	} else {
		target.parts[kind] = append(slices.Clone(e.parts[kind]), target.parts[kind]...)
	}
	e.used, e.line.used = true, true
}

// continueName adds the name of a line to the name of one of its rows.
func (r *reader) continueName(e *entry, n neighbours, em float64) {
	name, size := e.text(nameColumn), e.parts[nameColumn][0].h
	fits := func(o *entry, gap float64) bool {
		return o != nil && !o.isClosed && gap < max(1.6*em, 1.3*size) && len(o.parts[nameColumn]) > 0 && math.Abs(o.parts[nameColumn][0].h-size) < r.heightTolerance(e)*size && math.Abs(o.parts[nameColumn][0].x0-e.parts[nameColumn][0].x0) < 1.5*em
	}
	if fits(n.above, n.up) && (r.endsName(n.above, e, n.up, em) || r.isSecondLine(n.above, e, n.up, n.down)) {
		e.moveTo(n.above, nameColumn, true)
		return
	}
	if fits(n.below, n.down) && !startsLower(name) {
		joined := joinWrapped(name, n.below.text(nameColumn))
		if k, alone := r.knows(joined), r.knows(n.below.text(nameColumn)); k > alone+0.02 && k >= 0.9 {
			e.moveTo(n.below, nameColumn, false)
		}
	}
}

// endsName reports whether the name of a line is the end of the name of the row above it.
func (r *reader) endsName(above, e *entry, up, em float64) bool {
	before, name := above.text(nameColumn), e.text(nameColumn)
	isHeading := panelWords.MatchString(name) && !startsLower(name)
	isBold := e.parts[nameColumn][0].bold
	joined, alone := r.knows(joinWrapped(before, name)), r.knows(before)
	switch {
	case joined > alone+0.02 && joined >= 0.9, joined >= 0.97 && !isHeading && !isBold:
		return true
	case openParenthesis(before), strings.HasSuffix(before, ","), strings.HasSuffix(before, "-"), strings.HasSuffix(before, "/"):
		return true
	case startsLower(name) && (joined >= 0.9 || alone < 0.9):
		return true
	}
	return alone < 0.9 && r.knows(name) < 0.9 && !isHeading && !isBold && up < 1.35*em
}

// isSecondLine reports whether a line below a row with a known name belongs to the name:
// "CSF" below "Glucose" makes it another analyte. The line does so if it is nearer to its
// row than the next row is. If it is not, it may also be a remark or a heading, and the
// row needs a review.
func (r *reader) isSecondLine(above, e *entry, up, down float64) bool {
	name := e.parts[nameColumn][0]
	text := name.text()
	switch {
	case r.doc.Pages[e.line.page].Source != FromText, len(e.line.cells) != 1, up > 1.3*name.h, name.bold && !above.parts[nameColumn][0].bold:
		return false
	case strings.Contains(text, ":"), strings.HasSuffix(text, "."), isUnit(text), footLine.MatchString(text), sectionOfTime.MatchString(text), historyHeading.MatchString(text), methodName.MatchString(text):
		return false
	case hasValue(text), decimalsForm.MatchString(text), len(strings.Fields(text)) > 8, olderName.MatchString(text), repeatLine.MatchString(text):
		return false
	case castsDoubt(text), criticalIn(text) != "", plainNotes.MatchString(text) && specimenIn(text) == "" && !fastingLine.MatchString(text):
		return false
	}
	isFluid := fluidLine.MatchString(text)
	switch {
	case up < down-0.05*name.h && (!math.IsInf(down, 1) || isFluid || !panelWords.MatchString(text)):
		return true
	case startsLower(text) || text[0] == '(' || text[0] >= '0' && text[0] <= '9':
		above.doubt(NameUncertain)
		return len(strings.Fields(text)) <= 4
	case isFluid:
		above.doubt(NameUncertain)
	}
	return false
}

var (
	// methodName is a word of a line that only names the method of the row above it.
	methodName = regexp.MustCompile(`(?i)\b(?:hexokinase|jaff[eé]|kinetic|enzymatic|ifcc|dgkc|ngsp|hplc|lc-?ms|e?clia|elisa|cmia|ise|icp-?ms|immunoassay|immunoturb\w*|(?:electro)?chemilumin\w*|turbidim\w*|nephelom\w*|photom\w*|colorim\w*|spectrophot\w*|` +
		`potentiom\w*|bromocresol|biuret|westergren|friedewald|ckd-epi|god-?pod|flow cytometry|impedance)\b`)
	// fluidLine is a line that only names a specimen other than blood.
	fluidLine = regexp.MustCompile(`(?i)^\(?(?:(?:random|spot|24[ -]?h(?:ours?)?) )?(?:urine|csf|cerebrospinal fluid|sweat|stool|fa?eces|saliva|sputum|semen|dialysate|ascites|bile|(?:pleural|peritoneal|ascitic|synovial|joint|pericardial|amniotic|body|drain) fluid)\)?$`)
	// repeatLine is a remark about a second measurement.
	repeatLine = regexp.MustCompile(`(?i)^\(?(?:repeat|re-?check|re-?run|confirm|corrected|amended|duplicate)`)
	// fastingLine is the second line of a name such as "Glucose, fasting 8 h".
	fastingLine = regexp.MustCompile(`(?i)^\(?fasting\b[^:]*$`)
)

func (e *entry) doubt(reason Reason) {
	if !slices.Contains(e.reasons, reason) {
		e.reasons = append(slices.Clone(e.reasons), reason)
	}
}

func textOf(e *entry, kind columnKind) string {
	if e == nil {
		return ""
	}
	return e.text(kind)
}

// isFlagMark reports whether text is only a flag.
func isFlagMark(text string) bool {
	_, ok := flagOf(text)
	return ok
}

// heightTolerance returns the share by which heights of one font differ. A
// recognised word is as high as its own letters.
func (r *reader) heightTolerance(e *entry) float64 {
	if r.doc.Pages[e.line.page].Source == FromOCR {
		return 0.45
	}
	return 0.12
}

func openParenthesis(text string) bool { return strings.Count(text, "(") > strings.Count(text, ")") }

// continuesRange reports whether text adds to the range of a row.
func (r *reader) continuesRange(target *entry, text string, after bool) bool {
	before := target.text(rangeColumn)
	joined := before + " " + text
	if !after {
		joined = text + " " + before
	}
	who := Patient{Age: -1}
	return ParseRange(joined, r.commas, who).Kind != RangeOther || ParseRange(text, r.commas, who).Kind != RangeOther || ParseRange(before, r.commas, who).Kind == RangeOther
}

// continuesChoices reports whether a line adds to labelled ranges: "F: 12 - 15"
// to "M: 13 - 17".
func (r *reader) continuesChoices(before, text string) bool {
	who := Patient{Age: -1}
	have, more := ParseRange(before, r.commas, who).Choices, ParseRange(text, r.commas, who).Choices
	if len(have) == 0 || len(more) == 0 {
		return false
	}
	for _, c := range more {
		if slices.ContainsFunc(have, func(h Choice) bool { return strings.EqualFold(h.Label, c.Label) }) || maleLabel.MatchString(c.Label) {
			return false
		}
	}
	return true
}

// heading follows the name of a panel and the specimen.
func (r *reader) heading(entries []*entry, i int, em float64) {
	l := entries[i].line
	text := strings.TrimSpace(l.text())
	if m := sectionOfTime.FindStringSubmatch(text); m != nil {
		r.older, r.history = previousHeader.MatchString(m[1]), false
		return
	}
	if historyHeading.MatchString(text) {
		r.history = true
		return
	}
	specimen := specimenIn(text)
	if m := specimenLabel.FindStringSubmatchIndex(text); m != nil {
		if s := specimenIn(text[m[1]:]); s != "" {
			r.specimen = s
		}
	} else if len(l.cells) > 2 {
		return
	}
	text = strings.TrimSpace(strings.TrimRight(l.cells[0].text(), ": "))
	if m := specimenLabel.FindStringIndex(text); m != nil {
		text = strings.TrimSpace(text[:m[0]])
	}
	if text == "" || startsLower(text) || len(text) > 60 || len(strings.Fields(text)) > 8 || notARow.MatchString(text) || commentLine.MatchString(text) || strings.HasSuffix(text, ".") {
		return
	}
	isPanel := panelWords.MatchString(text)
	if !isPanel && reportTitle.MatchString(text) {
		return
	}
	namesSpecimen := specimen != "" && len(l.cells) == 1 && len(strings.Fields(text)) <= 4
	if !isPanel && !namesSpecimen && !l.cells[0].bold && text != strings.ToUpper(text) {
		return
	}
	if !isPanel && strings.IndexFunc(text, func(r rune) bool { return r >= '0' && r <= '9' }) >= 0 {
		return
	}
	if hasValue(text) {
		return
	}
	// A heading is followed by a row or by another heading, not by text.
	r.history = false
	r.panel = strings.TrimSpace(continuedMark.ReplaceAllString(text, ""))
	if specimenLabel.FindStringIndex(l.text()) == nil {
		r.specimen = specimen
	}
}
