package extract

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
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
	{"collected", labelForm(`(?:date (?:and time )?|sample |specimen )?(?:collected|drawn)(?: (?:on|at|date|date/time|time))?|collection(?: date| time| date/time| on)?(?: ?/ ?time)?|date of collection|sampling date|sample date|date sampled|specimen date|date collected|date drawn|collected date|taken on|sample taken`)},
	{"reported", labelForm(`(?:date )?reported(?: (?:on|at|date|date/time))?|report(?:ing)? date(?:/time)?|date of report|report issued|issued(?: on)?|report(?:ed)? on|result date|final report date|date reported|released(?: on)?|approved on|report date and time|authori[sz]ed(?: on)?`)},
	{"specimen", labelForm(`specimen (?:id|no\.?|number|#)|sample (?:id|no\.?|number|#)|accession(?: ?(?:no\.?|number|id|#))?|lab(?:oratory)? (?:no\.?|number|id|ref(?:erence)?|#)|request (?:no\.?|number|id)|requisition(?: ?(?:no\.?|number|#))?|order (?:id|no\.?|number)|episode(?: no\.?)?|lab reference|report (?:id|no\.?|number)|barcode(?: no\.?)?|control number|specimen|sample`)},
	{"other", labelForm(otherPersonWords + `(?:['’]?s)?(?: (?:full )?name)?`)},
	{"", labelForm(`age|physician|ordering(?: physician| provider)?|date received|received(?: on| date)?|client(?: information)?|fasting|phone|ref(?:erred)?(?: by|erring)?|mrn|patient id|id|address|location|loc|status|room|doctor|provider|requested by|registered(?: on)?|report status|page|uhid|visit|account|npi|specimen type|sample type|specimen information|client information|clinician|ward|nhs(?: no\.?| number)?|hospital no\.?|consultant|test name|lab name|race|ethnicity|height|weight`)},
}

var (
	labWords   = regexp.MustCompile(`(?i)\b(?:laborator(?:y|ies)|labs?|diagnostics?|pathology|path labs?|hospital|clinic|medical cent(?:er|re)|health(?:care)?|bioscience|biolab|lab services)\b`)
	titles     = regexp.MustCompile(`(?i)^(?:mr|mrs|ms|miss|dr|mx|master|baby|prof|smt|shri|sri|kum)\b\.?\s*`)
	maleWord   = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:male|man|m)(?:$|[^a-z])`)
	femaleWord = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:female|woman|f)(?:$|[^a-z])`)
	otherSex   = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:other|unknown|u|x|non-?binary|intersex)(?:$|[^a-z])`)
	specimenID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9/-]{3,24}`)
)

// readMetadata reads the heads of the first two pages.
func (r *reader) readMetadata() (m Metadata, who Patient) {
	values := map[string]string{}
	for p := range min(2, len(r.pages)) {
		for i := range r.pages[p].lines {
			r.labelsOf(p, i, values)
		}
		if p == 0 {
			m.Lab = r.labName()
		}
	}
	m.FirstName, m.LastName = values["first"], values["last"]
	if m.FirstName == "" || m.LastName == "" {
		if first, last := splitName(values["name"]); first != "" || last != "" {
			m.FirstName, m.LastName = first, last
		}
	}
	m.Gender = genderOf(values["sex"])
	if m.Gender == "" {
		m.Gender = genderOf(values["sex in text"])
	}
	m.BirthText, m.CollectedText, m.ReportedText = values["birth"], values["collected"], values["reported"]
	order := r.dateOrder(m)
	m.BirthDate, m.CollectedDate, m.ReportedDate = dayOf(m.BirthText, order), dayOf(m.CollectedText, order), dayOf(m.ReportedText, order)
	m.Specimen = values["specimen"]
	m.BirthOfOther = m.BirthText == "" && values["other birth"] != ""
	r.collected, r.order = r.collectionDays(order), order
	m.SeveralCollections = len(r.collected) > 1
	m.Others = r.otherPersons(m, order)
	m.SeveralPatients = len(m.Others) > 0
	who = Patient{Gender: m.Gender, Age: -1}
	birth, err1 := time.Parse(time.DateOnly, m.BirthDate)
	drawn, err2 := time.Parse(time.DateOnly, m.CollectedDate)
	if err2 != nil {
		drawn, err2 = time.Parse(time.DateOnly, m.ReportedDate)
	}
	if err1 == nil && err2 == nil && drawn.After(birth) {
		who.Age = drawn.Sub(birth).Hours() / 24 / 365.25
	}
	return m, who
}

