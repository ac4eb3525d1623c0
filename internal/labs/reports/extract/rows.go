package extract

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/hl7"
)

// reader reads one document.
type reader struct {
	dict     *dictionary
	known    map[string]float64 // answers of knows
	doc      Document
	commas   bool // the comma is the decimal sign
	notation notation
	flags    bool // the report marks values outside of their range
	columns  []column
	above    map[Reason]string // the last texts of columns whose blank cells have that of the cell above
	guessed  bool              // another column than that of the values may hold the current ones
	// isContinued says that the columns are those of a header on an earlier page.
	isContinued bool
	panel       string
	specimen    string
	analyte     string // the last line that is only the name of an analyte
	older       bool   // under a heading such as "Previous results"
	history     bool   // under a heading such as "Medical history"
	drafts      []draft
	// collected are the days of collection of the report, as YYYY-MM-DD where they are
	// certain, and order is that of day and month.
	collected []string
	order     dateOrder
	// specimenNotes are the doubts about the specimens of a page.
	specimenNotes map[int][]string
	pages         []layout
	mentions      []mention // of persons
}

// knows returns how well the dictionary knows a name. Layouts ask often for the
// same one.
func (r *reader) knows(name string) float64 {
	score, ok := r.known[name]
	if !ok {
		score = r.dict.knows(name)
		r.known[name] = score
	}
	return score
}

var (
	notARow     = regexp.MustCompile(`(?i)^(?:page|printed|phone|tel|fax|date|time|report|reported|patient|name|dob|d\.o\.b|birth|born|age|sex\s*[:/]|gender|id|mrn|accession|specimen|sample|collected|collection|received|client|npi|clia|room|loc|location|account|acct|order|ordering|physician|provider|doctor|dr|address|copy|lab no|lab id|request|requisition|fasting|status|performed|test performed|director|medical director|www|http|email|e-mail|surname|first name|last name|ref by|referred|registered|visit|barcode|uhid|bill|ssn|nhs|hospital no|ward|time of|re|department|dear|yours|note|key|flags|legend|comment|comments|interpretation|method|reference|end of|\*+)(?:\b|\s|:|$)|^sex$`)
	methodLine  = regexp.MustCompile(`(?i)^\(?(?:method|methodology|technique|performed|by|instrument|analy[sz]er|specimen|sample|note|comment|reference|kit|principle)\b\s*[:)-]?`)
	commentLine = regexp.MustCompile(`(?i)\b(?:please|interpret|advised|recommended|should|performed at|performed by|this test|for more information|may be|has been|is not|are given|cutoff|according|guidelines?|clinical picture)\b`)
	panelWords  = regexp.MustCompile(`(?i)\b(?:panel|profile|count|differential|urinalysis|urine|chemistry|biochemistry|ha?ematology|lipids?|serology|endocrin\w*|thyroid|metabolic|hepatic|liver|renal|kidney|coagulation|immunology|microbiology|microscopy|microscopic|virology|hormones?|vitamins?|iron studies|studies|function tests?|cardiac|diabetes|tumou?r markers|allergy|electrolytes|cbc|cmp|bmp|sediment|dipstick|screen|exam\w*|toxicology|blood gas\w*)\b`)
)

// readPage reads the tables and single rows of a page.
func (r *reader) readPage(page int) {
	r.splitTables(page)
	r.continueColumns(page)
	l := r.pages[page]
	r.readCulture(page)
	r.readCards(page)
	blocks := r.readBlocks(page)
	entries := make([]*entry, 0, len(l.lines))
	// Rows that belong together end at a header: a run is what is between two.
	flush := func() {
		r.resolve(entries, page)
		entries = entries[:0]
	}
	for i := 0; i < len(l.lines); i++ {
		if l.lines[i].used { // part of a block or a culture
			if len(blocks) > 0 && blocks[0].at == l.lines[i] {
				flush()
				d := blocks[0].draft
				d.panel, d.specimen = r.panel, r.specimen
				if r.acceptable(&d) {
					r.drafts = append(r.drafts, d)
				}
				blocks = blocks[1:]
			}
			if text := l.lines[i].text(); cultureLabel.MatchString(text) { // the heading above it is of another sample
				flush()
				if s := specimenIn(text); s != "" && r.specimen != "" && s != r.specimen {
					r.panel, r.specimen = "", ""
				}
			}
			continue
		}
		if columns, used, guessed := detectHeader(l.lines, i, l.em); used > 0 {
			if len(entries) > 0 && i > 0 && !entries[len(entries)-1].anchor {
				if more, ok := headerAbove(columns, l.lines[i-1], l.lines[i].y, l.em); ok {
					columns = more
					l.lines[i-1].used = true
					entries = entries[:len(entries)-1]
				}
			}
			flush()
			r.history, r.isContinued = false, false
			if !sameHeaders(columns, r.columns) {
				r.above = map[Reason]string{}
			}
			r.columns, r.guessed = chooseDates(columns, r.dateOrder(Metadata{}))
			r.guessed = r.guessed || guessed
			for _, h := range l.lines[i : i+used] {
				h.used = true
			}
			i += used - 1
			continue
		}
		entries = append(entries, r.split(l.lines[i], l.em))
	}
	flush()
}

