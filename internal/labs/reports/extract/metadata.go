package extract

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"hale/internal/labs/identity"
)

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
			if values["first"] == "" || values["last"] == "" { // the second page can be another person's
				if first, last := splitName(values["name"]); first != "" && last != "" {
					values["first"], values["last"] = first, last
				}
			}
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
	r.mentions = r.findMentions(m, order)
	if at := slices.IndexFunc(r.mentions, func(one mention) bool { return one.isHeaded }); at >= 0 && m.FirstName == "" && m.LastName == "" {
		m.FirstName, m.LastName = r.mentions[at].person.FirstName, r.mentions[at].person.LastName
	}
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
	} else if printed := ageForm.FindStringSubmatch(values["age"] + " " + values["sex"]); printed != nil {
		years, _ := strconv.Atoi(printed[1])
		who.Age = float64(years) + 0.5 // of the whole years that the report states
	}
	return m, who
}

// ageForm is an age in years: "44 Y / F".
var ageForm = regexp.MustCompile(`(?i)(?:^|[^\d.,])(\d{1,3})\s*(?:years?|yrs?|y)\b`)

// otherPersons returns the persons of pages, of heads between tables and of mentions that
// differ from the report's head. In pages and heads a name alone is not enough: words
// behind a label may be no name. There must also be a birth date or a sex.
func (r *reader) otherPersons(m Metadata, order dateOrder) (all []Person) {
	add := func(one Person, isOther bool) {
		if isOther && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	relatives, isCoarse := "", r.isRecognised()
	for p := range r.pages {
		values := map[string]string{}
		for i := range r.pages[p].lines {
			r.labelsOf(p, i, values)
		}
		add(personIn(values, m, order, isCoarse))
		if birth := values["other birth"]; p == 0 || values["name"] != "" || values["birth"] != "" {
			relatives += "|" + birth
		} else if birth != "" && !strings.Contains(relatives, birth) { // a page of its own
			add(personIn(asPatient(values), m, order, isCoarse))
		}
	}
	for _, values := range r.headsBetweenTables() {
		one, isOther := personIn(asPatient(values), m, order, isCoarse)
		add(one, isOther || one.BirthDate != "" && m.BirthText == "" || one.LastName != "" && sexDiffers(one.Gender, m.Gender))
	}
	for i := range r.mentions {
		one := &r.mentions[i]
		isKnown := slices.ContainsFunc(all, func(other Person) bool {
			name := identity.Words(other.FirstName + " " + other.LastName)
			return len(name) > 0 && isSameName(name, one.name, false)
		})
		add(one.person, !isKnown && r.differs(one, m))
	}
	return all
}

// personIn returns the person of a head, and whether it is another one than the report's.
func personIn(values map[string]string, m Metadata, order dateOrder, isCoarse bool) (one Person, isOther bool) {
	birth := dayOf(values["birth"], order)
	first, last := values["first"], values["last"]
	if first == "" || last == "" {
		first, last = splitName(values["name"])
	}
	isHead := (birth != "" || genderOf(values["sex"]) != "") && first != "" && last != "" && m.LastName != ""
	isOther = isHead && !isSameName(identity.Words(first+" "+last), identity.Words(m.FirstName+" "+m.LastName), isCoarse) || birth != "" && m.BirthDate != "" && birth != m.BirthDate
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

func cleanField(field, value string) string {
	value = strings.Trim(plainSpaces(value), " :,;|-’‘'\".")
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
		if _, isDate := parseDate(value); isDate && wholeDate.MatchString(value) {
			return "" // "Sample: 02/11/2026"
		}
		value = strings.TrimRight(specimenID.FindString(value), "./-")
		if !strings.ContainsAny(value, "0123456789") {
			return "" // "Specimen: Serum"
		}
		return value
	case "name", "first", "last":
		if strings.IndexFunc(value, func(r rune) bool { return r >= '0' && r <= '9' }) >= 0 {
			value = withoutEndWords(value[:strings.IndexFunc(value, func(r rune) bool { return r >= '0' && r <= '9' })])
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

// wholeDate is a date, with or without a time, and nothing more. A number such as
// 26-11-02-0012 begins with one.
var wholeDate = regexp.MustCompile(`(?i)^(?:\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/ ]?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-/ ,]*\d{2,4})(?:[ T,].*)?$`)

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
