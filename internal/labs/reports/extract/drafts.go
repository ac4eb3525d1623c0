package extract

import (
	"regexp"
	"slices"
	"strings"
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
	own                          rowDate  // in a column of dates
	headerUnit                   string   // in the header of its value
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
		r.takeGroup(&d, e.specimen)
	}
	d.own = r.ownDate(e)
	d.takeDateOfName()
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
	d.headerUnit = unitOfValues(r.columns)
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

// unitOfValues returns the unit in the header of the only column of values.
func unitOfValues(columns []column) string {
	unit, values := "", 0
	for _, c := range columns {
		if c.kind == valueColumn {
			unit, values = unitInText(c.text), values+1
		}
	}
	if values != 1 {
		return ""
	}
	return unit
}

// olderName begins the name of an earlier result.
var olderName = regexp.MustCompile(`(?i)^(?:` + earlierWords(inName) + `)\s`)

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
