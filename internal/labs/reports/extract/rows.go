package extract

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// draft is a row before it is judged.
type draft struct {
	name, value, unit, rng, flag string
	panel, specimen              string
	page                         int
	y                            float64
	words                        []Word // all of the row
	valueWords, rangeWords       []Word
	reasons                      []Reason
	notes                        []string // words beside the row
	code                         string   // a LOINC code in the row
	sentence                     bool     // read in running text
	culture                      *culture // of a row of a culture
	column                       column   // of its value, if it has a date
}

// reader reads one document.
type reader struct {
	dict     *dictionary
	known    map[string]float64 // answers of knows
	doc      Document
	commas   bool // the comma is the decimal sign
	notation notation
	flags    bool // the report marks values outside of their range
	columns  []column
	guessed  bool // another column than that of the values may hold the current ones
	panel    string
	specimen string
	analyte  string // the last line that is only the name of an analyte
	older    bool   // under a heading such as "Previous results"
	history  bool   // under a heading such as "Medical history"
	drafts   []draft
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
			r.history = false
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
		last := otherColumn
		for _, c := range splitByColumns(l, r.columns, em) {
			column := r.columns[place(r.columns, c, em)]
			if last == valueColumn && column.kind != valueColumn && r.continuesAnswer(e.parts[valueColumn], c, em) {
				e.parts[valueColumn] = append(e.parts[valueColumn], c)
				continue
			}
			last = column.kind
			if _, isFlag := flagOf(c.text()); !isFlag && commentHeader.MatchString(column.text) {
				e.addNote(c.text())
				continue
			}
			if specimenHeader.MatchString(column.text) {
				e.specimen = c.text()
			}
			e.parts[column.kind] = append(e.parts[column.kind], c)
		}
		r.repair(e, em)
		r.takeOlder(e)
		if r.guessed && e.anchor && !slices.Contains(e.reasons, ColumnUncertain) {
			e.reasons = append(e.reasons, ColumnUncertain)
		}
		if e.anchor {
			return e
		}
	}
	if p := r.positional(l); p != nil {
		if r.columns != nil && len(l.cells) > 1 { // what stands under another header is no value
			for _, c := range p.parts[valueColumn] {
				column := r.columns[place(r.columns, c, em)]
				if column.kind == rangeColumn || column.kind == unitColumn || column.kind == previousColumn {
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
			if v, ok := ParseValue(c.text(), r.commas); ok && v.Number != nil && !isUnit(c.text()) {
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
	e.anchor = len(strings.Fields(value)) <= 6 && len(e.parts[nameColumn]) > 0 && r.knows(e.text(nameColumn)) >= 0.9 && !commentLine.MatchString(value)
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

// doubtColumn marks a value that is not under its header when older results stand
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
	sectionOfTime = regexp.MustCompile(`(?i)^[\s*#-]*(previous|prior|historical|earlier|past|current|today's|latest|new)\s+(?:laboratory |lab |test )?(?:results?|values?|reports?|tests?)\b[^.]{0,40}$`)
	olderName     = regexp.MustCompile(`(?i)^(?:previous|prior|last|earlier)\s`)
	specimenLabel = regexp.MustCompile(`(?i)\b(?:specimen|sample)(?: type)?\s*:\s*`)
	continuedMark = regexp.MustCompile(`(?i)\s*[(\[]?(?:continued|cont\.?|cont'd)[)\]]?\s*$`)
	urineWords    = regexp.MustCompile(`(?i)\b(?:urine|urinalysis|urinary)\b`)
	bloodWords    = regexp.MustCompile(`(?i)\b(?:serum|plasma|blood|ha?ematology|cbc)\b`)
	stoolWords    = regexp.MustCompile(`(?i)\b(?:stool|fa?eces|fa?ecal)\b`)
	salivaWords   = regexp.MustCompile(`(?i)\bsaliva\b`)
	swabWords     = regexp.MustCompile(`(?i)\b(?:swab|csf|sputum|synovial|semen|cerebrospinal|pleural|peritoneal|pericardial|ascit\w*|amniotic|drain(?:age)? fluid|body fluid|joint fluid|sweat|dialysate|bile|vitreous|aspirate)\b`)
)

// specimenIn returns the API's sample type that a text names, or nothing.
func specimenIn(text string) string {
	switch {
	case urineWords.MatchString(text):
		return "urine"
	case stoolWords.MatchString(text):
		return "stool"
	case salivaWords.MatchString(text):
		return "saliva"
	case swabWords.MatchString(text):
		return "other"
	case bloodWords.MatchString(text):
		return "serum_plasma_blood"
	}
	return ""
}

// specimenHeader is the header of a column of specimens.
var specimenHeader = regexp.MustCompile(`(?i)^(?:specimen|sample)(?: type| source| material)?$|^(?:source|matrix|material)$`)

// specimenCodes are the printed abbreviations of specimens, in upper case.
var specimenCodes = map[string]string{
	"S": "serum_plasma_blood", "SER": "serum_plasma_blood", "SERUM": "serum_plasma_blood", "SST": "serum_plasma_blood", "P": "serum_plasma_blood", "PLAS": "serum_plasma_blood", "B": "serum_plasma_blood",
	"BLD": "serum_plasma_blood", "WB": "serum_plasma_blood", "EDTA": "serum_plasma_blood", "CITRATE": "serum_plasma_blood", "HEPARIN": "serum_plasma_blood", "VENOUS": "serum_plasma_blood", "ARTERIAL": "serum_plasma_blood",
	"CAPILLARY": "serum_plasma_blood", "U": "urine", "UR": "urine", "MSU": "urine", "ST": "stool", "L": "other", "FLUID": "other",
}

// takeSpecimen uses the text in the column of specimens. It decides the code. A row with
// a text that is not known needs a review.
func (d *draft) takeSpecimen(text string) {
	specimen := specimenIn(text)
	if specimen == "" {
		specimen = specimenCodes[strings.ToUpper(strings.Trim(firstWord(text), " ,;()."))]
	}
	switch {
	case specimen != "":
		d.specimen = specimen
	case strings.ContainsAny(text, "0123456789") || !startsWithLetter(text): // the number of a specimen
	default:
		d.reasons = append(slices.Clone(d.reasons), NameUncertain)
	}
}

// emit turns an entry into a draft.
func (r *reader) emit(e *entry, page int) {
	var names []string
	for _, c := range e.parts[nameColumn] {
		names = append(names, c.text())
	}
	d := draft{
		name: joinWrapped(names...), value: e.text(valueColumn), flag: e.text(flagColumn), rng: e.text(rangeColumn),
		panel: r.panel, specimen: r.specimen, page: page, y: e.line.y, reasons: e.reasons, notes: e.notes,
	}
	if e.specimen != "" {
		d.takeSpecimen(e.specimen)
	}
	if d.code = printedCode(lineWords(e.line)); d.code != "" {
		d.name = codeInName.ReplaceAllString(d.name, "")
	}
	if d.flag != "" && flagText(d.flag, "") == "" { // words in the column of flags
		if note := tidyNote(d.flag); note != "" {
			d.notes = append(d.notes, note)
		}
	}
	if at := slices.IndexFunc(r.columns, func(c column) bool { return c.kind == valueColumn && c.date.Year() > 1900 }); at >= 0 {
		d.column = r.columns[at]
	}
	r.nameTime(&d)
	if r.older || olderName.MatchString(d.name) {
		d.reasons = append(d.reasons, OlderResult)
	}
	if r.history {
		d.reasons = append(slices.Clone(d.reasons), SentenceUnclear)
	}
	var units []string
	for _, c := range e.parts[unitColumn] {
		units = append(units, c.text())
	}
	d.unit = joinWrapped(units...)
	for _, kind := range []columnKind{nameColumn, valueColumn, unitColumn, rangeColumn, flagColumn} {
		for _, c := range e.parts[kind] {
			d.words = append(d.words, c.words...)
			switch kind {
			case valueColumn:
				d.valueWords = append(d.valueWords, c.words...)
			case rangeColumn:
				d.rangeWords = append(d.rangeWords, c.words...)
			default:
			}
		}
	}
	if !r.acceptable(&d) {
		return
	}
	e.line.used = true
	r.drafts = append(r.drafts, d)
}

// aimName begins the name of a value that is no result.
var aimName = regexp.MustCompile(`(?i)^(?:target|goal|aim|threshold|cut-?off|transfuse|reference range|normal range|critical (?:value|limit)s?|alert limit)\b|\b(?:target|goal|threshold|cut-?off)$`)

// timeName is a name that only says when the sample was taken.
var timeName = regexp.MustCompile(`(?i)^(?:[+-]?\d{1,3}(?:[.,]5)?\s*(?:h|hr|hrs|hours?|min|mins|minutes?)\b.{0,20}|t\s*=?\s*\d{1,3}(?:\s*min)?|fasting|baseline|pre-?dose|post-?dose|peak|trough|(?:half|one|two|three|four) hours?.{0,12})$`)

var seriesPanel = regexp.MustCompile(`(?i)\b(?:tolerance|ogtt|gtt|stimulation|suppression|curve|challenge)\b`)

// nameTime puts the analyte before a name such as "2 h" of a tolerance test.
func (r *reader) nameTime(d *draft) {
	switch name := strings.Trim(d.name, " :*-."); {
	case !timeName.MatchString(name):
		r.analyte = ""
	case r.analyte != "":
		d.name = r.analyte + " " + name
	case seriesPanel.MatchString(d.panel):
		d.name = d.panel + " " + name
		d.reasons = append(d.reasons, NameUncertain)
	default:
		d.reasons = append(d.reasons, NameUncertain)
	}
}

// sentenceInside finds the end of a sentence.
var sentenceInside = regexp.MustCompile(`[a-z]{4,}\. [A-Z]`)

// zipForm matches state and ZIP code of an address in the United States.
var zipForm = regexp.MustCompile(`, [A-Z]{2} \d{5}\b`)

// addressWords are words of an address, or of the line that names where a test was done.
var addressWords = regexp.MustCompile(`(?i)\b(?:street|avenue|drive|road|boulevard|blvd|highway|suite|p\.?\s?o\.? box|performing (?:site|lab\w*)|laborator(?:y|ies),)`)

// negationEnd finds a negation at the end of a name. It belongs to the value behind it.
var negationEnd = regexp.MustCompile(`(?i)(?:^|[\s:,;(])((?:not|none|non|no|never|un|without)(?:\s*-|(?:\s+[a-z]+){0,3})?)[\s:]*$`)

// answerBehindName finds an answer behind the colon of a name: "RNA: DETECTED Ct".
var answerBehindName = regexp.MustCompile(`(?i)^([^:]+):\s*((?:not |none |no )?(?:` + answerWords + `)(?:\W.*)?)$`)

// keepNegation moves a negation from the end of the name to the value: "Influenza A: Not"
// and "detected". It does the same with the start of an answer.
func (r *reader) keepNegation(d *draft) {
	if m := answerBehindName.FindStringSubmatch(d.name); m != nil && r.knows(d.name) < 0.95 {
		d.name, d.value = m[1], joinWrapped(m[2], d.value)
		return
	}
	m := negationEnd.FindStringSubmatchIndex(d.name)
	if m == nil || r.knows(d.name) >= 0.95 {
		return
	}
	if v, ok := ParseValue(d.value, r.commas); !ok || v.Number != nil || v.Type != Boolean && v.Type != Comment {
		return
	}
	d.value = joinWrapped(d.name[m[2]:m[3]], d.value)
	if name := strings.Trim(d.name[:m[2]], " :*-.,;("); name != "" {
		d.name = name
	} else if !slices.Contains(d.reasons, NameUncertain) {
		d.reasons = append(d.reasons, NameUncertain)
	}
}

// acceptable refuses lines that only look like results, such as addresses.
func (r *reader) acceptable(d *draft) bool {
	r.keepNegation(d)
	d.name = strings.Trim(d.name, " :*-.")
	if aimName.MatchString(d.name) && r.knows(d.name) < 0.9 {
		return false
	}
	if commentLine.MatchString(d.name) || sentenceInside.MatchString(d.name) || !looksNamed(d.name) || r.knows(d.name) < 0.9 && notARow.MatchString(d.name) && !r.isCompleteDraft(d) {
		return false
	}
	if _, isDate := parseDate(d.value); isDate && r.knows(d.name) < 0.9 {
		return false
	}
	if r.knows(d.name) < 0.9 && !isUnit(d.unit) && addressWords.MatchString(strings.Join([]string{d.name, d.value, d.unit, d.rng}, " ")) && !r.isCompleteDraft(d) {
		return false
	}
	return !zipForm.MatchString(d.name + " " + d.value)
}

func looksNamed(name string) bool {
	letters := 0
	for _, c := range name {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			letters++
		}
	}
	return letters >= 1 && len(name) <= 90 && len(strings.Fields(name)) <= 12
}
