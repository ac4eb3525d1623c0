package results

import (
	"bytes"
	"cmp"
	"container/list"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
	"hale/internal/labs/pdfs"
)

// Report is a lab's report of one order at one time.
type Report struct {
	// At is the time of the report.
	At time.Time `json:"at"`
	// Sent is the time of the message that first brought it; zero if it is
	// unknown. DateOnly reports that the time of the report is only a date.
	Sent time.Time `json:"sent,omitzero"`
	// Received is the time of its arrival; zero in reports that were stored before
	// the field existed.
	Received time.Time          `json:"received,omitzero"`
	DateOnly bool               `json:"date_only,omitempty"`
	SampleID string             `json:"sample_id,omitempty"`
	Account  string             `json:"account,omitempty"`
	Set      networks.ResultSet `json:"set"`
	// Patient is the person as reported; zero in reports that were stored
	// before the field existed.
	Patient networks.ReportedPatient `json:"patient,omitzero"`
	Review  *Review                  `json:"review,omitempty"`

	// Document is the SHA-256 of the PDF that came with it. The PDF is stored
	// separately.
	Document []byte `json:"document,omitempty"`

	// keys and missingKeys hold the merge keys of Set.Results and Set.Missing; nil
	// for those of the report. setKeys sets them.
	keys, missingKeys []observationKey
	// critical marks the critical values of Set.Results.
	critical []bool
	// severalSpecimens is true if the order was known to have several specimens when this
	// report was made.
	severalSpecimens bool
	// reflexOnly is true if the report has reflex tests and no ordered one. markReflex
	// sets it.
	reflexOnly bool
	// byReceipt is true if a report of the order has a time that cannot be right.
	// setOrder sets it.
	byReceipt bool

	id     uuid.UUID
	digest [sha256.Size]byte
	// unnamed is the digest without the patient. Reports that were stored
	// before the field existed have it.
	unnamed [sha256.Size]byte
}

// completeness orders reports: partial, final, corrected.
func (r *Report) completeness() int {
	switch {
	case r.Set.Corrected:
		return 2
	case r.Set.Partial:
		return 0
	}
	return 1
}

// hasContent reports whether a report has anything beside documents, or a person
// accepted it as the results of the order.
func (r *Report) hasContent() bool {
	return len(r.Set.Results) > 0 || len(r.Set.Missing) > 0 || r.Review != nil
}

// clockAhead is by how much the clock of a lab may be ahead of ours.
const clockAhead = 5 * time.Minute

// isAhead reports whether a time of the lab is after the arrival of the report.
func (r *Report) isAhead(at time.Time) bool {
	return !r.Received.IsZero() && at.After(r.Received.Add(clockAhead))
}

// isTooLate reports whether a time of observation is after the arrival of the report,
// by more than a tolerance. Without an offset it may be a local time.
func (r *Report) isTooLate(at networks.Moment, tolerance time.Duration) bool {
	if at.Offset == nil {
		tolerance = zoneDifference
	}
	return !r.Received.IsZero() && at.Time.After(r.Received.Add(tolerance))
}

// known returns a time of the lab or, if it is after the arrival, that of the arrival.
func (r *Report) known(at time.Time) time.Time {
	if r.isAhead(at) {
		return r.Received
	}
	return at
}

// aheadTime returns the time of the report or its message that is after its
// arrival; zero if there is none.
func (r *Report) aheadTime() networks.Moment {
	utc := 0
	for _, m := range []networks.Moment{r.Set.Specimen.Reported, {Time: r.At, Offset: &utc}, {Time: r.Sent, Offset: &utc}} {
		if r.isAhead(m.Time) {
			return m
		}
	}
	return networks.Moment{}
}

// setOrder sorts all reports by arrival if a report has a time that cannot be
// right. Such a time says nothing about which report is the later one.
func setOrder(reports []Report) {
	if slices.ContainsFunc(reports, func(r Report) bool { return !r.aheadTime().Time.IsZero() }) {
		for i := range reports {
			reports[i].byReceipt = !reports[i].Received.IsZero()
		}
	}
}

