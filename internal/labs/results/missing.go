package results

import (
	"regexp"
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
)

// listMissing lists the results that the lab will not report and, once results
// are final, the required results that are absent.
func (e *expectations) listMissing(v *Version, m mergedReport) []MissingResult {
	list := missingList{e: e, results: v.Results}
	list.sex, list.age = e.patient(m.samples)
	for _, missing := range m.missing {
		list.addReported(missing, m.comments)
	}
	if m.status != Final {
		return list.all
	}
	for _, marker := range e.ordered {
		for _, r := range marker.Results {
			if r.Required {
				list.add(e.newMissing(r, marker.ProviderID), inferFailure(strings.Join(m.comments, "\n")))
			}
		}
	}
	return list.all
}

// waitsForTests reports whether the laboratory has reported some of the order's tests and
// has not mentioned others. Results of no ordered test may be all of them, under other codes.
func (e *expectations) waitsForTests(v *Version, m mergedReport) bool {
	m.status = Partial // the missing results that the lab reports
	mentioned := map[catalogue.MarkerID]bool{}
	for i := range v.Results {
		r := &v.Results[i]
		for _, marker := range r.Markers { // several tests can have a result in common
			mentioned[marker.ID] = mentioned[marker.ID] || len(r.Markers) == 1 || r.TestID == "" || marker.ProviderID == r.TestID
		}
	}
	for _, no := range e.listMissing(v, m) {
		for _, marker := range no.Markers {
			mentioned[marker.ID] = true
		}
	}
	isMentioned := func(marker *catalogue.Marker) bool { return mentioned[marker.ID] }
	return slices.ContainsFunc(e.ordered, isMentioned) && slices.ContainsFunc(e.ordered, func(marker *catalogue.Marker) bool { return !isMentioned(marker) })
}

// completeByReflex makes results final that a final report of reflex tests alone
// completes: no ordered result is absent without a word of the lab.
func (e *expectations) completeByReflex(v *Version, m mergedReport) {
	m.status = Final
	missing := e.listMissing(v, m)
	if !slices.ContainsFunc(missing, func(no MissingResult) bool { return !no.Reported }) {
		v.Status, v.Missing = Final, missing
	}
}

// missingList collects missing results, each once.
type missingList struct {
	e       *expectations
	results []Result
	sex     string // of the patient, as the age in years
	age     int
	all     []MissingResult
	known   nameIndex // known holds the results that are present or listed.
	scopes  map[missingScope]nameIndex
}

// addReported adds a result that the lab reports as missing. For a whole test
// or panel it adds every result that is absent.
func (a *missingList) addReported(missing sampledMissing, comments []string) {
	failure := Failure(missing.Reason)
	if !slices.Contains(Failures, failure) {
		failure = inferFailure(missing.Note)
	}
	switch {
	case failure != UnknownFailure:
	case missing.Refused:
		failure = OrderEntry
	case missing.Note == "":
		failure = inferFailure(strings.Join(comments, "\n"))
	}
	for _, marker := range a.e.ordered {
		if marker.ProviderID != missing.ProviderID || missing.ProviderID == "" {
			continue
		}
		for _, r := range marker.Results {
			if !r.Required && len(marker.Results) > 1 {
				continue
			}
			m := a.e.newMissing(r, marker.ProviderID)
			m.Note, m.Reported, m.Sample, m.scope = strings.TrimSpace(missing.Note), true, missing.sample, missing.scope
			if w := missing.withdrawn; w != nil && (len(marker.Results) == 1 || w.ProviderID == r.ProviderID) {
				a.setWithdrawn(&m, missing)
			}
			a.add(m, failure)
		}
		return
	}
	id := a.e.identify(missing.ProviderID, missing.TestProviderID, missing.LOINC, missing.Name)
	m := MissingResult{
		Name: id.name, Slug: id.slug, ProviderID: id.code, TestID: missing.TestProviderID, LOINC: id.loinc, LOINCSlug: id.loincSlug,
		Note: strings.TrimSpace(missing.Note), Markers: id.markers, Reported: true, row: id.row,
		Sample: missing.sample, scope: missing.scope,
	}
	a.setWithdrawn(&m, missing)
	a.add(m, failure)
}

// setWithdrawn sets the value that the lab withdrew, if there is one.
func (a *missingList) setWithdrawn(m *MissingResult, from sampledMissing) {
	if from.withdrawn != nil {
		m.Previous, m.WithdrawnAt = a.e.previous(from.withdrawn, a.sex, a.age), from.withdrawnAt
	}
}

// add adds a result that is neither present nor listed.
func (a *missingList) add(m MissingResult, why Failure) {
	m.Failure = why
	if a.known == nil {
		a.known = nameIndex{}
		for i := range a.results {
			a.known.addResult(&a.results[i])
		}
	}
	in := a.known
	if m.scope.limited {
		in = a.inScope(m.scope)
		m.Elsewhere = a.known.has(&m)
	} else if m.Elsewhere {
		in = nameIndex{} // stored so
	}
	if !in.has(&m) {
		for _, index := range []nameIndex{in, a.known} {
			index.add(m.naming())
			index.addRow(m.row)
		}
		a.all = append(a.all, m)
	}
}