// otherPersons returns the persons of pages, and of heads between tables, that differ from
// the report's head. A name alone is not enough: words behind a label may be no name. There
// must also be a birth date or a sex, as in a head.
func (r *reader) otherPersons(m Metadata, order dateOrder) (all []Person) {
	add := func(one Person, isOther bool) {
		if isOther && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	relatives := ""
	for p := range r.pages {
		values := map[string]string{}
		for i := range r.pages[p].lines {
			r.labelsOf(p, i, values)
		}
		add(personIn(values, m, order))
		if birth := values["other birth"]; p == 0 || values["name"] != "" || values["birth"] != "" {
			relatives += "|" + birth
		} else if birth != "" && !strings.Contains(relatives, birth) { // a page of its own
			add(personIn(asPatient(values), m, order))
		}
	}
	for _, values := range r.headsBetweenTables() {
		one, isOther := personIn(asPatient(values), m, order)
		hasSex := one.Gender != "" && m.Gender != "" && one.Gender != m.Gender
		add(one, isOther || one.BirthDate != "" && m.BirthText == "" || one.LastName != "" && hasSex)
	}
	return all
}

// personIn returns the person of a head, and whether it is another one than the report's.
func personIn(values map[string]string, m Metadata, order dateOrder) (one Person, isOther bool) {
	birth := dayOf(values["birth"], order)
	first, last := values["first"], values["last"]
	if first == "" || last == "" {
		first, last = splitName(values["name"])
	}
	isHead := (birth != "" || genderOf(values["sex"]) != "") && first != "" && last != "" && m.LastName != ""
	isOther = isHead && !sharesWord(first+" "+last, m.FirstName+" "+m.LastName) || birth != "" && m.BirthDate != "" && birth != m.BirthDate
	return Person{FirstName: first, LastName: last, BirthDate: cmp.Or(birth, values["birth"]), Gender: genderOf(values["sex"])}, isOther
}

// asPatient returns the labels of a relative as those of a patient.
func asPatient(values map[string]string) map[string]string {
	return map[string]string{
		"first": values["first"], "last": values["last"], "name": cmp.Or(values["name"], values["other name"], cleanField("name", values["other"])),
		"birth": cmp.Or(values["birth"], values["other birth"]), "sex": cmp.Or(values["sex"], values["other sex"]),
	}
}

// headsBetweenTables returns the labels of lines between rows of results. Such a line has
// rows above it on its page. It also has rows below it, on its page or a later one.
func (r *reader) headsBetweenTables() (heads []map[string]string) {
	for p, lay := range r.pages {
		first, last := math.Inf(1), math.Inf(-1)
		for _, d := range r.drafts {
			switch {
			case d.page == p:
				first, last = min(first, d.y), max(last, d.y)
			case d.page > p:
				last = math.Inf(1)
			}
		}
		values := map[string]string{}
		for i, l := range lay.lines {
			if l.y < first || l.y > last {
				continue
			}
			if l.used {
				heads = append(heads, values)
				values = map[string]string{}
				continue
			}
			r.labelsOf(p, i, values)
		}
		heads = append(heads, values)
	}
	return heads
}

// collectionDays returns the different days of collection that the labels of a report
// state, as printed if a day is ambiguous.
func (r *reader) collectionDays(order dateOrder) (days []string) {
	for p := range r.pages {
		for i, l := range r.pages[p].lines {
			values := map[string]string{}
			r.labelsOf(p, i, values)
			text := values["collected"]
			if day := cmp.Or(dayOf(text, order), text); day != "" && !previousHeader.MatchString(l.text()) && !slices.Contains(days, day) {
				days = append(days, day)
			}
		}
	}
	return days
}

// sharesWord reports whether two names have a word in common, case ignored.
func sharesWord(a, b string) bool {
	known := map[string]bool{}
	for _, word := range strings.Fields(strings.ToLower(b)) {
		known[strings.Trim(word, ".,")] = true
	}
	for _, word := range strings.Fields(strings.ToLower(a)) {
		if known[strings.Trim(word, ".,")] {
			return true
		}
	}
	return false
}

// labelsOf reads the labels of one line.
func (r *reader) labelsOf(page, i int, values map[string]string) {
	l := r.pages[page].lines[i]
	if l.used {
		return
	}
	isOther := false // the labels belong to another person, up to one of the patient
	set := func(field, value string, isOther bool) {
		if isOther && (field == "birth" || field == "sex" || field == "sex in text" || field == "name" || field == "first" || field == "last") {
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

func cleanField(field, value string) string {
	value = strings.Trim(plain(value), " :,;|-’‘'\".")
	switch field {
	case "birth", "collected", "reported":
		if _, ok := parseDate(value); !ok {
			return ""
		}
		value, _, _ = strings.Cut(value, " / ")
		value, _, _ = strings.Cut(value, " (")
		if at := strings.IndexByte(value, ','); at > 0 && at > 7 {
			if _, ok := parseDate(value[:at]); ok {
				value = value[:at]
			}
		}
		return strings.TrimRight(value, " .,;")
	case "specimen":
		value = strings.TrimRight(specimenID.FindString(value), "./-")
		if !strings.ContainsAny(value, "0123456789") {
			return "" // "Specimen: Serum"
		}
		return value
	case "name", "first", "last":
		if strings.IndexFunc(value, func(r rune) bool { return r >= '0' && r <= '9' }) >= 0 {
			value = strings.TrimRight(value[:strings.IndexFunc(value, func(r rune) bool { return r >= '0' && r <= '9' })], " ,(")
		}
		if cut, _, found := strings.Cut(value, ", date of birth"); found {
			value = cut
		}
		if len(value) > 60 || !looksNamed(value) || childOf.MatchString(value) {
			return ""
		}
	case "sex":
		if genderOf(value) == "" {
			return ""
		}
	}
	return value
}

func splitName(value string) (first, last string) {
	value = strings.TrimSpace(titles.ReplaceAllString(value, ""))
	if before, after, ok := strings.Cut(value, ","); ok {
		return strings.TrimSpace(titles.ReplaceAllString(strings.TrimSpace(after), "")), strings.TrimSpace(before)
	}
	first, last, _ = strings.Cut(value, " ")
	return first, strings.TrimSpace(last)
}

func genderOf(value string) string {
	switch {
	case femaleWord.MatchString(value):
		return "female"
	case maleWord.MatchString(value):
		return "male"
	case otherSex.MatchString(value):
		return "other"
	}
	return ""
}

// dateOrder is the order of day and month in ambiguous dates.
type dateOrder int

const (
	orderUnknown dateOrder = iota
	monthFirst
	dayFirst
)

// dateOrder looks at all dates of the document, then at which order puts the
// report shortly after the collection.
func (r *reader) dateOrder(m Metadata) dateOrder {
	months, days := 0, 0
	for _, p := range r.pages {
		for _, l := range p.lines {
			for _, c := range l.cells {
				for _, w := range c.words {
					parts := numbersForm.FindStringSubmatch(strings.TrimLeft(w.Text, ":("))
					if parts == nil || parts[2] == "." {
						continue
					}
					switch {
					case parts[1] > "12" && len(parts[1]) == 2:
						days++
					case parts[3] > "12" && len(parts[3]) == 2:
						months++
					}
				}
			}
		}
	}
	switch {
	case months > 0 && days == 0:
		return monthFirst
	case days > 0 && months == 0:
		return dayFirst
	case days > 0:
		return orderUnknown
	}
	drawn, ok1 := parseDate(m.CollectedText)
	reported, ok2 := parseDate(m.ReportedText)
	if !ok1 || !ok2 || !drawn.ambiguous && !reported.ambiguous {
		return orderUnknown
	}
	plausible := func(a, b time.Time) bool { return !b.Before(a) && b.Sub(a) <= 21*24*time.Hour }
	month := plausible(drawn.day, reported.day)
	if drawn.ambiguous {
		drawn.day = exchanged(drawn.day)
	}
	if reported.ambiguous {
		reported.day = exchanged(reported.day)
	}
	day := plausible(drawn.day, reported.day)
	switch {
	case month && !day:
		return monthFirst
	case day && !month:
		return dayFirst
	}
	return orderUnknown
}

func exchanged(d time.Time) time.Time {
	return time.Date(d.Year(), time.Month(d.Day()), int(d.Month()), 0, 0, 0, 0, time.UTC)
}

// dayOf returns a printed date as YYYY-MM-DD, or nothing when it is ambiguous.
func dayOf(text string, order dateOrder) string {
	d, ok := parseDate(text)
	switch {
	case !ok:
		return ""
	case d.ambiguous && order == orderUnknown:
		return ""
	case d.ambiguous && order == dayFirst:
		return exchanged(d.day).Format(time.DateOnly)
	}
	return d.day.Format(time.DateOnly)
}

// labName returns the largest text at the top that names a laboratory.
func (r *reader) labName() string {
	lay := r.pages[0]
	best, height := "", 0.0
	for i, l := range lay.lines {
		if i > 12 || l.used {
			break
		}
		for _, c := range l.cells {
			text := strings.TrimSpace(c.text())
			for at := 1; at < len(c.words); at++ { // a label may follow in the same cell
				if _, length := labelAt(newCell(c.words[at:]).text(), false); length > 0 {
					text = newCell(c.words[:at]).text()
					break
				}
			}
			text, _, _ = strings.Cut(text, " · ") // its address may follow
			if c.h > height*1.05 && labWords.MatchString(text) && !strings.Contains(text, ":") && len(text) < 70 && !strings.EqualFold(text, "laboratory report") && !reportTitle.MatchString(text) {
				best, height = text, c.h
			}
		}
	}
	return r.wholeLabName(best, height)
}

// wholeLabName adds the other line of a name that is wrapped.
func (r *reader) wholeLabName(name string, height float64) string {
	lay := r.pages[0]
	for i, l := range lay.lines[:min(14, len(lay.lines))] {
		for _, c := range l.cells {
			if c.text() != name || c.h != height {
				continue
			}
			for _, j := range []int{i - 1, i + 1} {
				if j < 0 || j >= len(lay.lines) {
					continue
				}
				for _, o := range lay.lines[j].cells {
					text := o.text()
					near := math.Abs(o.y-c.y) < 1.5*c.h && math.Abs(o.x0-c.x0) < 0.3*c.h && math.Abs(o.h-c.h) < 0.02*c.h
					switch {
					case !near || strings.ContainsAny(text, ":0123456789") || reportTitle.MatchString(text):
					case j < i && len(strings.Fields(name)) == 1:
						return text + " " + name
					case j > i && len(strings.Fields(text)) == 1 && labWords.MatchString(text):
						return name + " " + text
					}
				}
			}
			return name
		}
	}
	return name
}

var reportTitle = regexp.MustCompile(`(?i)\b(?:report|results|department|not for clinical use)\b`)