// reportedAt returns the lab's own time of the report. If the lab gives only a
// date, it is the time of the message, within that day. It is never after the
// arrival.
func (r *Report) reportedAt() time.Time { return r.known(r.statedTime()) }

func (r *Report) statedTime() time.Time {
	at := r.At
	if own := r.Set.Specimen.Reported.Time; !own.IsZero() {
		at = own
	}
	if end := at.Add(24*time.Hour - time.Second); r.DateOnly && r.Sent.After(end) {
		return end
	} else if r.DateOnly && r.Sent.After(at) {
		return r.Sent
	}
	return at
}

// orderTime returns the time by which a report is sorted.
func (r *Report) orderTime() time.Time {
	if r.byReceipt {
		return r.Received
	}
	return r.reportedAt()
}

// compareReports sorts reports by completeness, then by time.
func compareReports(a, b *Report) int {
	return cmp.Or(cmp.Compare(a.completeness(), b.completeness()), compareTimes(a, b))
}

// compareTimes sorts reports by the lab's time, then by the time of the
// message. Reports that are equal in both are sorted by arrival: their ids
// ascend.
func compareTimes(a, b *Report) int {
	return cmp.Or(a.orderTime().Compare(b.orderTime()), a.known(a.At).Compare(b.known(b.At)), a.known(a.Sent).Compare(b.known(b.Sent)), bytes.Compare(a.id[:], b.id[:]))
}

// mergedReport is the merge of all reports.
type mergedReport struct {
	status     Status
	corrected  bool
	results    []sampledResult
	missing    []sampledMissing
	samples    []Sample
	laboratory string
	clia       string
	account    string
	patient    networks.ReportedPatient
	comments   []string
	reviews    []Review
	document   uuid.UUID // the report whose PDF counts; zero for none
	refused    []pdfs.Problem
	reportedAt time.Time // the time of the latest report
	ahead      []Warning // of times after the arrival
	// wholeOrder is true if a final report is about all tests of the order.
	wholeOrder bool
	// reflexFinal is true if a report with reflex tests alone is final.
	reflexFinal bool
	// calledCritical is true if notes without values say that a value is critical.
	calledCritical bool
}

// sampledResult is a result with the key of its sample.
type sampledResult struct {
	networks.Result
	sample   string
	finality Finality
	at       time.Time // of the report
	// previous is the latest other value of the observation; nil for none.
	previous *sampledResult
	group    string // of the specimen
	// alone marks a value of which no other version is known.
	alone bool
}

// sampledMissing is a missing result with the key of its sample.
type sampledMissing struct {
	networks.MissingResult
	sample string
	// scope limits the results that count as the missing one. Those of another
	// specimen, or other readings of one code, do not.
	scope missingScope
	// withdrawn is the value that the lab withdrew at a time; nil for none.
	withdrawn   *sampledResult
	withdrawnAt time.Time
}

// missingScope limits a missing result to the specimens of a group or, with a
// key, to one of several values of a code. The zero scope is the whole order.
type missingScope struct {
	limited bool
	group   string
	key     observationKey
}

// merge merges reports. Several reports may contain the same observation, with the
// same code of the lab and the same sub-id. The report with the more final status
// wins: preliminary, final, corrected. Among equal ones the later report wins. A newer
// reading that is not final wins over earlier final ones. The outcome is the same for
// any order of the reports.
func merge(reports []Report, own string) mergedReport {
	sorted := make([]*Report, len(reports))
	for i := range reports {
		sorted[i] = &reports[i]
	}
	slices.SortFunc(sorted, compareReports)
	m := mergedReport{status: Partial}
	for _, r := range sorted {
		switch isFinal := r.hasContent() && !r.Set.Partial; {
		case isFinal && r.reflexOnly:
			m.reflexFinal = true
		case isFinal:
			m.status, m.wholeOrder = Final, m.wholeOrder || !r.Set.TestsOnly
		}
		m.corrected = m.corrected || r.Set.Corrected
		m.calledCritical = m.calledCritical || isCalledCriticalWithoutValue(&r.Set)
		if at := r.reportedAt(); at.After(m.reportedAt) {
			m.reportedAt = at
		}
		m.laboratory, m.clia = cmp.Or(r.Set.Laboratory, m.laboratory), cmp.Or(r.Set.CLIA, m.clia)
		m.account, m.patient = cmp.Or(r.Account, m.account), cmp.Or(r.Patient, m.patient)
		for _, comment := range r.Set.Comments {
			if comment = strings.TrimSpace(comment); comment != "" && !slices.Contains(m.comments, comment) {
				m.comments = append(m.comments, comment)
			}
		}
		if len(r.Document) > 0 {
			m.document, m.refused = r.id, nil
		}
		m.refused = append(m.refused, r.Set.Refused...)
		if r.Review != nil {
			m.reviews = append(m.reviews, *r.Review)
		}
		m.addSamples(r, own)
	}
	m.addObservations(sorted, own)
	m.dropStaleDocument(sorted, own)
	return m
}