// inScope returns the index of the results in a scope.
func (a *missingList) inScope(scope missingScope) nameIndex {
	if known, ok := a.scopes[scope]; ok {
		return known
	}
	in := nameIndex{}
	for i := range a.results {
		if r := &a.results[i]; r.group == scope.group && scope.key == (observationKey{}) {
			in.addResult(r)
		}
	}
	if a.scopes == nil {
		a.scopes = map[missingScope]nameIndex{}
	}
	a.scopes[scope] = in
	return in
}

// newMissing describes a missing row of the catalogue.
func (e *expectations) newMissing(r catalogue.Result, test string) MissingResult {
	m := MissingResult{Name: r.Name, Slug: r.Slug, ProviderID: r.ProviderID, TestID: test, LOINC: r.LOINC, Markers: e.markersFor(r)}
	if c := r.Code(); c != nil {
		m.LOINCSlug = c.Slug()
	}
	return m
}

// redrawMarkers returns the markers for which a new sample can bring the
// missing results. The lab must have reported that it could not measure them. The
// cause must be the sample, its transport or the lab, or unknown. A result that
// the lab does not mention may still come.
func (v *Version) redrawMarkers() []catalogue.MarkerID {
	var all []catalogue.MarkerID
	for _, m := range v.Missing {
		if !m.Reported || m.Elsewhere || !m.Failure.Redrawable() && m.Failure != UnknownFailure {
			continue
		}
		for _, marker := range m.Markers {
			if !slices.Contains(all, marker.ID) {
				all = append(all, marker.ID)
			}
		}
	}
	return all
}

// Failure is the reason why a result is missing.
//
// Reference 3, FailureType.
type Failure string

// The failures.
const (
	QuantityNotSufficient Failure = "quantity_not_sufficient_failure" // too little of the sample
	InsufficientVolume    Failure = "insufficient_volume"             // a tube filled too low
	CollectionProcess     Failure = "collection_process_failure"      // the draw, or the handling of the sample after it
	DropOff               Failure = "drop_off_failure"                // on the way to the lab
	InternalLab           Failure = "internal_lab_failure"            // in the lab
	OrderEntry            Failure = "order_entry_failure"             // the lab has no order for it
	NonFailure            Failure = "non_failure"                     // reported elsewhere
	UnknownFailure        Failure = "unknown_failure"
	PatientCondition      Failure = "patient_condition_failure"     // a substance in the blood disturbs the test
	MissingResultCalc     Failure = "missing_result_calc_failure"   // a calculated value lacks its inputs
	MissingDemoCalc       Failure = "missing_demo_aoe_calc_failure" // a calculated value lacks age, sex or an answer
)

// Failures lists them all.
var Failures = []Failure{
	QuantityNotSufficient, CollectionProcess, DropOff, InternalLab, OrderEntry, NonFailure, UnknownFailure, PatientCondition,
	MissingResultCalc, MissingDemoCalc, InsufficientVolume,
}

// Redrawable reports whether a new sample can bring the result, and the cause
// is the sample, its transport or the lab.
func (f Failure) Redrawable() bool {
	return slices.Contains([]Failure{QuantityNotSufficient, InsufficientVolume, CollectionProcess, DropOff, InternalLab}, f)
}

// failureRule infers a failure from a lab's note.
type failureRule struct {
	failure Failure
	pattern *regexp.Regexp
}

