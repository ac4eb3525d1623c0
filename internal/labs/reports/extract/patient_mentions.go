package extract

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"hale/internal/labs/identity"
)

// mention is a place that names a patient.
type mention struct {
	name     []string // folded words, one at least
	person   Person
	isHeaded bool // a label of a patient is beside or above the name
}

var (
	patientLabel = regexp.MustCompile(`(?i)(?:^|[\t ,;|(])(?:name of (?:the )?patient|(?:patient(?:in)?|pat\.?|pt\.?)(?:['’]?s)?(?: full)?(?: name)?)(?: ?/ ?[\pL. ]{2,20}| ?\([^)]{2,20}\))? ?: ?`)
	patientComma = regexp.MustCompile(`(?i)(?:^|\t)patient (\pL[\pL'’-]+, ?\pL.*)`)
	personLabel  = regexp.MustCompile(`(?i)(?:^|\t|[\d,;|)]\s+)(?:(?:(?:full |donor |employee |member |subject |client )?name|re|regarding|subject|donor|examinee) ?: ?|results? for ?:? )`)
	patientCell  = regexp.MustCompile(`(?i)^(?:patient(?:['’]?s)?(?: name)?|name of patient)$`)
	nameCell     = regexp.MustCompile(`(?i)^(?:full )?name$`)
	testCell     = regexp.MustCompile(`(?i)^(?:tests?(?: name)?|analytes?|examinations?|investigations?|parameters?|components?)$`)
	notPatients  = regexp.MustCompile(`(?i)\b(?:the|this|other|index|source|to|cc|non)[ -]$`)

	// birthAnchor is a date, an age with a sex, or the number of a patient behind a name.
	birthAnchor = regexp.MustCompile(`(?i)\b(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|\d{8}|\d{1,2}(?:st|nd|rd|th)?[-/. ]*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?[-/., ]*\d{4}|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? ?\d{1,2}(?:st|nd|rd|th)?, ?\d{4})\b|` +
		`\b\d{1,3} ?(?:y|yrs?|years?)[ ,/]+(?:male|female|m|f)\b|\b(?:mrn|pid|uhid|patient (?:id|no\.?|number)|hospital no\.?|nhs no\.?)[ :#]*\d`)
	birthMark  = regexp.MustCompile(`(?i)(?:[*°]|\b(?:geb(?:oren)?(?: am)?|born(?: on)?|n[ée]+(?:\(e\))?(?: le)?|d\.?o\.?b\.?|birth ?date|date of birth|birthday))[.: ]*$`)
	sexBefore  = regexp.MustCompile(`(?i)(?:[ ,(]+(male|female)|(?:, ?|\()(m|f))\)?$`)
	sexAfter   = regexp.MustCompile(`(?i)^[\s,;|/()]*(?:\d{1,3} ?(?:y|yrs?|years?)?[\s,;|/()]*)?(male|female|m|f)(?:[\s,;|/()]|$)`)
	caretName  = regexp.MustCompile(`(?:^|[\t ])(\pL[\pL'’-]+\^\pL[\pL'’^ -]*)`)
	doctorWord = regexp.MustCompile(`(?i)\b(?:dr|prof|md|physicians?|doctors?|provider|clinician|consultant|pathologist|director|surgeon|nurse|technologist|technician|phlebotomist|pharmacist|ordering|ordered|referring|referred|requested|requesting|attending|signed|signature|reviewed|approved|verified|validated|authori[sz]ed|released|performed|interpreted|printed|by|cc|copy|copies|attn|attention|dear|contact|emergency|prescriber|practitioner|account|client)\b`)
	nameEnd    = regexp.MustCompile(`[0-9|·;#*°/:=]| [-–—] `)
	inBrackets = regexp.MustCompile(`\([^)]*\)?|\[[^\]]*\]?`)
	honorific  = regexp.MustCompile(`(?i)^(?:mr|mrs|ms|miss|dr|mx|master|prof|herr|frau|smt|shri|sri|kum)(?:\.| |$)\s*`)
	birthName  = regexp.MustCompile(`(?i)[ ,](?:n[ée]e|n[ée]|born|geb\.?|geborene?) .*$`)
)