// dropStaleDocument drops the PDF if a later report changes a value or a missing
// result. A reader of the PDF would not see the change.
func (m *mergedReport) dropStaleDocument(sorted []*Report, own string) {
	at := slices.IndexFunc(sorted, func(r *Report) bool { return r.id == m.document })
	if at < 0 || m.document == uuid.Nil {
		return
	}
	known := slices.DeleteFunc(slices.Clone(sorted), func(r *Report) bool { return compareTimes(r, sorted[at]) > 0 })
	if !slices.ContainsFunc(known, (*Report).hasContent) {
		return // the PDF came before the values
	}
	var then mergedReport
	then.addObservations(known, own)
	type shown struct {
		observationKey
		value, unit, flag, context string
	}
	count := func(all []sampledResult) map[shown]int {
		counts := map[shown]int{}
		for i := range all {
			r := &all[i].Result
			counts[shown{keyOf(r), strings.TrimSpace(r.Value), strings.TrimSpace(r.Unit), r.Flag, r.Range + "\n" + notesText(&all[i])}]++
		}
		return counts
	}
	if !maps.Equal(count(then.results), count(m.results)) || len(then.missing) != len(m.missing) {
		m.document = uuid.Nil
	}
}

// addSamples adds the specimens of a report.
func (m *mergedReport) addSamples(r *Report, own string) {
	m.addSample(r, own, sampleKey(r, own), r.Set.Specimen)
	for i := range r.Set.Specimens {
		m.addSample(r, own, r.Set.Specimens[i].Key(), r.Set.Specimens[i])
	}
}

func (m *mergedReport) addSample(r *Report, own, key string, next networks.Specimen) {
	at := slices.IndexFunc(m.samples, func(s Sample) bool { return s.Key == key })
	if at < 0 {
		at = len(m.samples)
		m.samples = append(m.samples, Sample{Key: key, Control: own})
	}
	s := &m.samples[at]
	s.Control = cmp.Or(own, r.SampleID)
	known := &s.Specimen
	known.Number, known.Type = cmp.Or(next.Number, known.Number), cmp.Or(next.Type, known.Type)
	known.Volume, known.Information = cmp.Or(next.Volume, known.Volume), cmp.Or(next.Information, known.Information)
	if next.Fasting != nil {
		known.Fasting = next.Fasting
	}
	if at := r.aheadTime(); !at.Time.IsZero() {
		m.warnAhead(r, key, at)
	}
	if r.isAhead(next.Reported.Time) {
		next.Reported = networks.Moment{}
	}
	if len(r.Set.Results) == 0 && len(r.Set.Missing) > 0 && !known.Collected.Time.IsZero() {
		next.Collected = networks.Moment{} // of a sample without values; the known one has some
	}
	for _, m := range []struct{ to, from *networks.Moment }{
		{&known.Collected, &next.Collected}, {&known.Received, &next.Received}, {&known.Reported, &next.Reported},
	} {
		if !m.from.Time.IsZero() {
			*m.to = *m.from
		}
	}
	for name, lab := range r.Set.Laboratories {
		if s.Laboratories == nil {
			s.Laboratories = map[string]networks.Laboratory{}
		}
		s.Laboratories[name] = lab
	}
}

