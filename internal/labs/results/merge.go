package results

import (
	"bytes"
	"cmp"
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
	// apart is true if the order was known to have several specimens.
	apart bool
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
}

// sampledMissing is a missing result with the key of its sample.
type sampledMissing struct {
	networks.Missing
	sample string
	// scope limits the results that count as the missing one. Those of another
	// specimen, or other readings of one code, do not.
	scope missingScope
}

// missingScope limits a missing result to the specimens of a group or, with a
// key, to one of several values of a code. The zero scope is the whole order.
type missingScope struct {
	limited bool
	group   string
	key     observationKey
}

// merge merges reports. When several reports have one observation (the lab's
// code and sub-id), the one with the more final status wins (preliminary,
// final, corrected), then the later one. A newer reading that is not final wins
// over earlier final ones. The outcome is the same for any order
// of the reports.
func merge(reports []Report, own string) mergedReport {
	sorted := make([]*Report, len(reports))
	for i := range reports {
		sorted[i] = &reports[i]
	}
	slices.SortFunc(sorted, compareReports)
	m := mergedReport{status: Partial}
	for _, r := range sorted {
		if r.hasContent() && !r.Set.Partial {
			m.status = Final
		}
		m.corrected = m.corrected || r.Set.Corrected
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

// dropStaleDocument drops the PDF if a report after it changes a value or
// a missing result: a reader of the PDF would not see the change.
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
		value, unit, flag string
	}
	count := func(all []sampledResult) map[shown]int {
		counts := map[shown]int{}
		for i := range all {
			r := &all[i].Result
			counts[shown{keyOf(r), strings.TrimSpace(r.Value), strings.TrimSpace(r.Unit), r.Flag}]++
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

// observationKey identifies the versions of one value: its code, sub-id, group of
// specimens, parent result, and the time of the reading if there are several.
type observationKey struct {
	code, sub, group string
	parent           parentKey
	reading          string
}

// parentKey identifies the result that others belong to.
type parentKey struct{ code, sub string }

// claim holds what one report has for an observation: values, or that there
// will be none.
type claim struct {
	rank     int
	report   *Report
	values   []sampledResult
	critical bool // a value is
	missing  *networks.Missing
	key      observationKey // of a missing result or a confirmation
}

// confirm makes the last values before a confirmation final, and reports whether
// there are any.
func (c *claim) confirm(best map[observationKey]*claim, all map[observationKey][]*claim) (found bool) {
	keys := slices.Collect(maps.Keys(all))
	meant := meantBy(c.key, keys)
	if len(meant) == 0 { // its time is perhaps that of the confirmation
		other := c.key
		other.reading = ""
		meant = meantBy(other, keys)
	}
	for _, key := range meant {
		claims := all[key]
		var last *claim
		for _, before := range claims {
			if compareTimes(before.report, c.report) <= 0 && (last == nil || before.isLaterThan(last)) {
				last = before
			}
		}
		if last == nil {
			continue
		}
		found = true
		if last.rank >= rankFinal && c.missing.Flag == "" {
			continue
		}
		final := &claim{rank: max(last.rank, rankFinal), report: c.report, values: slices.Clone(last.values)}
		for i := range final.values {
			final.values[i].finality = FinalValue
			final.values[i].Flag = cmp.Or(c.missing.Flag, final.values[i].Flag)
		}
		all[key] = append(claims, final)
		keepBest(best, key, final)
	}
	return found
}

// mayMean reports whether a statement about missing values may mean a value. A
// fact that it does not have fits any value.
func (k observationKey) mayMean(value observationKey) bool {
	fits := func(stated, own string) bool { return stated == "" || own == "" || stated == own }
	return k.code == value.code && k.group == value.group && fits(k.sub, value.sub) && fits(k.reading, value.reading) &&
		(k.parent == parentKey{} || value.parent == parentKey{} || k.parent == value.parent)
}

// meantBy returns the values that a statement means: exactly the one that it names,
// otherwise all that it may mean. A statement that fits none means the only value
// of its code.
func meantBy(k observationKey, values []observationKey) []observationKey {
	var some, ofCode []observationKey
	for _, value := range values {
		if value == k {
			return []observationKey{value}
		}
		if value.code == k.code && value.group == k.group {
			ofCode = append(ofCode, value)
		}
		if k.mayMean(value) {
			some = append(some, value)
		}
	}
	if len(some) == 0 && len(ofCode) == 1 && k.reading == "" {
		return ofCode
	}
	return some
}

// observedAt returns the time of the latest observation; zero if it is unknown.
func (c *claim) observedAt() time.Time {
	var at time.Time
	for i := range c.values {
		if one := c.values[i].At.Time; one.After(at) {
			at = one
		}
	}
	return at
}

// newestReading returns values that are not final, but newer than every final
// statement about the observation: the lab reported them later, and observed
// them later or they are critical. So are final critical values that are newer than
// every correction. It is nil without a higher statement, and without newer values.
// denied says that there will be no value; it may be nil.
func newestReading(all []*claim, denied *claim) *claim {
	statements := all
	if denied != nil {
		statements = append(slices.Clone(all), denied)
	}
	var newest *claim
	for _, c := range all {
		above := rankFinal
		if c.rank >= rankFinal {
			above = rankCorrected
		}
		if c.rank >= above || above == rankCorrected && !c.critical {
			continue
		}
		higher, isNewest := false, true
		for _, s := range statements {
			if s.rank >= above {
				higher, isNewest = true, isNewest && c.supersedes(s)
			}
		}
		if higher && isNewest && (newest == nil || c.isLaterThan(newest)) {
			newest = c
		}
	}
	return newest
}

// flagAsValue returns the critical flag of a confirmation as a value.
func (c *claim) flagAsValue(own string) sampledResult {
	no := c.missing
	return sampledResult{
		Result: networks.Result{
			ProviderID: no.ProviderID, TestProviderID: no.TestProviderID, Name: no.Name, LOINC: no.LOINC, SubID: no.SubID,
			Value: no.Flag, Type: string(Comment), Flag: no.Flag, Status: "F", Notes: []string{no.Note},
		},
		sample: sampleKey(c.report, own), finality: FinalValue, at: c.report.reportedAt(),
	}
}

// isLaterThan compares claims by the times of their reports; of one report, the
// more final claim is the later one.
func (c *claim) isLaterThan(other *claim) bool {
	return cmp.Or(compareTimes(c.report, other.report), cmp.Compare(c.rank, other.rank)) > 0
}

// supersedes reports whether values that are not final are newer than a final
// statement.
func (c *claim) supersedes(final *claim) bool {
	later := compareTimes(c.report, final.report) > 0
	at, before := c.observedAt(), final.observedAt()
	observedLater := !before.IsZero() && at.After(before) || final.missing != nil && !at.IsZero() && later
	return observedLater && (later || c.critical) || later && c.critical
}

// outranks compares claims by the finality of their status, then by the times of
// their reports. Another value that a report corrects does not matter.
func (c *claim) outranks(other *claim) bool {
	return cmp.Or(cmp.Compare(c.rank, other.rank), compareTimes(c.report, other.report)) > 0
}

// The ranks of a status.
const (
	rankPreliminary = 1 + iota
	rankVerified    // by a person, not final
	rankFinal
	rankCorrected
)

// rank orders the statuses of HL7 table 0085 by finality. A result without a
// status is as final as its report.
func rank(status string, r *Report) int {
	switch strings.ToUpper(status) {
	case "P", "S", "A", "I":
		return rankPreliminary
	case "R":
		return rankVerified
	case "F", "U", "X":
		return rankFinal
	case "C", "D", "W":
		return rankCorrected
	}
	return []int{rankPreliminary, rankFinal, rankCorrected}[r.completeness()]
}

// codeOf returns the lab's code of a value. Text without a code belongs to its
// test.
func codeOf(code, loinc, test, name string) string {
	return strings.ToLower(cmp.Or(code, loinc, test+"/"+name))
}

// addObservations chooses the claims that win, and lists their values in the
// order of the most final report that has them. Newer values that are not final
// win as well. A statement about the rest of a test is listed and removes no
// value.
func (m *mergedReport) addObservations(sorted []*Report, own string) {
	best, all := map[observationKey]*claim{}, map[observationKey][]*claim{}
	missing, denials := map[observationKey]*claim{}, map[observationKey]*claim{}
	listed := map[observationKey]bool{}
	var order, absent []observationKey
	var confirmations []*claim
	for _, r := range slices.Backward(sorted) {
		for by, c := range claims(r, own) {
			keepBest(best, by.observationKey, c)
			all[by.observationKey] = append(all[by.observationKey], c)
		}
		for i := range r.Set.Results {
			if key := r.keyOf(i); !listed[key] {
				listed[key] = true
				order = append(order, key)
			}
		}
		for i := range r.Set.Missing {
			no := &r.Set.Missing[i]
			c := &claim{rank: max(rankFinal, rank("", r)), report: r, missing: no, key: r.missingKeyOf(i)}
			if no.Confirms {
				confirmations = append(confirmations, c)
				continue
			}
			if missing[c.key] == nil {
				absent = append(absent, c.key)
			}
			keepBest(missing, c.key, c)
			if !no.Rest {
				keepBest(denials, c.key, c)
			}
		}
	}
	for _, c := range confirmations {
		switch {
		case c.confirm(best, all):
		case c.missing.Flag != "": // a critical flag must reach a person
			m.results = append(m.results, c.flagAsValue(own))
		case missing[c.key] == nil:
			absent = append(absent, c.key)
			missing[c.key] = c
		}
	}
	values := map[string][]observationKey{} // by code
	for _, key := range order {
		values[key.code] = append(values[key.code], key)
	}
	denied, meant := map[observationKey]*claim{}, map[observationKey][]observationKey{}
	for _, k := range absent {
		meant[k] = meantBy(k, values[k.code])
		for _, key := range meant[k] {
			if denials[k] != nil {
				keepBest(denied, key, denials[k])
			}
		}
	}
	present := map[observationKey]bool{}
	for _, key := range order {
		shown, no := best[key], denied[key]
		newer := newestReading(all[key], no)
		if newer == nil && no != nil && no.outranks(shown) {
			continue
		}
		present[key] = true
		if newer != nil && shown.rank == rankCorrected && shown.critical && compareTimes(newer.report, shown.report) < 0 {
			// A critical correction of an earlier observation, which may be another
			// one: each is shown.
			without := func(c *claim) []*claim {
				return slices.DeleteFunc(slices.Clone(all[key]), func(other *claim) bool { return other == c })
			}
			m.results = append(m.results, shown.withPrevious(without(newer))...)
			shown, all[key] = newer, without(shown)
			newer = nil
		}
		if newer != nil {
			shown = newer
		}
		m.results = append(m.results, shown.withPrevious(all[key])...)
	}
	for _, k := range absent {
		m.addMissing(missing[k], own, meant[k], values[k.code], present)
	}
}

// addMissing adds a missing result, if none of the values that it means is
// present. others are all values of its code.
func (m *mergedReport) addMissing(c *claim, own string, meant, others []observationKey, present map[observationKey]bool) {
	isPresent := func(key observationKey) bool { return present[key] }
	no := sampledMissing{Missing: *c.missing, sample: cmp.Or(c.missing.Specimen, sampleKey(c.report, own))}
	switch {
	case no.Rest:
	case slices.ContainsFunc(meant, isPresent):
		return
	case slices.ContainsFunc(others, func(key observationKey) bool { return key.group == c.key.group && present[key] }):
		no.scope = missingScope{limited: true, group: c.key.group, key: c.key} // one of several values
	}
	if c.report.apart && !no.scope.limited {
		no.scope = missingScope{limited: true, group: c.key.group}
	}
	m.missing = append(m.missing, no)
}

// withPrevious returns the values of the winning claim, each with the value
// that it replaces: that of the highest other claim with another value. A value
// that differs from an earlier final one is corrected, even if the lab only
// says final.
func (c *claim) withPrevious(all []*claim) []sampledResult {
	values := slices.Clone(c.values)
	for i := range values {
		var before *claim
		for _, other := range all {
			if other != c && len(other.values) == len(values) && !other.values[i].hasValueOf(&values[i]) && (before == nil || other.outranks(before)) {
				before = other
			}
		}
		if before == nil {
			values[i].finality = c.finalityOfRepeated(all, i)
			continue
		}
		values[i].previous = &before.values[i]
		if values[i].finality == FinalValue && before.rank >= rankFinal {
			values[i].finality = CorrectedValue
		}
	}
	return values
}

// finalityOfRepeated returns the finality of a value that replaces no other
// one. A lab that corrects a report may mark every value as corrected. A value
// that only repeats an earlier final one stays final.
func (c *claim) finalityOfRepeated(all []*claim, i int) Finality {
	one := &c.values[i]
	repeats := slices.ContainsFunc(all, func(other *claim) bool {
		if other == c || other.rank < rankFinal || len(other.values) != len(c.values) {
			return false
		}
		earlier := &other.values[i]
		return earlier.Flag == one.Flag && earlier.Range == one.Range
	})
	if one.finality == CorrectedValue && repeats {
		return FinalValue
	}
	return one.finality
}

func (r *sampledResult) hasValueOf(other *sampledResult) bool {
	return strings.TrimSpace(r.Value) == strings.TrimSpace(other.Value) && strings.TrimSpace(r.Unit) == strings.TrimSpace(other.Unit)
}

// finalityOf returns the finality of a value in a report. A report that
// corrects repeats the values that it does not change, so only the status of
// the value, or another value, makes it corrected.
func finalityOf(status string, rank int) Finality {
	switch {
	case rank < rankFinal:
		return PreliminaryValue
	case rank == rankCorrected && status != "":
		return CorrectedValue
	}
	return FinalValue
}

// keepBest keeps a claim that outranks the previous one.
func keepBest[K comparable](best map[K]*claim, key K, c *claim) {
	if known := best[key]; known == nil || c.outranks(known) {
		best[key] = c
	}
}

// keyOf returns the key of the i-th value of a report.
func (r *Report) keyOf(i int) observationKey {
	if r.keys != nil {
		return r.keys[i]
	}
	return keyOf(&r.Set.Results[i])
}

// missingKeyOf returns the key of the i-th missing result of a report.
func (r *Report) missingKeyOf(i int) observationKey {
	if r.missingKeys != nil {
		return r.missingKeys[i]
	}
	return observationKey{code: missingCodeOf(&r.Set.Missing[i]), sub: r.Set.Missing[i].SubID}
}

func missingCodeOf(m *networks.Missing) string {
	return codeOf(m.ProviderID, m.LOINC, m.TestProviderID, m.Name)
}

func keyOf(r *networks.Result) observationKey {
	return observationKey{code: codeOf(r.ProviderID, r.LOINC, r.TestProviderID, r.Name), sub: r.SubID}
}

// reportedValue is a report's value of an observation.
type reportedValue struct {
	observationKey
	rank        int
	value, unit string
}

// claimKey separates the final values of an observation from those that are not
// final: a report may have both.
type claimKey struct {
	observationKey
	final bool
}

// claims groups a report's values by observation. One value under two tests
// counts once; two values of one code are both kept.
func claims(r *Report, own string) map[claimKey]*claim {
	all := map[claimKey]*claim{}
	before := map[reportedValue]bool{}
	for i := range r.Set.Results {
		one := &r.Set.Results[i]
		key, rank := r.keyOf(i), rank(one.Status, r)
		by := claimKey{key, rank >= rankFinal}
		c := all[by]
		if c == nil || rank > c.rank {
			c = &claim{rank: rank, report: r}
			all[by] = c
		}
		this := reportedValue{key, rank, one.Value, one.Unit}
		again := before[this] && (one.ProviderID != "" || one.LOINC != "")
		if rank == c.rank && !again {
			c.values = append(c.values, sampledResult{Result: *one, sample: cmp.Or(one.Specimen, sampleKey(r, own)), finality: finalityOf(one.Status, rank), at: r.reportedAt(), group: key.group})
			c.critical = c.critical || r.critical != nil && r.critical[i]
		}
		before[this] = true
	}
	return all
}
