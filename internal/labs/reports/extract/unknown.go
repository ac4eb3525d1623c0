package extract

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// The dictionary does not have the analytes of all laboratories. The rest of a line shows
// that it is a row: value, unit and range fit, and nothing is left over. With less than
// that, the line above or below must be a row too, and the row needs review.

var (
	// unknownForm accepts the letters of an analyte's name. Text of a sentence begins with a
	// small letter.
	unknownForm = regexp.MustCompile(`^[\p{Lu}\p{Greek}0-9][\p{L}\p{N} ,.()\[\]/%+'’*#&:_-]*$`)
	verbForm    = regexp.MustCompile(`(?i)\b(?:equals?|is|was|were|are|has|have|had|been|be|will|can|this|that|these|you|your|we|our)\b`)
	// bandName begins a line that explains a range: "Deficient <20 ng/mL".
	bandName = regexp.MustCompile(`(?i)^(?:normal|abnormal|low|lower|high|higher|elevated|increased|decreased|borderline|near|above|below|optim\w+|desirable|sufficien\w+|insufficien\w+|deficien\w+|adequate|inadequate|toxic\w*|` +
		`therapeutic|sub-?therapeutic|critical|panic|pre-?diabet\w*|diabet\w*|non-?\s?diabet\w*|negative|positive|equivocal|indeterminate|gr[ae]y|class|grade|stage|category|zone|level|risk|average|acceptable|ideal|good|fair|poor|` +
		`very|mild\w*|moderate\w*|severe\w*|slight\w*|excess\w*|overt|subclinical|reactive|non-?reactive|immune|non-?immune|males?|females?|men|women|man|woman|boys?|girls?|adults?|child\w*|infants?|newborns?|neonat\w*|` +
		`pa?ediatric|elderly|pregnan\w*|non-?pregnan\w*|first|second|third|\d\w* trimester|follicular|luteal|ovulat\w*|mid-?cycle|\w*menopaus\w*|(?:non-?)?smokers?|up to|less|more|greater|from|between|until|within|after|before|over|under|` +
		`m|f|peak|trough|expected|healthy|general|population|limits?|lod|loq|ranges?|intervals?|control|calibrator|sd|cv|uncertainty|conversion|factor|lot|exp\w*|ref\w*|detection|measuring|reportable|sensitivity|specificity)(?:\W|$)`)
	// noAnalyte begins a line about the person, the place or the paper.
	noAnalyte = regexp.MustCompile(`(?i)^(?:height|weight|bmi|body|age|bp|blood pressure|pulse|heart rate|temp(?:erature)?|volume|total volume|urine volume|duration|doses?|dosage|turnaround|suite|floor|building|unit|street|route|p\.?\s?o\.?\s?box|zip|version|rev(?:ision)?|` +
		`form|sheet|item|invoice|receipt|serial|batch|ticket|customer|policy|member|qty|quantity|price|amount|total due|subtotal|discount|licen[cs]e|certificate|iso|cap|no|nr|number|issued|reviewed|approved|authori[sz]ed|signed|verified|validated|released|electronically|conclusion|remarks?|summary|diagnosis|medication|therapy)(?:\W|$)`)
)

// letterAndNumber is a name such as "K-1".
var letterAndNumber = regexp.MustCompile(`^[A-Z]-\d{1,3}$`)

// looksLikeAnalyte reports whether a text can be the name of an analyte.
func looksLikeAnalyte(name string) bool {
	letters := 0
	if strings.IndexFunc(firstWord(name), unicode.IsLetter) < 0 { // "1 mg/dL equals"
		return false
	}
	if header := headerPhrase.FindString(name); header == name { // of a table of another kind
		return false
	}
	for _, c := range name {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			letters++
		}
	}
	return (letters >= 2 || letterAndNumber.MatchString(name)) && len(name) <= 90 && len(strings.Fields(name)) <= 9 && unknownForm.MatchString(name) && !verbForm.MatchString(name) && !commentLine.MatchString(name) && !methodLine.MatchString(name) &&
		!aimName.MatchString(name) && !noAnalyte.MatchString(name) && !otherValueCue.MatchString(name) && !conditionCue.MatchString(name) && !boundInWords.MatchString(name) && !openParenthesis(name)
}