// endWords may follow a name without a colon, such as the word before a number.
var endWords = wordSet("page name pg seite mrn pid uhid id no nr number num nhs ssn dob date born birth geb geboren of sex gender age male female collected reported received printed " +
	"ref tel phone fax room ward bed specimen sample accession acc lab report order ordering physician doctor provider hospital patient account visit")

// notNames are words that no name of a person has.
var notNames = wordSet(
	"see page above below same as previous next your request results result report reports reporting information info details data copy continued cont test tests testing name names id number no not and or the of for to",
	"in on at by with without is are was has have had please note notes fasting status unknown anonymous confidential inpatient outpatient self positive negative normal abnormal reactive nonreactive detected control",
	"sample samples specimen specimens blood serum urine plasma laboratory laboratories lab labs laboratorio diagnostic diagnostics hospital clinic medical center centre health healthcare pathology department service services",
	"panel profile value values reference range ranges unit units date time received collected reported printed final preliminary corrected amended comment comments interpretation method form version effective visit current",
	"revision valid changed updated since from until history portal group type therapy treatment preparation instructions consent education leaflet guide contact address phone email consultation referral order orders",
	"accession male female adult adults men women children boys girls years year months age sex gender dob born birth admission discharge pending insured insurance policy holder guarantor mother father partner",
	"should must will this that these those elevated high low increased decreased follow followup up antibody antibodies antigen hormone vitamin acid ratio total free screen index level levels",
	"anonymised anonymized blinded volunteer ambulatory stable pregnant diabetic smoker hospitalized hospitalised premenopausal postmenopausal menopausal resting home room air",
	"practice vaccine vaccination transplant surgery diagnosis diagnosed collection isolate isolated satisfaction survey",
	"available unavailable none nil other various attached enclosed summary discussion advised seen call called notified aware accredited certified copyright rights reserved gmbh ltd inc llc ag sa limited",
)

// surnames are words of notNames that are family names, too.
var surnames = wordSet("page see no to on home self holder free case guide group room portal")

// particles are words in lower case that names have.
var particles = wordSet("de da di del della der den des dos das do du el la le van von vom zu zum zur ter ten bin ibn al y e")

// parsePersonName returns a person's name without titles, brackets and the words behind
// it, and its folded words. It returns none if text is no name.
func parsePersonName(text string) (name string, words []string) {
	text, _, _ = strings.Cut(text, "\t")
	text = plainSpaces(strings.ReplaceAll(text, "^", " "))
	if childOf.MatchString(text) || otherPerson.MatchString(text) {
		return "", nil
	}
	name = trimName(inBrackets.ReplaceAllString(text, " "))
	for honorific.MatchString(name) {
		name = honorific.ReplaceAllString(name, "")
	}
	words = identity.Words(name)
	for len(words) > 2 && len(words[len(words)-1]) == 1 && strings.Contains("mfw", words[len(words)-1]) && !strings.HasSuffix(name, ".") { // the sex
		words = words[:len(words)-1]
		name = strings.TrimRight(name[:max(0, strings.LastIndexAny(name, " ,"))], " ,")
	}
	if len(words) == 0 || len(words) > 6 {
		return "", nil
	}
	longest := 0
	for i, word := range words {
		longest = max(longest, len([]rune(word)))
		isSurname := surnames[word] && (i > 0 || strings.HasPrefix(strings.ToLower(name), word+","))
		if notNames[word] && !isSurname {
			return "", nil
		}
	}
	hasComma := strings.Count(name, ",") == 1
	for word := range strings.FieldsFuncSeq(name, func(c rune) bool { return c == ' ' || c == ',' }) {
		first := []rune(word)[0]
		if !unicode.IsLetter(first) || unicode.IsLower(first) && !hasComma && !particles[strings.ToLower(word)] {
			return "", nil
		}
		if strings.ContainsFunc(word, func(c rune) bool {
			return !unicode.IsLetter(c) && !unicode.IsMark(c) && !strings.ContainsRune(".-'’`´", c)
		}) {
			return "", nil
		}
	}
	if isLatin := longest > 0 && words[0][0] < 0x80; isLatin && longest < 2 || strings.Count(name, ",") > 2 {
		return "", nil // initials only
	}
	return strings.Join(strings.Fields(name), " "), words
}