// warnAhead adds a warning of a time after the arrival. Without an offset it may be
// a local time.
func (m *mergedReport) warnAhead(r *Report, sample string, at networks.Moment) {
	w := Warning{ReportedAfterReceipt, at.Text(), sample}
	if at.Offset == nil && !at.Time.After(r.Received.Add(zoneDifference)) || slices.Contains(m.ahead, w) {
		return
	}
	m.ahead = append(m.ahead, w)
}

func sampleKey(r *Report, own string) string {
	return cmp.Or(r.Set.Specimen.Number, own, r.SampleID)
}

// listObservations returns the observations of all reports. A later report changes no
// place, so a correction stays where the corrected value was. A new observation comes
// behind the one before it in its report, or before the first known one.
func listObservations(reports []*Report) []observationKey {
	sorted := slices.Clone(reports)
	slices.SortFunc(sorted, compareTimes)
	listed, places := list.New(), map[observationKey]*list.Element{}
	for _, r := range sorted {
		var last, firstKnown *list.Element
		for i := 0; i < len(r.Set.Results) && firstKnown == nil; i++ {
			firstKnown = places[r.keyOf(i)]
		}
		for i := range r.Set.Results {
			key := r.keyOf(i)
			at := places[key]
			switch {
			case at != nil:
			case last != nil:
				at = listed.InsertAfter(key, last)
			case firstKnown != nil:
				at = listed.InsertBefore(key, firstKnown)
			default:
				at = listed.PushBack(key)
			}
			places[key], last = at, at
		}
	}
	order := make([]observationKey, 0, listed.Len())
	for at := listed.Front(); at != nil; at = at.Next() {
		order = append(order, at.Value.(observationKey))
	}
	return order
}

// observationClaims has the claims of all reports about observations.
type observationClaims struct {
	best map[observationKey]*claim
	all  map[observationKey][]*claim
	// missing has the best statement that results are missing, and denials the best one
	// that is not only about the rest of a test. absent lists the keys of missing.
	missing, denials map[observationKey]*claim
	absent           []observationKey
	confirmations    []*claim

	values    map[string][]observationKey         // by code
	meant     map[observationKey][]observationKey // the observations that a key of absent means
	denied    map[observationKey]*claim           // the best denial of an observation
	present   map[observationKey]bool             // observations whose values are listed
	withdrawn map[observationKey]*claim           // observations that a later report denies
}

// addObservations chooses the claims that win, and lists their values in the
// order of listObservations. Newer values that are not final win as well. A
// statement about the rest of a test is listed and removes no value.
func (m *mergedReport) addObservations(sorted []*Report, own string) {
	order := listObservations(sorted)
	all := collectClaims(sorted, own)
	m.addConfirmations(all, own)
	all.applyDenials(order)
	for _, key := range order {
		m.addValues(all, key)
	}
	for _, key := range all.absent {
		m.addAbsent(all, key, own)
	}
}

// collectClaims collects the claims of reports, which are sorted.
func collectClaims(sorted []*Report, own string) *observationClaims {
	o := &observationClaims{
		best: map[observationKey]*claim{}, all: map[observationKey][]*claim{},
		missing: map[observationKey]*claim{}, denials: map[observationKey]*claim{},
		values: map[string][]observationKey{}, meant: map[observationKey][]observationKey{}, denied: map[observationKey]*claim{},
		present: map[observationKey]bool{}, withdrawn: map[observationKey]*claim{},
	}
	for _, r := range slices.Backward(sorted) {
		for by, c := range claims(r, own) {
			keepBest(o.best, by.observationKey, c)
			o.all[by.observationKey] = append(o.all[by.observationKey], c)
		}
		for i := range r.Set.Missing {
			no := &r.Set.Missing[i]
			c := &claim{rank: max(rankFinal, rank("", r)), report: r, missing: no, key: r.keyOfMissing(i)}
			if no.Confirms {
				o.confirmations = append(o.confirmations, c)
				continue
			}
			if o.missing[c.key] == nil {
				o.absent = append(o.absent, c.key)
			}
			keepBest(o.missing, c.key, c)
			if !no.Rest {
				keepBest(o.denials, c.key, c)
			}
		}
	}
	return o
}