// evidence says how much of a line fits a row.
type evidence struct {
	number     bool
	comparator bool
	answer     bool // a yes-or-no answer in words
	words      bool // another answer in words
	interval   bool // an interval in the place of the value
	unit       bool // a known unit
	unitBehind bool // the known unit follows the range
	perUnit    bool // a known unit of a concentration or a rate
	oddUnit    bool // a text that looks like a unit
	hasRange   bool
	flag       string // printed between unit and range
	left       int    // words behind the range
}

// isComplete reports whether value, unit and range agree.
func (v evidence) isComplete() bool { return v.number && v.unit && v.hasRange }

// isRow reports whether the line is a row on its own, without help of its neighbours.
func (v evidence) isRow() bool {
	switch {
	case v.interval:
		return false
	case v.number && v.hasRange, v.answer && v.hasRange:
		return true
	}
	return v.number && !v.comparator && v.perUnit
}

// weigh reads all that follows a name. ok is false if the text does not start with a value,
// or if a part of it does not fit.
func (r *reader) weigh(text string) (e evidence, ok bool) {
	v, ok := ParseValue(text, r.commas)
	if !ok {
		return e, false
	}
	e.number, e.comparator, e.answer, e.words = v.Number != nil, v.Comparator != "", v.Type == Boolean || v.Type == Ratio, v.Type == Comment
	e.interval = v.Type == Ranged && v.Number == nil
	if deniedAnswer.MatchString(text) {
		return evidence{answer: true}, true
	}
	unit, rest := takeUnit(v.Rest)
	switch {
	case unit != "":
		e.unit = true
	case strings.Contains(firstWord(v.Rest), "/") && looksLikeUnit(firstWord(v.Rest)):
		unit, rest = firstWord(v.Rest), strings.TrimSpace(strings.TrimPrefix(v.Rest, firstWord(v.Rest)))
		e.oddUnit = true
	}
	e.perUnit = e.unit && strings.Contains(unit, "/")
	if word := firstWord(rest); word != "" && word != "-" && word != "+" {
		if _, isFlag := flagOf(word); isFlag {
			e.flag, rest = strings.Trim(word, "()[]"), strings.TrimSpace(strings.TrimPrefix(rest, word))
		}
	}
	if rest == "" {
		return e, true
	}
	fields := strings.Fields(rest)
	for n := len(fields); n >= max(1, len(fields)-3); n-- {
		rng := ParseRange(strings.Join(fields[:n], " "), r.commas, Patient{Age: -1})
		if rng.Kind == RangeOther || rng.Kind == RangeNone && n < len(fields) {
			continue
		}
		isWords := rng.Kind == RangeWords || rng.Kind == RangeTitre
		e.hasRange = rng.Kind != RangeNone && (isWords == !e.number)
		if _, _, inRange := cutTrailingUnit(strings.Join(fields[:n], " ")); inRange {
			e.unitBehind = !e.unit
			e.unit = true
		}
		e.left = len(fields) - n
		left := strings.Join(fields[n:], " ")
		return e, e.left == 0 || e.isComplete() && !strings.ContainsAny(left, ".;:") && !verbForm.MatchString(left)
	}
	return e, v.Type == Boolean && behindAnswer.MatchString(rest)
}

// deniedAnswer is an answer that begins with "No": "No antibodies detected".
var deniedAnswer = regexp.MustCompile(`(?i)^(?:no|none)(?: [a-z]+){0,4} (?:detected|found|seen|isolated|present|observed|identified)\.?$`)

// behindAnswer is a short text behind an answer: "(index 8.9)", "Ct 24.3", ", see comment".
var behindAnswer = regexp.MustCompile(`(?i)^(?:\([^()]{1,30}\)|,\s*[^.]{1,30}|(?:ct|cq|cp|s/co|coi|index|cut-?off index|ratio|titer|titre)\W{0,2}\s*[<>]?\d[\d.,]*|[<>]?\d[\d.,:]*\s*(?:%|copies/ml|iu/ml)?)$`)

// cutTrailingUnit takes a known unit of up to three words from the end of a text.
func cutTrailingUnit(text string) (rest, unit string, ok bool) {
	fields := strings.Fields(text)
	for n := min(3, len(fields)-1); n >= 1; n-- {
		if tail := strings.Join(fields[len(fields)-n:], " "); isUnit(tail) {
			return strings.Join(fields[:len(fields)-n], " "), tail, true
		}
	}
	return text, "", false
}