// trimName cuts the words behind a name: "Rossi, Marco Page 2 of 2".
func trimName(name string) string {
	name = birthName.ReplaceAllString(name, "")
	if at := nameEnd.FindStringIndex(name); at != nil {
		name = withoutEndWords(name[:at[0]])
	}
	return strings.Trim(name, " ,;-.'\"’‘")
}

// withoutEndWords removes the words before a number from the end of a name.
func withoutEndWords(name string) string {
	for {
		name = strings.TrimRight(name, " ,.(")
		at := strings.LastIndexAny(name, " ,")
		if at < 0 || !endWords[strings.ToLower(strings.TrimRight(name[at+1:], "."))] {
			return name
		}
		name = name[:at]
	}
}

// isSameName reports whether two names, as folded words, can be one person's: each word
// of the shorter one has its own in the longer one. An initial counts as its name.
// isCoarse allows for letters that a recogniser reads wrongly.
func isSameName(a, b []string, isCoarse bool) bool {
	split := func(words []string) (all []string) {
		for _, word := range words {
			for part := range strings.SplitSeq(word, "-") {
				if part = umlauts.Replace(part); part != "" && !slices.Contains(identity.GivenSuffixes, part) {
					all = append(all, part)
				}
			}
		}
		return all
	}
	short, long := split(a), split(b)
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(short) == 0 || joinsTo(short, strings.Join(long, "")) {
		return true
	}
	whole := false
	for _, isInitial := range []bool{false, true} { // whole words first
		for _, word := range short {
			if len(word) == 1 != isInitial {
				continue
			}
			at := slices.IndexFunc(long, func(other string) bool { return word == other })
			if at < 0 && isCoarse {
				limit := max(1, len(word)/4)
				at = slices.IndexFunc(long, func(other string) bool { return len(other) > 2 && editDistance(word, other, limit) <= limit })
			}
			if whole = whole || at >= 0 && !isInitial; at < 0 {
				at = slices.IndexFunc(long, func(other string) bool {
					return isInitial && strings.HasPrefix(other, word) || len(other) == 1 && strings.HasPrefix(word, other)
				})
			}
			if at < 0 {
				return false
			}
			long = slices.Delete(slices.Clone(long), at, at+1)
		}
	}
	return whole
}

// umlauts are spelled with and without an e.
var umlauts = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")

// joinsTo reports whether the words, in a turned order, are one text without blanks.
func joinsTo(words []string, text string) bool {
	for i := range words {
		if strings.Join(words[i:], "")+strings.Join(words[:i], "") == text {
			return true
		}
	}
	return false
}

// findMentions returns the places that name a patient. A name is behind a label, beside a
// birth date or a number of a patient, or in a table's column of patients.
func (r *reader) findMentions(m Metadata, order dateOrder) (all []mention) {
	for p, lay := range r.pages {
		half, halfLine := map[string]string{}, 0 // a first or last name of the lines above
		for i, l := range lay.lines {
			parts := make([]string, len(l.cells))
			for k, c := range l.cells {
				parts[k] = plainSpaces(c.text())
			}
			text := strings.Join(parts, "\t")
			values := map[string]string{}
			r.labelsOf(p, i, values)
			if i > halfLine+2 {
				clear(half)
			}
			for _, field := range []string{"first", "last"} {
				if values[field] != "" {
					half[field], halfLine = values[field], i
				}
			}
			if half["first"] != "" && half["last"] != "" {
				values["first"], values["last"] = half["first"], half["last"]
				clear(half)
			}
			from := len(all)
			all = append(all, r.labelledNames(text, values, func(at int) bool {
				return signatureWord.MatchString(text) || r.isUnderOther(p, i, strings.Count(text[:at], "\t"))
			})...)
			all = append(all, r.datedNames(text, l.used, m, order)...)
			for k := range all[from:] {
				one := &all[from+k].person
				one.BirthDate = cmp.Or(one.BirthDate, dayOf(values["birth"], order), values["birth"])
				one.Gender = cmp.Or(one.Gender, genderOf(values["sex"]))
			}
			all = append(all, r.namesInColumn(p, i)...)
		}
	}
	return all
}