// failureRules are tried in this order, the more specific ones first.
// docs/results.md prints them.
var failureRules = []failureRule{
	{MissingDemoCalc, matchAny(`(calculat\w*|comput\w*|risk score).*(\bage\b|\bsex\b|gender|\bweight\b|\bheight\b|gestation|demographic|race|information not (given|provided|received))`)},
	{MissingDemoCalc, matchAny(`(\bage\b|\bsex\b|gender|\bweight\b|\bheight\b|gestation\w*|date of birth).*(missing|not (given|provided|received|stated)).*(calculat|comput)`)},
	{MissingResultCalc, matchAny(`(unable|not able|cannot|can not|could not|not) (to )?(be )?(calculat|comput)`, `calculation (is )?not (possible|performed|valid)`, `not calculated`, `component\w* (is |are )?(missing|not available)`)},
	{PatientCondition, matchAny(`lipa?emi[ac]`, `icteric`, `icterus`, `heterophil`, `paraprotein`, `interfering (substance|antibod)`, `cold agglutinin`, `interference`, `turbid`)},
	{NonFailure, matchAny(`duplicate`, `reported (separately|elsewhere|under)`, `see (separate|other) report`, `included in`, `replaced by`, `already (reported|performed)`)},
	{OrderEntry, matchAny(
		`not ordered`, `no test (was )?(ordered|requested)`, `order(ing)? (entry )?error`, `test code`, `not on (the )?requisition`,
		`wrong test (was )?ordered`, `invalid order`, `discontinued`, `name mis-?match`, `demographic`, `no (collection )?date`,
	)},
	{InsufficientVolume, matchAny(`(insufficient|inadequate|low|short) (sample |specimen |fill )?volume`, `volume (was |is )?(insufficient|too low|inadequate)`, `under-?filled`, `short draw`)},
	{QuantityNotSufficient, matchAny(
		`\bqns\b`, `quantity (was |is )?not sufficient`,
		`(insufficient|inadequate|not enough|too little) (quantity|amount|blood|serum|plasma|urine|saliva|stool|material|specimen|sample)`,
		`(specimen|sample) (was |is |too )*(insufficient|too small)`,
	)},
	{CollectionProcess, matchAny(
		`ha?emoly[sz]`, `clot`, `not (been )?(centrifuged|spun)`, `unspun`,
		`(wrong|incorrect|improper|unacceptable|inappropriate) (tube|container|specimen|sample|collection|anticoagulant|preservative|handling)`,
		`improperly (collected|handled|labell?ed|processed|stored)`, `contaminat`, `(un|mis)-?labell?ed`,
		`not (refrigerated|cooled|frozen|protected from light)`, `expired (tube|container|kit)`, `overfilled`,
	)},
	{DropOff, matchAny(
		`(leak|spill|broken|cracked|crushed|damaged)`, `(received|arrived) (thawed|warm|ambient|frozen|at (the )?wrong temperature|too late|beyond|outside)`,
		`stability`, `too old`, `delay\w* (in )?(transit|transport|receipt)`, `(lost|delayed) in transit`, `(specimen|sample) (has )?expired`, `temperature`,
		`(specimen|sample) not received`, `no (specimen|sample) received`,
	)},
	{InternalLab, matchAny(
		`(lab|laborator\w+) (accident|error|failure)`, `instrument`, `analy[sz]er`, `reagent`, `technical (problem|difficult|error|failure|issue)`,
		`equipment`, `lost (in|at|by) (the )?lab`, `quality control`, `\bqc\b`, `unable to (obtain|report) (a )?(valid|reliable)`, `repeated(ly)? fail`,
	)},
}

func matchAny(patterns ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?is)` + strings.Join(patterns, "|"))
}

// inferFailure finds a failure in a lab's note.
func inferFailure(text string) Failure {
	text = strings.Join(strings.Fields(text), " ")
	for _, r := range failureRules {
		if r.pattern.MatchString(text) {
			return r.failure
		}
	}
	return UnknownFailure
}

// resultNames holds the names of a result: the lab's code, LOINC, and the slug of its
// name. Two results with codes are compared by code. Otherwise two results with LOINC are
// compared by LOINC, and all others by slug.
type resultNames struct{ code, loinc, slug string }

func (r *Result) naming() resultNames        { return resultNames{r.ProviderID, r.LOINC, r.Slug} }
func (m *MissingResult) naming() resultNames { return resultNames{m.ProviderID, m.LOINC, m.Slug} }

// nameIndex finds results by their names. An order may have very many.
type nameIndex map[nameKey]bool

// nameKey is one name of a result, with the kinds of names that the result
// has.
type nameKey struct {
	coded, loinc bool
	kind         nameKind
	name         string
}

type nameKind int8

const (
	byCode nameKind = iota
	byLOINC
	bySlug
)

func (r nameIndex) add(n resultNames) {
	in := nameKey{coded: n.code != "", loinc: n.loinc != ""}
	for at, name := range [...]string{byCode: n.code, byLOINC: n.loinc, bySlug: n.slug} {
		in.kind, in.name = nameKind(at), name
		r[in] = true
	}
}

func (r nameIndex) addResult(one *Result) {
	r.add(one.naming())
	r.addRow(one.row)
}

// has reports whether the index holds a missing result.
func (r nameIndex) has(m *MissingResult) bool {
	return r.contains(m.naming()) || m.row != resultNames{} && r.contains(m.row)
}

// addRow adds a row of the catalogue, under which a result is known as well.
func (r nameIndex) addRow(n resultNames) {
	if n != (resultNames{}) {
		r.add(n)
	}
}

// contains reports whether the index holds the same result. The names that are
// compared depend on the names of the other result, so each combination is
// looked up.
func (r nameIndex) contains(n resultNames) bool {
	for _, coded := range []bool{true, false} {
		for _, loinc := range []bool{true, false} {
			other := nameKey{coded, loinc, bySlug, n.slug}
			switch {
			case coded && n.code != "":
				other.kind, other.name = byCode, n.code
			case loinc && n.loinc != "":
				other.kind, other.name = byLOINC, n.loinc
			}
			if r[other] {
				return true
			}
		}
	}
	return false
}
