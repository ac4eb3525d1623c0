package catalogue

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"hale/internal/labs/loinc"
	"hale/internal/people/users/person"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// Limits of a compendium, in characters and days.
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

// checkMarkers checks all entries and converts them to markers without ids.
func (c *Compendium) checkMarkers(l Lab) ([]*Marker, Problems) {
	var problems Problems
	codes := map[string]bool{}
	for _, m := range c.Markers {
		if codes[m.ProviderID] {
			problems.add(m.Line, "provider_id", "is twice in the file")
		}
		codes[m.ProviderID] = true
	}
	markers := make([]*Marker, len(c.Markers))
	for i, m := range c.Markers {
		markers[i] = m.toMarker(l, &problems)
		if m.ReflexOf != "" && !codes[m.ReflexOf] {
			problems.add(m.Line, "reflex_of", "no entry of the file has this provider_id")
		}
	}
	return markers, problems
}

// toMarker converts an entry to a marker and collects its problems.
func (m ListedMarker) toMarker(l Lab, problems *Problems) *Marker {
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
	if !containsWord(m.Sample, SampleTypes) {
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
	m.Specimen.check(wrong)
	if m.LOINC != "" && !loinc.IsCode(m.LOINC) {
		wrong("loinc", "the LOINC code is mistyped: its check digit is wrong")
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
		CommonTAT: m.CommonTAT, WorstTAT: m.WorstTAT, CPT: m.CPT, Covered: m.Covered, Specimen: m.Specimen, LOINC: m.LOINC,
	}
	marker.Results = m.toResults(wrong)
	marker.Questions = m.toQuestions(wrong)
	marker.inferType(wrong)
	return marker
}

func (m *Marker) inferType(wrong func(field, text string)) {
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

// toResults converts the rows of a report.
func (m ListedMarker) toResults(wrong func(field, text string)) []Result {
	if len(m.Results) == 0 || len(m.Results) > mostResults {
		wrong("results", "must name 1 to 500 results")
	}
	var results []Result
	for i, r := range m.Results {
		field := "results " + strconv.Itoa(i+1)
		if r.LOINC != "" && !loinc.IsCode(r.LOINC) {
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
			wrong(field, "is twice in the entry")
		}
		ranges, err := ParseRanges(r.Ranges)
		if err != nil {
			wrong(field, err.Error())
		}
		checkLimits(r.CriticalLow, r.CriticalHigh, ranges, func(name, text string) { wrong(field+"."+name, text) })
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

// checkLimits checks that the critical limits are outside the reference ranges:
// otherwise normal values would be critical, or critical ones normal.
func checkLimits(low, high *float64, ranges []Range, wrong func(name, text string)) {
	for name, limit := range map[string]*float64{"critical_low": low, "critical_high": high} {
		if limit != nil && (math.IsNaN(*limit) || math.IsInf(*limit, 0)) {
			wrong(name, "must be a number")
			return
		}
	}
	if low != nil && high != nil && *low >= *high {
		wrong("critical_low", "must be below critical_high")
		return
	}
	for _, r := range ranges {
		if low != nil && (r.Low != nil && *low > *r.Low || r.High != nil && *low >= *r.High) {
			wrong("critical_low", "must not be inside or above a reference range")
			return
		}
		if high != nil && (r.High != nil && *high < *r.High || r.Low != nil && *high <= *r.Low) {
			wrong("critical_high", "must not be inside or below a reference range")
			return
		}
	}
}

// toQuestions checks the questions of order entry.
func (m ListedMarker) toQuestions(wrong func(field, text string)) []Question {
	var questions []Question
	for i, q := range m.Questions {
		field := "questions " + strconv.Itoa(i+1)
		choices := q.Type == Choice || q.Type == MultiChoice
		switch {
		case !labCodeForm.MatchString(q.Code):
			wrong(field, "needs a code")
		case !isText(q.Value, 1, longestWords):
			wrong(field, "needs a text")
		case !containsWord(q.Type, QuestionTypes):
			wrong(field, "type must be choice, text, numeric or multi_choice")
		case choices != (len(q.Answers) > 0):
			wrong(field, "a choice has answers, and other types have none")
		case slices.ContainsFunc(questions, func(other Question) bool { return other.Code == q.Code }):
			wrong(field, "is twice in the entry")
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

// isText reports whether text is printable and its length is within the limits.
func isText(text string, least, most int) bool {
	n := utf8.RuneCountInString(text)
	return n >= least && n <= most && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t'
	})
}

// checkLab returns the problems of a lab's description.
func checkLab(l *Lab) error {
	var problems Problems
	for field, good := range map[string]bool{
		"slug":        slugForm.MatchString(l.Slug),
		"name":        isText(l.Name, 1, longestName),
		"address":     isText(l.Address, 0, longestName),
		"city":        isText(l.City, 0, longestName),
		"zip":         isText(l.Zip, 0, 10),
		"state":       l.State == "" || person.States[l.State] != "",
		"phone":       isText(l.Phone, 0, 40),
		"clia":        isText(l.CLIA, 0, 20),
		"payor_codes": hasPayorCodes(l.PayorCodes),
		"logo_url":    isText(l.LogoURL, 0, longestWords),
	} {
		if !good {
			problems.add(0, "lab."+field, "is missing or not allowed")
		}
	}
	for field, wrong := range map[string]string{
		"methods": checkWords(l.Methods, Methods, 1), "sample_types": checkWords(l.SampleTypes, SampleTypes, 1),
		"states": checkWords(l.States, States, 0), "billings": checkWords(l.Billings, Billings, 0),
	} {
		if wrong != "" {
			problems.add(0, "lab."+field, wrong)
		}
	}
	slices.SortFunc(problems, func(a, b Problem) int { return strings.Compare(a.Field, b.Field) })
	return problems.asError()
}

// hasPayorCodes reports whether all codes of a table are printable.
func hasPayorCodes(table map[string]string) bool {
	for payor, code := range table {
		if !isText(payor, 1, 100) || !isText(code, 1, 100) {
			return false
		}
	}
	return true
}

// checkWords returns the error in a list of words, or "" for a valid list.
func checkWords[T ~string](words, allowed []T, least int) string {
	for _, w := range words {
		if !containsWord(w, allowed) {
			return fmt.Sprintf("%q is not one of: %s", w, listWords(allowed))
		}
	}
	if len(words) < least {
		return "is missing; one or more of: " + listWords(allowed)
	}
	return ""
}

func listWords[T ~string](all []T) string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = string(one)
	}
	return strings.Join(texts, ", ")
}

// ImportCounts counts the changes of an import.
type ImportCounts struct {
	Lab         string `json:"lab"`
	Added       int    `json:"added"`
	Changed     int    `json:"changed"`
	Unchanged   int    `json:"unchanged"`
	Deactivated int    `json:"deactivated"`
	// Lacks names the missing fields of the lab, separated by commas: see Lab.Lacks.
	Lacks string `json:"lacks,omitempty"`
}

// Import updates the catalogue of all teams from a lab's compendium. An entry
// keeps its id as long as its code stays the same. With a full list, markers of
// the lab that the list does not contain become inactive; existing orders
// continue.
//
// described is the operator's description of the lab, apart from the file. If it
// is nil, the description of the file or of an earlier import applies. Importing
// the same file again changes nothing.
func Import(ctx context.Context, tx *store.Tx, slug string, described *Lab, c *Compendium, full bool) (ImportCounts, error) {
	im := &importer{tx: tx}
	if err := tx.Lock(ctx, "catalogue"); err != nil {
		return ImportCounts{}, err
	}
	if err := im.begin(ctx); err != nil {
		return ImportCounts{}, err
	}
	if described == nil {
		described = c.Lab
	}
	l, err := im.storeLab(ctx, slug, described)
	if err != nil {
		return ImportCounts{}, err
	}
	markers, problems := c.checkMarkers(l)
	if err := problems.asError(); err != nil {
		return ImportCounts{}, err
	}
	im.report.Lab, im.report.Lacks = l.Slug, strings.Join(l.Lacks(), ", ")
	if err := im.storeMarkers(ctx, l, markers, full); err != nil {
		return ImportCounts{}, err
	}
	return im.report, im.finish(ctx)
}

// importer is the state of an import.
type importer struct {
	tx     *store.Tx
	next   int64 // id
	dirty  bool
	report ImportCounts
}

func (im *importer) begin(ctx context.Context) error {
	err := im.tx.QueryRow(ctx, `SELECT next_id FROM catalogue WHERE id = 1`).Scan(&im.next)
	if err != nil {
		return fmt.Errorf("catalogue: reading the next id: %w", err)
	}
	return nil
}

// finish gives the catalogue a new revision if anything changed, so that every node
// reads it again.
func (im *importer) finish(ctx context.Context) error {
	if !im.dirty {
		return nil
	}
	_, err := im.tx.Exec(ctx, `UPDATE catalogue SET revision = $1, next_id = $2 WHERE id = 1`, im.tx.NewUUID().String(), im.next)
	if err != nil {
		return fmt.Errorf("catalogue: changing the revision: %w", err)
	}
	return nil
}

func (im *importer) nextID() int64 {
	im.next++
	return im.next - 1
}

// storeLab stores the lab if it is described, otherwise it reads the stored one.
func (im *importer) storeLab(ctx context.Context, slug string, described *Lab) (Lab, error) {
	stored, err := importedLabs(ctx, im.tx)
	if err != nil {
		return Lab{}, err
	}
	if described == nil {
		i := slices.IndexFunc(stored, func(l Lab) bool { return l.Slug == slug })
		if i < 0 {
			return Lab{}, fault.New(fault.Refused, "The lab was never imported, so it must be described").At("body", "lab")
		}
		return stored[i], nil
	}
	l := *described
	if slug != "" && l.Slug != "" && l.Slug != slug {
		return Lab{}, fault.New(fault.Refused, "The file describes another lab").At("body", "lab")
	}
	if l.Slug == "" {
		l.Slug = slug
	}
	if err := checkLab(&l); err != nil {
		return Lab{}, err
	}
	l.ID = im.idOfLab(l.Slug, stored)
	body, err := json.Marshal(l)
	if err != nil {
		return Lab{}, fmt.Errorf("catalogue: marshalling a lab: %w", err)
	}
	n, err := im.tx.Exec(ctx, `INSERT INTO catalogue_labs (id, slug, body, imported_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET body = excluded.body, imported_at = excluded.imported_at WHERE catalogue_labs.body <> excluded.body`,
		l.ID, l.Slug, string(body), im.tx.Now())
	if err != nil {
		return Lab{}, fmt.Errorf("catalogue: storing a lab: %w", err)
	}
	im.dirty = im.dirty || n > 0
	return l, nil
}

// idOfLab returns the id of the slug. Slugs that clients know have the same id
// in every installation.
func (im *importer) idOfLab(slug string, stored []Lab) LabID {
	for _, l := range slices.Concat(builtinData().labs, stored) {
		if l.Slug == slug {
			return l.ID
		}
	}
	return im.nextID()
}

// storeMarkers stores new and changed entries, and makes missing ones inactive.
func (im *importer) storeMarkers(ctx context.Context, l Lab, listed []*Marker, full bool) error {
	all, err := importedMarkers(ctx, im.tx)
	if err != nil {
		return err
	}
	before := map[string]*Marker{}
	for _, m := range all {
		if m.Lab == l.ID {
			before[m.ProviderID] = m
		}
	}
	for _, m := range listed {
		old := before[m.ProviderID]
		delete(before, m.ProviderID)
		if err := im.storeMarker(ctx, m, old); err != nil {
			return err
		}
	}
	if !full {
		return nil
	}
	for _, m := range before {
		if !m.Active {
			continue
		}
		im.report.Deactivated, im.dirty = im.report.Deactivated+1, true
		if _, err := im.tx.Exec(ctx, `UPDATE catalogue_markers SET active = $1, imported_at = $2 WHERE id = $3`, false, im.tx.Now(), m.ID); err != nil {
			return fmt.Errorf("catalogue: deactivating a marker: %w", err)
		}
	}
	return nil
}

// storeMarker stores one entry under its earlier id, if it had one.
func (im *importer) storeMarker(ctx context.Context, m, old *Marker) error {
	im.assignIDs(m, old)
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("catalogue: marshalling a marker: %w", err)
	}
	if old != nil && old.Active {
		was, err := json.Marshal(old)
		if err != nil {
			return fmt.Errorf("catalogue: marshalling a marker: %w", err)
		}
		if string(was) == string(body) {
			im.report.Unchanged++
			return nil
		}
	}
	if im.dirty = true; old == nil {
		im.report.Added++
	} else {
		im.report.Changed++
	}
	_, err = im.tx.Exec(ctx, `INSERT INTO catalogue_markers (id, lab_id, provider_id, active, body, imported_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (id) DO UPDATE SET active = excluded.active, body = excluded.body, imported_at = excluded.imported_at`,
		m.ID, m.Lab, m.ProviderID, true, string(body), im.tx.Now())
	if err != nil {
		return fmt.Errorf("catalogue: storing a marker: %w", err)
	}
	return nil
}

// assignIDs gives a marker and its parts their earlier ids, and new ids to new
// parts: orders and results refer to them.
func (im *importer) assignIDs(m, old *Marker) {
	if old == nil {
		old = &Marker{ID: im.nextID()}
	}
	m.ID = old.ID
	for i := range m.Results {
		r := &m.Results[i]
		at := slices.IndexFunc(old.Results, func(o Result) bool {
			return o.ID != 0 && o.LOINC == r.LOINC && o.ProviderID == r.ProviderID && (r.LOINC != "" || o.Name == r.Name)
		})
		r.ID = im.existingOrNewID(at, func() int64 { return old.Results[at].ID })
	}
	for i := range m.Questions {
		q := &m.Questions[i]
		var answers []Answer
		at := slices.IndexFunc(old.Questions, func(o Question) bool { return o.Code == q.Code })
		if at >= 0 {
			answers = old.Questions[at].Answers
		}
		q.ID = im.existingOrNewID(at, func() int64 { return old.Questions[at].ID })
		for j := range q.Answers {
			in := slices.IndexFunc(answers, func(o Answer) bool { return o.Code == q.Answers[j].Code })
			q.Answers[j].ID = im.existingOrNewID(in, func() int64 { return answers[in].ID })
		}
	}
}

func (im *importer) existingOrNewID(at int, same func() int64) int64 {
	if at < 0 {
		return im.nextID()
	}
	return same()
}