// addConfirmations uses the statements that confirm earlier values. A statement without
// such a value is a missing result.
func (m *mergedReport) addConfirmations(o *observationClaims, own string) {
	for _, c := range o.confirmations {
		switch {
		case c.confirm(o.best, o.all):
		case c.missing.Flag != "": // a critical flag must reach a person
			m.results = append(m.results, c.flagAsValue(own))
		case o.missing[c.key] == nil:
			o.absent = append(o.absent, c.key)
			o.missing[c.key] = c
		}
	}
}

// applyDenials finds the observations that each missing result means, and the best denial
// of each observation.
func (o *observationClaims) applyDenials(order []observationKey) {
	for _, key := range order {
		o.values[key.code] = append(o.values[key.code], key)
	}
	for _, k := range o.absent {
		o.meant[k] = meantBy(k, o.values[k.code])
		for _, key := range o.meant[k] {
			if o.denials[k] != nil {
				keepBest(o.denied, key, o.denials[k])
			}
		}
	}
}

// addValues lists the values of an observation that win, unless a denial wins.
func (m *mergedReport) addValues(o *observationClaims, key observationKey) {
	shown, no := o.best[key], o.denied[key]
	newer := newestReading(o.all[key], no)
	if newer == nil && no != nil && no.outranks(shown) {
		if newer = sentAgain(o.all[key], no); newer == nil {
			if compareTimes(no.report, shown.report) > 0 {
				o.withdrawn[key] = shown
			}
			return
		}
	}
	o.present[key] = true
	if newer != nil && shown.rank == rankCorrected && shown.critical && compareTimes(newer.report, shown.report) < 0 {
		// A critical correction of an earlier observation, which may be another
		// one: each is shown.
		without := func(c *claim) []*claim {
			return slices.DeleteFunc(slices.Clone(o.all[key]), func(other *claim) bool { return other == c })
		}
		m.results = append(m.results, shown.withPrevious(without(newer))...)
		shown, o.all[key] = newer, without(shown)
		newer = nil
	}
	if newer != nil {
		shown = newer
	}
	values := shown.withPrevious(o.all[key])
	for i := range values {
		values[i].alone = len(o.all[key]) == 1
	}
	m.results = append(m.results, values...)
}

// addAbsent lists a missing result, with the value that it withdraws. Of several values, a
// critical one counts before others.
func (m *mergedReport) addAbsent(o *observationClaims, key observationKey, own string) {
	no := m.addMissing(o.missing[key], own, o.meant[key], o.values[key.code], o.present)
	if no == nil {
		return
	}
	var last *claim
	for _, meant := range o.meant[key] {
		if c := o.withdrawn[meant]; c != nil && (last == nil || c.critical && !last.critical || c.critical == last.critical && c.outranks(last)) {
			last, no.withdrawnAt = c, o.denied[meant].report.reportedAt()
		}
	}
	if last != nil {
		no.withdrawn = &last.values[0]
	}
}

// addMissing adds a missing result, and returns it. It returns nil if the values that
// it means are present: the lab sent them later. others are all values of its code.
func (m *mergedReport) addMissing(c *claim, own string, meant, others []observationKey, present map[observationKey]bool) *sampledMissing {
	isAbsent := func(key observationKey) bool { return !present[key] }
	no := sampledMissing{MissingResult: *c.missing, sample: cmp.Or(c.missing.Specimen, sampleKey(c.report, own))}
	switch {
	case no.Rest:
	case len(meant) > 0 && !slices.ContainsFunc(meant, isAbsent):
		return nil
	case slices.ContainsFunc(others, func(key observationKey) bool { return key.group == c.key.group && present[key] }):
		no.scope = missingScope{limited: true, group: c.key.group, key: c.key} // one of several values
	}
	if c.report.severalSpecimens && !no.scope.limited {
		no.scope = missingScope{limited: true, group: c.key.group}
	}
	m.missing = append(m.missing, no)
	return &m.missing[len(m.missing)-1]
}
