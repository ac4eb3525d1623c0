package extract

import (
	"math"
	"regexp"
	"strings"
)

// label is the name of a field on the report's head.
type label struct {
	field string
	form  *regexp.Regexp
}

func labelForm(words string) *regexp.Regexp {
	form := regexp.MustCompile(`(?i)^(?:` + words + `)`)
	form.Longest()
	return form
}

// otherPersonWords name a person who is not the patient.
const otherPersonWords = `(?:(?:birth )?mother|maternal|father|paternal|parents?|guardian|partner|spouse|husband|wife|insured|subscriber|guarantor|policy ?-?(?:holder|owner)|responsible party|emergency contact|next of kin|surrogate|` +
	`(?:baby|newborn|infant|child|son|daughter|twin)(?: (?:girl|boy|child|[ab12]))* of)`

var (
	otherPerson = regexp.MustCompile(`(?i)^` + otherPersonWords + `(?:['’]?s)?(?:\W|$)`)
	thePatient  = regexp.MustCompile(`(?i)^(?:patient|infant|child|newborn|baby|neonate)(?:['’]?s)?(?:\W|$)`)
	childOf     = regexp.MustCompile(`(?i)\b(?:baby|newborn|infant|child|son|daughter|twin)(?: \w+)? of\b`)
)

// labels are tried at every word; the longest match wins. An empty field only
// ends the value before it.
var labels = []label{
	{"first", labelForm(`first name|given names?|forenames?|patient first name`)},
	{"last", labelForm(`surname|last name|family name|patient last name`)},
	{"name", labelForm(`patient'?s? name|name of patient|patient|name|full name|re|patient information|patient details`)},
	{"birth", labelForm(`date of birth|birth ?date|birthday|d\.?o\.?b\.?|born|dob/age|dob \(age\)`)},
	{"sex", labelForm(`sex|gender|age ?/ ?sex|age ?/ ?gender|sex ?/ ?age|gender ?/ ?age|sex at birth|biological sex|age and sex`)},
	{"collected", labelForm(`(?:date (?:and time )?|sample |specimen )?(?:collected|drawn)(?: (?:on|at|date|date/time|time))?|collection(?: date| time| date/time| on)?(?: ?/ ?time)?|date (?:and time )?of (?:collection|sampling|sample|specimen|draw|(?:sample|specimen|blood) collection)|date taken|sampled(?: on| at)?|sampling date|sample date|date sampled|specimen date|date collected|date drawn|collected date|taken on|sample taken`)},
	{"reported", labelForm(`(?:date )?reported(?: (?:on|at|date|date/time))?|report(?:ing)? date(?:/time)?|date of report|report issued|issued(?: on)?|report(?:ed)? on|result date|final report date|date reported|released(?: on)?|approved on|report date and time|authori[sz]ed(?: on)?`)},
	{"specimen", labelForm(`specimen (?:id|no\.?|number|#)|sample (?:id|no\.?|number|#)|accession(?: ?(?:no\.?|number|id|#))?|lab(?:oratory)? (?:no\.?|number|id|ref(?:erence)?|#)|request (?:no\.?|number|id)|requisition(?: ?(?:no\.?|number|#))?|order (?:id|no\.?|number)|episode(?: no\.?)?|lab reference|report (?:id|no\.?|number)|barcode(?: no\.?)?|control number|specimen|sample`)},
	{"other", labelForm(otherPersonWords + `(?:['’]?s)?(?: (?:full )?name)?`)},
	{"age", labelForm(`age`)},
	{"", labelForm(`physician|ordering(?: physician| provider)?|date received|received(?: on| date)?|client(?: information)?|fasting|phone|ref(?:erred)?(?: by|erring)?|mrn|patient id|id|address|location|loc|status|room|doctor|provider|requested by|registered(?: on)?|report status|page|uhid|visit|account|npi|specimen type|sample type|specimen information|client information|clinician|ward|nhs(?: no\.?| number)?|hospital no\.?|consultant|test name|lab name|race|ethnicity|height|weight`)},
}

// labelsOf reads the labels of one line.
func (r *reader) labelsOf(page, i int, values map[string]string) {
	l := r.pages[page].lines[i]
	if l.used {
		return
	}
	isOther := false // the labels belong to another person, up to one of the patient
	set := func(field, value string, isOther bool) {
		if isOther && (field == "birth" || field == "age" || field == "sex" || field == "sex in text" || field == "name" || field == "first" || field == "last") {
			cleaned := cleanField(field, value)
			if field = "other " + field; values[field] == "" {
				values[field] = cleaned
			}
			return
		}
		if value = cleanField(field, value); value != "" && values[field] == "" && field != "" {
			values[field] = value
		}
	}
	cells := splitLabels(l.cells)
	for k, c := range cells {
		text := c.text()
		at := 0
		field, start, owned := "", -1, isOther
		for at < len(text) {
			switch {
			case otherPerson.MatchString(text[at:]):
				isOther = true
			case thePatient.MatchString(text[at:]):
				isOther = false
			}
			f, length := labelAt(text[at:], at == 0)
			if length == 0 && at > 0 {
				f, length = labelBeforeCell(text[at:], cells, k)
			}
			if length == 0 {
				next := strings.IndexByte(text[at:], ' ')
				if next < 0 {
					break
				}
				at += next + 1
				continue
			}
			if start >= 0 {
				set(field, text[start:at], owned)
			}
			field, owned = f, isOther
			at += length
			for at < len(text) && (text[at] == ' ' || text[at] == ':') {
				at++
			}
			start = at
		}
		if start < 0 {
			continue
		}
		value := strings.Trim(text[min(start, len(text)):], " :")
		right := math.Inf(1)
		if k+1 < len(cells) {
			right = cells[k+1].x0
		}
		isDate := field == "birth" || field == "collected" || field == "reported"
		if _, ok := parseDate(value); value != "" && isDate && !ok || field == "name" && strings.HasSuffix(value, ",") { // the rest is on the next line
			below := r.valueBelow(page, i, c, right)
			if isDate || looksNamed(below) && len(strings.Fields(below)) <= 3 {
				value = joinWrapped(value, below)
			}
		}
		if field == "birth" {
			if _, after, ok := strings.Cut(value, ","); ok && genderOf(after) != "" {
				set("sex in text", after, owned)
			}
		}
		if value != "" {
			set(field, value, owned)
			continue
		}
		// The value is in the next cell, in two lines beside the label, or below.
		if k+1 < len(cells) {
			next := cells[k+1].text()
			if _, length := labelAt(strings.TrimLeft(next, ": "), true); length == 0 && (strings.HasPrefix(next, ":") || strings.HasSuffix(text, ":") || cells[k+1].x0-c.x1 < 14*r.pages[page].em) {
				set(field, strings.TrimLeft(beforeLabel(cells, k+1), ": "), owned)
				continue
			}
		}
		if beside := r.valueBeside(page, i, c, right); beside != "" {
			set(field, beside, owned)
			continue
		}
		set(field, r.valueBelow(page, i, c, right), owned)
	}
}