// unknownRow finds the name and the value of an unknown analyte in the words of a line. The
// split that explains most of the line counts, and then the longest name: "Interleukin 6 3.1
// pg/mL" has the value 3.1.
func (r *reader) unknownRow(words []Word) (at int, best evidence, ok bool) {
	if len(words) < 2 || len(words) > 20 {
		return 0, best, false
	}
	for k := min(9, len(words)-1); k >= 1; k-- {
		e, fits := r.weigh(strings.TrimLeft(newCell(words[k:]).text(), ":= "))
		if !fits {
			continue
		}
		name := strings.TrimRight(newCell(words[:k]).text(), " :=.")
		if !looksLikeAnalyte(name) || negationEnd.MatchString(name) || answerInName.MatchString(name) {
			continue
		}
		isRefused := notARow.MatchString(name) && !e.isComplete() || bandName.MatchString(name) && (!e.isComplete() || e.unitBehind)
		if !isRefused && (!ok || e.score() > best.score()) {
			at, best, ok = k, e, true
		}
	}
	return at, best, ok
}

// answerInName finds an answer in what may be a name, before a text that belongs to it:
// "RNA: DETECTED Ct", "NAAT positive,".
var answerInName = regexp.MustCompile(`(?i):\s*(?:` + answerWords + `)(?:\W|$)|\b(?:` + answerWords + `)(?:,$|\s+(?:ct|cq|cp|s/co|coi|index|titer|titre)$)`)

// score counts the parts of a row in a line.
func (v evidence) score() int {
	n := 0
	for _, has := range []bool{v.unit || v.oddUnit, v.hasRange, v.flag != ""} {
		if has {
			n++
		}
	}
	return n
}

// unknownInside reads a line of an unknown analyte that is a row on its own.
func (r *reader) unknownInside(l *line, words []Word) *entry {
	k, found, ok := r.unknownRow(words)
	if !ok || !found.isRow() {
		return nil
	}
	return r.unknownEntry(l, words, k, found)
}

// unknownEntry makes the entry of a line whose value starts at word k.
func (r *reader) unknownEntry(l *line, words []Word, k int, found evidence) *entry {
	e := &entry{line: l, parts: map[columnKind][]cell{}, anchor: true}
	end := len(words) - found.left
	e.parts[nameColumn] = []cell{newCell(words[:k])}
	e.parts[valueColumn] = []cell{newCell(words[k:end])}
	if found.left > 0 {
		e.addNote(newCell(words[end:]).text())
	}
	if !found.isComplete() || found.left > 0 {
		e.reasons = append(e.reasons, NameUncertain)
	}
	if endsInNumber.MatchString(words[k-1].Text) && strings.Trim(words[k-1].Text, "0123456789.,") == "" { // it may be the value
		e.reasons = append(e.reasons, ColumnUncertain)
	}
	return e
}

// keepUnknownRows keeps short rows of unknown analytes next to rows that are sure. Examples
// are a value in words, and a number without a known unit or a range.
func (r *reader) keepUnknownRows(entries []*entry, em float64) {
	for i := range entries {
		r.keepUnknownRow(entries, i, em)
	}
	for i := len(entries) - 1; i >= 0; i-- {
		r.keepUnknownRow(entries, i, em)
	}
}

func (r *reader) keepUnknownRow(entries []*entry, i int, em float64) {
	e := entries[i]
	if e.anchor || e.used || len(e.line.cells) == 0 || r.doc.Pages[e.line.page].Source != FromText {
		return
	}
	beside := 0
	for _, j := range []int{i - 1, i + 1} {
		if j >= 0 && j < len(entries) && isAligned(entries[j], e, em) {
			beside++
		}
	}
	if beside == 0 {
		return
	}
	isInColumn := func(o *entry) bool {
		return isAligned(o, e, em) && len(o.parts[valueColumn]) > 0 && math.Abs(o.parts[valueColumn][0].x0-e.parts[valueColumn][0].x0) < 0.6*em
	}
	if r.columns != nil && r.isUnknownAnswer(e) && (beside == 2 || r.hasUnitOrRange(e) || slices.ContainsFunc(entries[max(0, i-1):min(len(entries), i+2)], isInColumn)) {
		e.anchor, e.reasons = true, append(e.reasons, NameUncertain)
		return
	}
	words := lineWords(e.line)
	k, found, ok := r.unknownRow(words)
	if !ok || found.interval || found.comparator && !found.hasRange && r.isAmongBands(entries, i) {
		return
	}
	isClear := found.number && (found.unit || found.oddUnit) || found.answer
	if !isClear && (beside < 2 || isSentence(e.line)) {
		return
	}
	*e = *r.unknownEntry(e.line, words, k, found)
}