// split assigns a line's cells to the parts of a row.
func (r *reader) split(l *line, em float64) *entry {
	if e := r.labelledAnswer(l, em); e != nil {
		return e
	}
	e := &entry{line: l, parts: map[columnKind][]cell{}}
	text := l.text()
	if notARow.MatchString(text) && r.knows(l.cells[0].text()) < 0.9 && !r.isCompleteLine(l, em) {
		if r.columns != nil && methodLine.MatchString(text) { // beside the second line of a range
			for _, c := range splitByColumns(l, r.columns, em) {
				if kind := r.columns[place(r.columns, c, em)].kind; kind == rangeColumn || kind == unitColumn {
					e.parts[kind] = append(e.parts[kind], c)
				}
			}
		}
		if r.columns != nil && len(l.cells) == 1 && fastingLine.MatchString(text) && r.columns[place(r.columns, l.cells[0], em)].kind == nameColumn {
			e.parts[nameColumn] = l.cells
		}
		return e
	}
	if isProse(l) || len(l.cells) == 1 && len(l.cells[0].words) > 2 && castsDoubt(text) && r.insideCell(l) == nil {
		return e // columns would cut it
	}
	if answer := r.answerWithoutColon(l, em); answer != nil {
		return answer
	}
	if r.columns != nil {
		last, bounds := otherColumn, map[bound][]cell{}
		for _, c := range splitByColumns(l, r.columns, em) {
			column := r.columns[place(r.columns, c, em)]
			if last == valueColumn && column.kind != valueColumn && r.continuesAnswer(e.parts[valueColumn], c, em) {
				e.parts[valueColumn] = append(e.parts[valueColumn], c)
				continue
			}
			last = column.kind
			if column.bound != noBound {
				bounds[column.bound] = append(bounds[column.bound], c)
				continue
			}
			isUnder := c.x0 < column.x1+em && c.x1 > column.x0-em
			isCode := siteHeader.MatchString(column.text) || specimenHeader.MatchString(column.text)
			if isUnder && isCode && isFlagMark(c.text()) { // the letter of a laboratory or of a specimen
				if e.specimen == "" && specimenHeader.MatchString(column.text) {
					e.specimen = c.text()
				}
				continue
			}
			if _, isFlag := flagOf(c.text()); !isFlag && commentHeader.MatchString(column.text) {
				e.addNote(c.text())
				continue
			}
			if specimenHeader.MatchString(column.text) || panelHeader.MatchString(column.text) && e.specimen == "" {
				e.specimen = c.text()
			}
			e.takeDate(c, column)
			e.parts[column.kind] = append(e.parts[column.kind], c)
		}
		e.takeBounds(bounds)
		r.repair(e, em)
		r.takeOlder(e)
		if r.guessed && e.anchor && !slices.Contains(e.reasons, ColumnUncertain) {
			e.reasons = append(e.reasons, ColumnUncertain)
		}
		if e.anchor {
			return e
		}
	}
	p := r.positional(l)
	if p == nil {
		p = r.datedRow(l)
	}
	if p != nil {
		if r.columns != nil && len(l.cells) > 1 { // a cell under another header is no value
			for _, c := range p.parts[valueColumn] {
				column := r.columns[place(r.columns, c, em)]
				isOther := column.kind == rangeColumn || column.kind == unitColumn || column.kind == previousColumn
				switch {
				case isOther && (r.isContinued || len(p.parts[unitColumn]) > 0 && len(p.parts[rangeColumn]) > 0): // the columns may be at other places
					p.reasons = append(p.reasons, ColumnUncertain)
				case isOther:
					return e
				}
				if column.kind == otherColumn && column.text != "" && hasKind(r.columns, valueColumn) {
					p.reasons = append(p.reasons, ColumnUncertain) // under words that are not known
				}
			}
		}
		if r.columns != nil && r.guessed || hasKind(r.columns, previousColumn) || (r.columns == nil || r.doc.Pages[l.page].Source == FromOCR) && otherNumber(p, r.commas) {
			p.reasons = append(p.reasons, ColumnUncertain)
		}
		return p
	}
	if answer := r.answerInCells(l, em); answer != nil {
		return answer
	}
	return e
}