// labelBeforeCell returns the label at the end of a cell whose colon or date is in
// the next one.
func labelBeforeCell(text string, cells []cell, k int) (field string, length int) {
	if k+1 >= len(cells) {
		return "", 0
	}
	field, length = labelAt(text, true)
	if strings.TrimLeft(text[length:], " ") != "" {
		return "", 0
	}
	next := cells[k+1].text()
	_, isDate := parseDate(next)
	if strings.HasPrefix(next, ":") || isDate && (field == "birth" || field == "collected" || field == "reported") {
		return field, length
	}
	return "", 0
}

// beforeLabel returns a cell's text up to a label inside it.
func beforeLabel(cells []cell, k int) string {
	text := cells[k].text()
	for at, c := range text {
		if c != ' ' {
			continue
		}
		_, length := labelAt(text[at+1:], false)
		if length == 0 {
			_, length = labelBeforeCell(text[at+1:], cells, k)
		}
		if length > 0 {
			return strings.TrimSpace(text[:at])
		}
	}
	return text
}

// splitLabels splits cells that consist of labels only: "Date of birth Sex".
func splitLabels(cells []cell) []cell {
	var out []cell
	for _, c := range cells {
		words, start := c.words, 0
		var parts []cell
		for start < len(words) {
			length := 0
			for n := min(5, len(words)-start); n >= 1 && length == 0; n-- {
				if _, l := labelAt(newCell(words[start:start+n]).text(), true); l > 0 {
					length = n
				}
			}
			if length == 0 {
				parts = nil
				break
			}
			parts = append(parts, newCell(words[start:start+length]))
			start += length
		}
		if len(parts) < 2 {
			parts = []cell{c}
		}
		out = append(out, parts...)
	}
	return out
}

// valueBelow returns the words under a label, up to the next label's column.
func (r *reader) valueBelow(page, i int, c cell, right float64) string {
	lay := r.pages[page]
	for j := i + 1; j < len(lay.lines) && lay.lines[j].y-lay.lines[i].y < 2.4*lay.em; j++ {
		var words []Word
		for _, b := range lay.lines[j].cells {
			for _, w := range b.words {
				if w.Box.X >= c.x0-1.2*lay.em && w.Box.X < right-0.3*lay.em {
					words = append(words, w)
				}
			}
		}
		if len(words) == 0 || words[0].Box.X > c.x0+1.2*lay.em {
			continue
		}
		text := newCell(words).text()
		if _, length := labelAt(text, true); length > 0 {
			return ""
		}
		return text
	}
	return ""
}

// valueBeside returns a value of two lines to the right of a label in
// the middle of them.
func (r *reader) valueBeside(page, i int, c cell, right float64) string {
	lay := r.pages[page]
	var parts []string
	for j := max(0, i-2); j < min(len(lay.lines), i+3); j++ {
		dy := lay.lines[j].y - c.y
		if j == i || dy > 0.95*lay.em || dy < -0.95*lay.em {
			continue
		}
		for _, b := range lay.lines[j].cells {
			if b.x0 > c.x1 && b.x0 < right && b.x0-c.x1 < 14*lay.em {
				if _, length := labelAt(b.text(), true); length > 0 {
					return ""
				}
				parts = append(parts, b.text())
				break
			}
		}
	}
	if len(parts) != 2 {
		return ""
	}
	return joinWrapped(parts...)
}

// labelAt returns the label that text starts with and its length. A label ends with a
// colon or with its cell, or is followed by its value: a name, a sex or a date.
func labelAt(text string, cellStart bool) (field string, length int) {
	for _, l := range labels {
		n := len(l.form.FindString(text))
		if n <= length {
			continue
		}
		rest := text[n:]
		trimmed := strings.TrimLeft(rest, " ")
		_, isDate := parseDate(strings.TrimLeft(trimmed, ": "))
		switch {
		case strings.HasPrefix(trimmed, ":"), cellStart && trimmed == "":
		case cellStart && rest != trimmed && l.field == "name" && strings.Contains(text[:n], " ") && trimmed != "" && trimmed[0] >= 'A' && trimmed[0] <= 'Z':
		case cellStart && rest != trimmed && l.field == "sex" && genderOf(firstWord(trimmed)) != "":
		case isDate && rest != trimmed && (l.field == "birth" || l.field == "collected" || l.field == "reported"):
		default:
			continue
		}
		field, length = l.field, n
	}
	return field, length
}