// isSentence reports whether a line may be words with a number: "Result phoned to ward 3."
func isSentence(l *line) bool {
	text := l.text()
	hasProse := slices.ContainsFunc(lineWords(l), func(w Word) bool { return proseWords[w.Text] })
	return hasProse || strings.HasSuffix(text, ".") || calledWord.MatchString(text) || footLine.MatchString(text) || castsDoubt(text)
}

// isAligned reports whether a neighbour is a row whose name begins at the same place.
func isAligned(o, e *entry, em float64) bool {
	return o.anchor && len(o.parts[nameColumn]) > 0 && math.Abs(o.line.y-e.line.y) < 2.2*em && math.Abs(o.parts[nameColumn][0].x0-e.line.cells[0].x0) < 0.6*em
}

// isUnknownAnswer reports whether the columns of a table hold an unknown name and a short
// text as its value.
func (r *reader) isUnknownAnswer(e *entry) bool {
	name, value := strings.TrimRight(e.text(nameColumn), " :"), e.text(valueColumn)
	return len(e.parts[nameColumn]) == 1 && len(e.parts[valueColumn]) == 1 && len(strings.Fields(value)) <= 5 && looksLikeAnalyte(name) && !notARow.MatchString(name) && !bandName.MatchString(name) &&
		!strings.HasSuffix(e.text(nameColumn), ":") && !panelWords.MatchString(name+" "+value) && !e.parts[nameColumn][0].bold && wordOfNote.MatchString(value) && !commentLine.MatchString(value) && !isUnit(value)
}

// hasUnitOrRange reports whether the columns of a line hold a known unit or a range.
func (r *reader) hasUnitOrRange(e *entry) bool {
	kind := ParseRange(e.text(rangeColumn), r.commas, Patient{Age: -1}).Kind
	return isUnit(e.text(unitColumn)) || kind != RangeNone && kind != RangeOther
}

// isAmongBands reports whether a line next to a bound has an interval: both explain a range.
func (r *reader) isAmongBands(entries []*entry, i int) bool {
	for j := max(0, i-2); j < min(len(entries), i+3); j++ {
		words := lineWords(entries[j].line)
		at := slices.IndexFunc(words, func(w Word) bool { return strings.ContainsAny(w.Text, "0123456789<>≤≥") })
		if j == i || entries[j].anchor || at < 1 {
			continue
		}
		if v, ok := ParseValue(newCell(words[at:]).text(), r.commas); ok && v.Type == Ranged {
			return true
		}
	}
	return false
}

// isUnknownCell reports whether the cells of a line are a row of an unknown analyte without
// a range. Then they hold a number with the unit of a concentration.
func (r *reader) isUnknownCell(name string, v Value, hasUnit bool, e *entry) bool {
	unit := e.text(unitColumn)
	if unit == "" {
		unit = firstWord(v.Rest)
	}
	return hasUnit && v.Number != nil && v.Comparator == "" && strings.Contains(unit, "/") && len(e.parts[otherColumn]) == 0 && looksLikeAnalyte(strings.TrimRight(name, " :")) && !notARow.MatchString(name) && !bandName.MatchString(name)
}

// isCompleteLine reports whether a line has a value, a unit and a range. Then it is a row,
// also if its name begins like a label: "Date palm IgE".
func (r *reader) isCompleteLine(l *line, em float64) bool {
	if r.columns != nil {
		parts := map[columnKind]string{}
		for _, c := range splitByColumns(l, r.columns, em) {
			kind := r.columns[place(r.columns, c, em)].kind
			parts[kind] = strings.TrimSpace(parts[kind] + " " + c.text())
		}
		if looksLikeAnalyte(parts[nameColumn]) && r.isComplete(parts[valueColumn], parts[unitColumn], parts[rangeColumn]) {
			return true
		}
	}
	_, found, ok := r.unknownRow(lineWords(l))
	return ok && found.isComplete()
}

func (r *reader) isCompleteDraft(d *draft) bool {
	return looksLikeAnalyte(d.name) && r.isComplete(d.value, d.unit, d.rng)
}

// isComplete reports whether value, unit and range of a row can be read.
func (r *reader) isComplete(value, unit, rng string) bool {
	found, ok := r.weigh(strings.Join(strings.Fields(value+" "+unit+" "+rng), " "))
	return ok && found.isComplete()
}
