package catalogue

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"hale/internal/labs/loinc"
)

// Limits of what a compendium may say; characters and days.
const (
	longestName  = 200
	longestWords = 2000
	longestTAT   = 365
	mostResults  = 500
)

var (
	labCodeForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	slugForm    = regexp.MustCompile(`^[a-z0-9][a-z0-9_]{0,39}$`)
	icdForm     = regexp.MustCompile(`^[A-Z][0-9][0-9A-Z](\.[0-9A-Z]{1,4})?$`)
)

// markers checks every entry and makes markers of them, without ids.
func (c *Compendium) markers(l Lab) ([]*Marker, Problems) {
	var problems Problems
	codes := map[string]bool{}
	for _, m := range c.Markers {
		if codes[m.ProviderID] {
			problems.add(m.Line, "provider_id", "stands twice in the file")
		}
		codes[m.ProviderID] = true
	}
	markers := make([]*Marker, len(c.Markers))
	for i, m := range c.Markers {
		markers[i] = m.check(l, &problems)
		if m.ReflexOf != "" && !codes[m.ReflexOf] {
			problems.add(m.Line, "reflex_of", "no entry of the file has this provider_id")
		}
	}
	return markers, problems
}

// check makes a marker of an entry, and says what is wrong with it.
func (m ListedMarker) check(l Lab, problems *Problems) *Marker {
	wrong := func(field, text string) { problems.add(m.Line, field, text) }
	if !labCodeForm.MatchString(m.ProviderID) {
		wrong("provider_id", "must be 1 to 64 letters, digits, dots, hyphens and underscores")
	}
	m.Name = strings.TrimSpace(m.Name)
	if !isText(m.Name, 1, longestName) {
		wrong("name", "must have 1 to 200 printable characters")
	}
	for field, text := range map[string]string{"description": m.Description, "unit": m.Unit, "price": m.Price} {
		if !isText(text, 0, longestWords) {
			wrong(field, "must have at most 2000 printable characters")
		}
	}
	if m.Sample == "" {
		m.Sample = Serum
	}
	if !known(m.Sample, SampleTypes) {
		wrong("sample_type", "no such sample type")
	}
	if len(m.Methods) == 0 {
		m.Methods = methodsFor(m.Sample, l.Methods)
	}
	if len(m.Methods) == 0 || slices.ContainsFunc(m.Methods, func(x Method) bool { return !l.Offers(x) }) {
		wrong("methods", "the lab does not offer this collection method")
	}
	for field, n := range map[string]*int{"common_tat_days": m.CommonTAT, "worst_case_tat_days": m.WorstTAT} {
		if n != nil && (*n < 0 || *n > longestTAT) {
			wrong(field, "must be 0 to 365 days")
		}
	}
	if slices.ContainsFunc(m.Covered, func(code string) bool { return !icdForm.MatchString(code) }) {
		wrong("medicare_icd_codes", "must be codes of ICD-10-CM or their beginnings, such as E11 or E11.65")
	}
	if m.CommonTAT != nil && m.WorstTAT != nil && *m.CommonTAT > *m.WorstTAT {
		wrong("worst_case_tat_days", "must not be less than common_tat_days")
	}
	marker := &Marker{
		Lab: l.ID, ProviderID: m.ProviderID, Name: m.Name, Slug: loinc.Slug(m.Name), Description: m.Description, Type: m.Type, Unit: m.Unit,
		Price: m.Price, Sample: m.Sample, Methods: m.Methods, Fasting: m.Fasting, ALaCarte: !m.NotALaCarte && m.ReflexOf == "",
		Orderable: !m.Unorderable && m.ReflexOf == "", Reflex: m.ReflexOf != "", ReflexOf: m.ReflexOf, Active: true,
		CommonTAT: m.CommonTAT, WorstTAT: m.WorstTAT, CPT: m.CPT, Covered: m.Covered,
	}
	marker.Results = m.results(wrong)
	marker.Questions = m.questions(wrong)
	marker.settleType(wrong)
	return marker
}

func (m *Marker) settleType(wrong func(field, text string)) {
	if m.Type == "" {
		m.Type = Biomarker
		if len(m.Results) > 1 {
			m.Type = LabPanel
		}
	}
	if m.Type != Biomarker && m.Type != LabPanel {
		wrong("type", "must be biomarker or panel")
	}
	if m.Type == Biomarker && len(m.Results) > 1 {
		wrong("type", "a biomarker has one result")
	}
	if m.Type == Biomarker && len(m.Results) == 1 && m.Unit == "" {
		m.Unit = m.Results[0].Assay.Unit
	}
}