// labelledNames returns the names behind labels of a line. isOther reports whether a
// label without the word patient belongs to another person, such as a doctor.
func (r *reader) labelledNames(text string, values map[string]string, isOther func(at int) bool) (all []mention) {
	add := func(text string, isHeaded bool) {
		name, words := parsePersonName(text)
		isTerm := len(words) > 0 && r.isTerm(name)
		switch {
		case len(words) == 0, len(words) == 1 && (isTerm || !isHeaded || len(words[0]) < 3):
		case !isHeaded && (isTerm || doctorTitle.MatchString(text)):
		default:
			all = append(all, newMention(name, words, isHeaded))
		}
	}
	for _, at := range patientLabel.FindAllStringIndex(text, -1) {
		label := strings.TrimLeft(text[at[0]:], "\t ,;|(")
		if before := strings.TrimSuffix(text, label); !notPatients.MatchString(before) {
			add(strings.TrimLeft(text[at[1]:], "\t :"), true)
		}
	}
	if found := patientComma.FindStringSubmatch(text); found != nil {
		add(found[1], true)
	}
	if len(all) > 0 {
		return all
	}
	for _, at := range personLabel.FindAllStringIndex(text, -1) {
		if label := strings.TrimLeft(text[at[0]:], "\t ,;|)0123456789"); !isOther(len(text) - len(label)) {
			add(strings.TrimLeft(text[at[1]:], "\t :"), false)
		}
	}
	switch {
	case len(all) > 0:
	case values["first"] != "" && values["last"] != "":
		if !isOther(0) {
			add(values["last"]+", "+values["first"], false)
		}
	case values["name"] != "" && thePatient.MatchString(text) && !strings.Contains(text, ":"): // below or beside the label
		if name, words := parsePersonName(values["name"]); len(words) >= 2 && !r.isTerm(name) {
			all = append(all, newMention(name, words, true))
		}
	}
	return all
}

var signatureWord = regexp.MustCompile(`(?i)\b(?:title|position|role|designation|signature|signed)\b`)

var doctorTitle = regexp.MustCompile(`(?i)^(?:dr|prof)\b|\bM\.?D\b`)

// isTerm reports whether a text is a term of laboratories rather than a person's name.
func (r *reader) isTerm(text string) bool {
	return r.knows(text) >= 0.8 || genusWords[strings.ToLower(firstWord(text))] || labWords.MatchString(text) || panelWords.MatchString(text)
}

// isUnderOther reports whether a heading such as "Ordering physician" or "Insured" is
// above a cell of a line, nearer than a heading of the patient.
func (r *reader) isUnderOther(page, i, k int) bool {
	lay := r.pages[page]
	cells := lay.lines[i].cells
	for j := i - 1; j >= max(0, i-5) && !lay.lines[j].used && k < len(cells); j-- {
		for _, c := range lay.lines[j].cells {
			text := strings.TrimRight(c.text(), ": ")
			if math.Abs(c.x0-cells[k].x0) > 2*lay.em || len(c.words) > 4 || strings.Contains(text, ":") {
				continue
			}
			if thePatient.MatchString(text) {
				return false
			}
			if doctorWord.MatchString(text) || otherPersonAny.MatchString(text) || otherHeading.MatchString(text) {
				return true
			}
		}
	}
	return false
}