// continuesAnswer reports whether a cell is the end of an answer in words, which the columns
// cut: "DETECTED Ct" and "24.3".
func (r *reader) continuesAnswer(value []cell, c cell, em float64) bool {
	if len(value) == 0 || c.x0-value[len(value)-1].x1 > 0.75*em {
		return false
	}
	if text := newCell(value[len(value)-1].words).text(); openParenthesis(text) && strings.Contains(c.text(), ")") {
		v, ok := ParseValue(value[0].text(), r.commas)
		return ok && v.Type == Boolean
	}
	if isFlagMark(c.text()) || isUnit(c.text()) {
		return false
	}
	kind := ParseRange(c.text(), r.commas, Patient{Age: -1}).Kind
	v, ok := ParseValue(value[0].text(), r.commas)
	return ok && v.Type == Boolean && (kind == RangeOther || kind == RangeTitre)
}

func hasKind(columns []column, kind columnKind) bool {
	return slices.ContainsFunc(columns, func(c column) bool { return c.kind == kind })
}

func isUnit(text string) bool {
	_, known := knownUnit(text)
	return known
}

var proseWords = wordSet("the is was were are of to if and for in at by this that with has have be been")

// isProse reports whether a line is running text, which the columns of a table above it
// would cut into pieces.
func isProse(l *line) bool {
	if len(l.cells) != 1 || len(l.cells[0].words) < 7 {
		return false
	}
	n := 0
	for _, w := range l.cells[0].words {
		if proseWords[strings.ToLower(w.Text)] {
			n++
		}
	}
	return n >= 2 || otherValueCue.MatchString(l.text())
}

// siteHeader is the header of a column that names the laboratory or the device of a row.
var siteHeader = regexp.MustCompile(`(?i)^(?:(?:perf(?:orming|\.)?|test(?:ing)?) )?(?:labs?|laboratory|sites?|loc(?:ation)?|tech|instrument|accred\w*)(?: (?:id|code|site|no\.?))?$`)

// bodySurface is the second line of the unit mL/min/1.73 m².
var bodySurface = regexp.MustCompile(`(?i)^/?\s*1[.,]73\s*(?:m|sq)`)

// repair moves cells that are in the wrong column by what they hold, and decides
// whether the line has a value.
func (r *reader) repair(e *entry, em float64) {
	if len(e.parts[nameColumn]) == 0 && len(e.parts[otherColumn]) > 0 && !slices.ContainsFunc(r.columns, func(c column) bool { return c.kind == nameColumn }) {
		e.parts[nameColumn] = e.parts[otherColumn][:1] // the header leaves names out
		e.parts[otherColumn] = e.parts[otherColumn][1:]
	}
	for _, kind := range []columnKind{nameColumn, valueColumn, unitColumn, rangeColumn, otherColumn} {
		kept := e.parts[kind][:0:0]
		for i, c := range e.parts[kind] {
			text := c.text()
			if _, ok := flagOf(text); ok && len(e.line.cells) > 2 && (kind != valueColumn && (kind != nameColumn || i > 0) || len(e.parts[valueColumn]) > 1) && !(kind == rangeColumn && len(e.parts[rangeColumn]) == 1 && (text == "-" || strings.EqualFold(text, "normal"))) {
				e.parts[flagColumn] = append(e.parts[flagColumn], c)
				continue
			}
			kept = append(kept, c)
		}
		e.parts[kind] = kept
	}
	// A number at the right edge of the value's column is near the unit's.
	value := e.text(valueColumn)
	if _, parses := ParseValue(value, r.commas); value == "" || isFlagMark(value) || !parses {
		for i, c := range e.parts[unitColumn] {
			if v, ok := ParseValue(c.text(), r.commas); ok && v.Number != nil && !isUnit(c.text()) && !bodySurface.MatchString(c.text()) {
				if isFlagMark(value) {
					e.parts[flagColumn] = append(e.parts[flagColumn], e.parts[valueColumn]...)
				}
				e.parts[valueColumn] = []cell{c}
				e.parts[unitColumn] = slices.Delete(slices.Clone(e.parts[unitColumn]), i, i+1)
				break
			}
		}
	}
	// A value in the column of flags.
	if len(e.parts[valueColumn]) == 0 && len(e.parts[flagColumn]) > 0 {
		for i, c := range e.parts[flagColumn] {
			if v, ok := ParseValue(c.text(), r.commas); ok && v.Number != nil {
				e.parts[valueColumn] = append(e.parts[valueColumn], c)
				e.parts[flagColumn] = slices.Delete(slices.Clone(e.parts[flagColumn]), i, i+1)
				break
			}
		}
	}
	if value = e.text(valueColumn); value == "" {
		return
	}
	if r.doc.Pages[e.line.page].Source == FromOCR {
		value = cleanNumber(value, r.commas)
	}
	if _, ok := ParseValue(value, r.commas); ok {
		e.anchor = true
		r.doubtColumn(e, em)
		return
	}
	if _, isUnit := knownUnit(value); isUnit {
		return
	}
	// Free text: only beside a known name.
	isShort := len(strings.Fields(value)) <= 6 || hl7.FindValueWord(value) == hl7.NotPerformed
	e.anchor = isShort && len(e.parts[nameColumn]) > 0 && r.knows(e.text(nameColumn)) >= 0.9 && !commentLine.MatchString(value)
}