// results makes the rows of a report.
func (m ListedMarker) results(wrong func(field, text string)) []Result {
	if len(m.Results) == 0 || len(m.Results) > mostResults {
		wrong("results", "must name 1 to 500 results")
	}
	var results []Result
	for i, r := range m.Results {
		field := "results " + strconv.Itoa(i+1)
		if r.LOINC != "" && !loinc.Valid(r.LOINC) {
			wrong(field, "the LOINC code is mistyped: its check digit is wrong")
		}
		code, inTable := loinc.Find(r.LOINC)
		if inTable && r.Name == "" {
			r.Name = code.Display
		}
		if inTable && r.Unit == "" {
			r.Unit = code.Unit
		}
		if !isText(r.Name, 1, longestName) {
			wrong(field, "needs a name, since the LOINC table has none for it")
		}
		if slices.ContainsFunc(results, func(other Result) bool { return other.Name == r.Name && other.LOINC == r.LOINC }) {
			wrong(field, "stands twice in the entry")
		}
		ranges, err := ParseRanges(r.Ranges)
		if err != nil {
			wrong(field, err.Error())
		}
		assay := Assay{
			Scale: Quantity, Unit: r.Unit, Decimals: min(max(r.Decimals, 0), 6), Ranges: ranges, CriticalLow: r.CriticalLow,
			CriticalHigh: r.CriticalHigh, Normal: r.Normal, Abnormal: r.Abnormal,
		}
		if len(r.Normal) > 0 || inTable && code.Scale != "Qn" {
			assay.Scale = Ordinal
		}
		results = append(results, Result{
			Name: r.Name, Slug: loinc.Slug(r.Name), ProviderID: r.ProviderID, Required: !r.Optional, LOINC: r.LOINC, Assay: assay,
		})
	}
	return results
}

// questions checks what is asked at order entry.
func (m ListedMarker) questions(wrong func(field, text string)) []Question {
	var questions []Question
	for i, q := range m.Questions {
		field := "questions " + strconv.Itoa(i+1)
		choices := q.Type == Choice || q.Type == MultiChoice
		switch {
		case !labCodeForm.MatchString(q.Code):
			wrong(field, "needs a code")
		case !isText(q.Value, 1, longestWords):
			wrong(field, "needs a text")
		case !known(q.Type, QuestionTypes):
			wrong(field, "type must be choice, text, numeric or multi_choice")
		case choices != (len(q.Answers) > 0):
			wrong(field, "a choice has answers, anything else has none")
		case slices.ContainsFunc(questions, func(other Question) bool { return other.Code == q.Code }):
			wrong(field, "stands twice in the entry")
		}
		q.ID, q.Sequence = 0, i+1
		q.Answers = slices.Clone(q.Answers)
		for j := range q.Answers {
			q.Answers[j].ID = 0
		}
		questions = append(questions, q)
	}
	return questions
}

// isText reports whether text is printable and of so many characters.
func isText(text string, least, most int) bool {
	n := utf8.RuneCountInString(text)
	return n >= least && n <= most && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t'
	})
}

// checkLab says what is wrong with the description of a lab.
func checkLab(l *Lab) error {
	var problems Problems
	for field, good := range map[string]bool{
		"slug":         slugForm.MatchString(l.Slug),
		"name":         isText(l.Name, 1, longestName),
		"address":      isText(l.Address, 0, longestName),
		"city":         isText(l.City, 0, longestName),
		"zip":          isText(l.Zip, 0, 10),
		"logo_url":     isText(l.LogoURL, 0, longestWords),
		"methods":      len(l.Methods) > 0 && all(l.Methods, Methods),
		"sample_types": len(l.SampleTypes) > 0 && all(l.SampleTypes, SampleTypes),
		"states":       all(l.States, States),
		"billings":     all(l.Billings, Billings),
	} {
		if !good {
			problems.add(0, "lab."+field, "is missing or not allowed")
		}
	}
	slices.SortFunc(problems, func(a, b Problem) int { return strings.Compare(a.Field, b.Field) })
	return problems.err()
}

func all[T comparable](words, of []T) bool {
	return !slices.ContainsFunc(words, func(w T) bool { return !known(w, of) })
}