var otherHeading = regexp.MustCompile(`(?i)^(?:insurance|primary insurance|facility|submitter|sender|recipient|location|payer|practice|employer)\b`)

// isOfOther reports whether the end of a text belongs to a doctor or a relative: its cell,
// or the cell before it, says so.
func isOfOther(text string) bool {
	cells := strings.Split(text, "\t")
	last := cells[len(cells)-1]
	if len(cells) > 1 {
		if label := strings.TrimRight(cells[len(cells)-2], ": "); !strings.Contains(label, ":") && len(strings.Fields(label)) <= 3 {
			last = label + " " + last
		}
	}
	return doctorWord.MatchString(last) || otherPersonAny.MatchString(last)
}

// datedNames returns the unlabelled names of a line beside a birth date, an age or the
// number of a patient. It also returns names as in HL7 messages. A bare date must be a year older
// than the sample, and beside no term of laboratories. A row of results needs a birth
// mark or a sex.
func (r *reader) datedNames(text string, isRow bool, m Metadata, order dateOrder) (all []mention) {
	for _, at := range caretName.FindAllStringSubmatchIndex(text, -1) {
		if name, words := parsePersonName(strings.Replace(text[at[2]:at[3]], "^", ", ", 1)); len(words) >= 2 && !isOfOther(text[:at[2]]) {
			all = append(all, newMention(name, words, false))
		}
	}
	for _, at := range birthAnchor.FindAllStringIndex(text, -1) {
		before, anchor := strings.TrimRight(text[:at[0]], "\t ,;|(/-"), text[at[0]:at[1]]
		mark := birthMark.FindString(before)
		before = strings.TrimRight(strings.TrimSuffix(before, mark), "\t ,;|(/-*°")
		sex := ""
		if found := sexAfter.FindStringSubmatch(text[at[1]:]); found != nil {
			sex = genderOf(found[1])
		}
		if found := sexBefore.FindString(before); found != "" && len(strings.Fields(before)) > 2 { // "Rossi, M" is an initial
			sex = genderOf(found)
			before = strings.TrimRight(strings.TrimSuffix(before, found), "\t ,;|(/-")
		}
		cut := strings.LastIndexAny(before, "\t:;|0123456789") + 1
		name, words := parsePersonName(leadingLabel.ReplaceAllString(before[cut:], ""))
		least := 2
		if mark != "" && !strings.ContainsAny(mark, "*°") {
			least = 1
		}
		if len(words) < least || r.isTerm(name) || isOfOther(before) {
			continue
		}
		day, isDate := anchorDay(anchor, order)
		switch {
		case !isDate: // an age with a sex, or a number of a patient
			if isRow {
				continue
			}
			if sex == "" {
				sex = genderOf(ageForm.ReplaceAllString(anchor, ""))
			}
		case mark != "" || sex != "":
		case isRow || !isYearBefore(day, cmp.Or(m.CollectedDate, m.ReportedDate)) || slices.ContainsFunc(words, func(word string) bool { return len(word) > 4 && r.isTerm(word) }):
			continue
		}
		one := newMention(name, words, false)
		one.person.BirthDate, one.person.Gender = day, sex
		all = append(all, one)
	}
	return all
}

var leadingLabel = regexp.MustCompile(`(?i)^ *(?:patient(?:['’]?s)?(?: name)?|pat\.?|pt\.?|name|re)(?: |$)`)

var otherPersonAny = regexp.MustCompile(`(?i)\b` + otherPersonWords + `\b`)

// anchorDay returns the day of an anchor: empty if it is ambiguous.
func anchorDay(anchor string, order dateOrder) (day string, isDate bool) {
	if len(anchor) == 8 {
		if d, err := time.Parse("20060102", anchor); err == nil {
			return d.Format(time.DateOnly), true
		}
	}
	_, isDate = parseDate(anchor)
	return dayOf(anchor, order), isDate
}