// takeOlder uses an earlier value for a row without a current one. Otherwise the row is
// lost, and its range joins the next row.
func (r *reader) takeOlder(e *entry) {
	if e.anchor || len(e.parts[nameColumn]) == 0 || len(e.parts[valueColumn]) > 0 {
		return
	}
	for _, c := range e.parts[previousColumn] {
		if _, ok := ParseValue(c.text(), r.commas); ok {
			e.parts[valueColumn], e.anchor, e.reasons = []cell{c}, true, append(e.reasons, OlderResult)
			return
		}
	}
}

// hasOtherTime reports whether a row has values of other times of the day of its value.
func (r *reader) hasOtherTime(e *entry) bool {
	day := func(c column) time.Time { return c.date.Truncate(24 * time.Hour) }
	at := slices.IndexFunc(r.columns, func(c column) bool { return c.kind == valueColumn && !c.date.IsZero() })
	if at < 0 || !slices.ContainsFunc(r.columns, func(c column) bool { return c.kind == previousColumn && day(c).Equal(day(r.columns[at])) }) {
		return false
	}
	return slices.ContainsFunc(e.parts[previousColumn], func(c cell) bool {
		_, ok := ParseValue(c.text(), r.commas)
		return ok
	})
}

// otherNumber reports whether a line without a header has a second number that may
// be the value.
func otherNumber(e *entry, commas bool) bool {
	for _, c := range e.parts[otherColumn] {
		if v, ok := ParseValue(cleanNumber(c.text(), commas), commas); ok && v.Number != nil {
			return true
		}
	}
	return false
}

// doubtColumn marks a value that is not under its header when older results are
// next to it.
func (r *reader) doubtColumn(e *entry, em float64) {
	older := false
	for _, col := range r.columns {
		older = older || col.kind == previousColumn
	}
	if !older {
		return
	}
	if r.hasOtherTime(e) { // results of one day: the earlier ones are not in the row
		e.reasons = append(e.reasons, ColumnUncertain)
		return
	}
	for _, c := range e.parts[valueColumn] {
		for _, col := range r.columns {
			if col.kind == valueColumn && c.x0 < col.x1+em && c.x1 > col.x0-em {
				return
			}
		}
	}
	e.reasons = append(e.reasons, ColumnUncertain)
}