// isYearBefore reports whether a day is at least a year before another one.
func isYearBefore(day, other string) bool {
	a, err1 := time.Parse(time.DateOnly, day)
	b, err2 := time.Parse(time.DateOnly, other)
	return err1 == nil && err2 == nil && !a.AddDate(1, 0, 0).After(b)
}

// namesInColumn returns the names below a header of a table that has a column of patients.
func (r *reader) namesInColumn(page, i int) (all []mention) {
	lay := r.pages[page]
	cells := lay.lines[i].cells
	hasTests := slices.ContainsFunc(cells, func(c cell) bool { return testCell.MatchString(c.text()) })
	for k, c := range cells {
		if !patientCell.MatchString(c.text()) && !(hasTests && nameCell.MatchString(c.text())) || len(cells) < 3 || !hasTests {
			continue
		}
		right := lay.lines[i].cells[min(k+1, len(cells)-1)].x0
		if k == len(cells)-1 {
			right = c.x1 + 100*lay.em
		}
		for _, l := range lay.lines[i+1:] {
			if !l.used { // no row
				continue
			}
			var words []Word
			for _, b := range l.cells {
				for _, w := range b.words {
					if w.Box.X >= c.x0-1.2*lay.em && w.Box.X < right-0.3*lay.em {
						words = append(words, w)
					}
				}
			}
			if len(words) == 0 {
				continue
			}
			if name, folded := parsePersonName(newCell(words).text()); len(folded) >= 2 && !r.isTerm(name) {
				all = append(all, newMention(name, folded, true))
			}
		}
	}
	return all
}

func newMention(name string, words []string, isHeaded bool) mention {
	first, last := splitName(name)
	if a, b, ok := strings.Cut(name, " "); ok && !strings.Contains(name, ",") && isUpper(a) && !isUpper(b) { // ROSSI Marco
		first, last = b, a
	}
	return mention{name: words, person: Person{FirstName: first, LastName: last}, isHeaded: isHeaded}
}

func isUpper(text string) bool {
	return len([]rune(text)) > 1 && text == strings.ToUpper(text) && text != strings.ToLower(text)
}

// isMentioned reports whether a text is the name of a mentioned person.
func (r *reader) isMentioned(text string) bool {
	words := identity.Words(text)
	return len(words) > 1 && slices.ContainsFunc(r.mentions, func(one mention) bool { return slices.Equal(one.name, words) })
}

// differs reports whether a mention names another person than the report's head.
func (r *reader) differs(one *mention, m Metadata) bool {
	own := identity.Words(m.FirstName + " " + m.LastName)
	if len(own) > 0 && !isSameName(own, one.name, r.isRecognised()) {
		return true
	}
	if _, err := time.Parse(time.DateOnly, one.person.BirthDate); err == nil && m.BirthDate != "" && one.person.BirthDate != m.BirthDate {
		return true
	}
	return sexDiffers(one.person.Gender, m.Gender)
}

// sexDiffers reports whether one sex is male and the other one female.
func sexDiffers(a, b string) bool {
	return a == "male" && b == "female" || a == "female" && b == "male"
}

// withoutMisread removes the persons whose name has a word of the report's person: a
// second reading of an image can have read it wrongly.
func withoutMisread(persons []Person, m Metadata) []Person {
	own := identity.Words(m.FirstName + " " + m.LastName)
	return slices.DeleteFunc(slices.Clone(persons), func(p Person) bool {
		words := identity.Words(p.FirstName + " " + p.LastName)
		return len(words) == 0 || slices.ContainsFunc(words, func(word string) bool {
			return slices.ContainsFunc(own, func(other string) bool { return editDistance(word, other, len(word)/2) <= len(word)/2 })
		})
	})
}

// isRecognised reports whether a page is an image, whose letters can be read wrongly.
func (r *reader) isRecognised() bool {
	return slices.ContainsFunc(r.doc.Pages, func(p Page) bool { return p.Source == FromOCR })
}