// positional splits a line without the help of a header: a known name, a value,
// and a unit or a range.
func (r *reader) positional(l *line) *entry {
	if len(l.cells) == 0 {
		return nil
	}
	e := &entry{line: l, parts: map[columnKind][]cell{}}
	for k := 1; k < min(len(l.cells), 4); k++ {
		v, ok := ParseValue(l.cells[k].text(), r.commas)
		if !ok {
			if _, isFlag := flagOf(l.cells[k].text()); isFlag || isCodeForm(l.cells[k].text()) {
				continue
			}
			return r.insideCell(l)
		}
		name := l.cells[0].text()
		known := r.knows(name) >= 0.85
		hasRange, hasUnit := false, false
		for _, c := range l.cells[k+1:] {
			text := c.text()
			_, unit := knownUnit(text)
			rng := ParseRange(text, r.commas, Patient{Age: -1})
			switch {
			case unit:
				e.parts[unitColumn] = append(e.parts[unitColumn], c)
				hasUnit = true
			case rng.Kind != RangeOther && rng.Kind != RangeNone:
				e.parts[rangeColumn] = append(e.parts[rangeColumn], c)
				hasRange = true
			default:
				if _, isFlag := flagOf(text); isFlag {
					e.parts[flagColumn] = append(e.parts[flagColumn], c)
				} else {
					e.parts[otherColumn] = append(e.parts[otherColumn], c)
					e.addNote(text)
				}
			}
		}
		if _, unit := knownUnit(firstWord(v.Rest)); unit {
			hasUnit = true
		}
		isUnknown := !known && !hasRange && r.isUnknownCell(name, v, hasUnit, e)
		if !known && !isUnknown && !(hasRange && (hasUnit || v.Number != nil && len(e.parts[otherColumn]) == 0 && looksLikeName(name))) || known && !hasRange && !hasUnit && len(l.cells) > k+1 && v.Number == nil {
			return r.insideCell(l)
		}
		e.parts[nameColumn] = []cell{l.cells[0]}
		e.parts[flagColumn] = append(e.parts[flagColumn], l.cells[1:k]...)
		e.parts[valueColumn] = []cell{l.cells[k]}
		e.anchor = true
		if isUnknown {
			e.reasons = append(e.reasons, NameUncertain)
		}
		return e
	}
	return r.insideCell(l)
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

func looksLikeName(text string) bool {
	return len(text) >= 3 && len(strings.Fields(text)) <= 7 && regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 ,.()/%+'-]*$`).MatchString(text) && !notARow.MatchString(text)
}

// insideCell reads "Glucose 95 mg/dL 70-99" or "Glucose: 95", where blanks are
// all the same width.
func (r *reader) insideCell(l *line) *entry {
	var words []Word
	for _, c := range l.cells {
		words = append(words, c.words...)
	}
	if len(words) < 3 || len(words) > 16 {
		return nil
	}
	for k := min(7, len(words)-1); k >= 1; k-- {
		name := strings.TrimRight(newCell(words[:k]).text(), " :=.")
		if r.knows(name) < 0.97 {
			continue
		}
		rest := newCell(words[k:]).text()
		v, ok := ParseValue(strings.TrimLeft(rest, ":= "), r.commas)
		if !ok || v.Number == nil {
			continue
		}
		unit := false
		for n := 1; n <= 3 && n <= len(strings.Fields(v.Rest)); n++ {
			if _, known := knownUnit(strings.Join(strings.Fields(v.Rest)[:n], " ")); known {
				unit = true
			}
		}
		if !unit {
			continue
		}
		// All that follows must belong to the row; sentences are read elsewhere.
		_, after := takeUnit(v.Rest)
		after, _ = cutFlag(after)
		if after != "" && ParseRange(after, r.commas, Patient{Age: -1}).Kind == RangeOther {
			continue
		}
		e := &entry{line: l, parts: map[columnKind][]cell{}, anchor: true}
		e.parts[nameColumn] = []cell{newCell(words[:k])}
		e.parts[valueColumn] = []cell{newCell(words[k:])}
		return e
	}
	return r.unknownInside(l, words)
}

// takeUnit cuts a known unit of up to three words from the start of a text.
func takeUnit(text string) (unit, rest string) {
	fields := strings.Fields(text)
	for n := min(3, len(fields)); n >= 1; n-- {
		candidate := strings.Join(fields[:n], " ")
		if _, ok := knownUnit(strings.TrimRight(candidate, ",;")); ok && !strings.HasPrefix(candidate, "(") {
			return strings.TrimRight(candidate, ",;"), strings.Join(fields[n:], " ")
		}
	}
	return "", text
}

var (
	// sectionOfTime is a heading that separates earlier results from current ones.
	sectionOfTime = regexp.MustCompile(`(?i)^[\s*#-]*(` + earlierWords(inHeading) + `|current|today's|latest|new)\s+(?:laboratory |lab |test )?(?:results?|values?|reports?|tests?)\b[^.]{0,40}$`)
	continuedMark = regexp.MustCompile(`(?i)\s*[(\[]?(?:continued|cont\.?|cont'd)[)\]]?\s*$`)
)
