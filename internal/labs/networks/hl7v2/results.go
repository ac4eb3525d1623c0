package hl7v2

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/labs/orderwords"
)

// results collects the result set of one order from its tests.
type results struct {
	set     networks.ResultSet
	entries []*entry
	last    *entry // the last one read, kept or not
	tests   []*test
	// pending reports that a value is still to come.
	pending bool
	// dateOnly reports that the time of the report is only a date.
	dateOnly bool
	// Indexes of the tests and values read so far.
	byTest   map[testKey]*test
	versions map[versionKey]*versions
	seen     map[valueKey]int
}

// observationKey names what was observed. Values of one observation with different
// times are different readings.
type observationKey struct {
	test                      *test
	code, name, sub, specimen string
	parent                    networks.Parent
}

// versionKey identifies the versions of one reading.
type versionKey struct {
	observationKey
	at time.Time
}

// testKey identifies a test of one specimen and one parent result. specimen is
// empty for the first.
type testKey struct {
	code, name, specimen string
	parent               networks.Parent
}

// versions has the positions of an observation's entries: those of the highest
// status first, then those below it.
type versions struct {
	rank, highest int
	at            []int
}

// valueKey identifies a value with its status.
type valueKey struct {
	versionKey
	rank  int
	value string
}

// test is an OBR: the ordered test and its status.
type test struct {
	code, name, loinc string
	// status is OBR-25, HL7 table 0123.
	status   string
	notes    []string
	rejects  []string // SPM-21
	specimen string   // the key of a further specimen
	parent   networks.Parent
	// entries counts the observations below it.
	entries int
}

// entry is an OBX that becomes a result.
type entry struct {
	networks.Result
	test *test
	// text marks type TX or FT. Its further lines are separate OBX and are
	// collected in more.
	text bool
	more []string
}

func (r *results) add(of *reader, q *request) {
	specimens, indexes := r.addSpecimens(of, q), q.specimenIndexes()
	t := r.test(q, specimens[0])
	t.addRejects(q)
	r.set.Comments = append(r.set.Comments, q.notes...)
	r.last = nil // a text does not continue in another test
	for i, o := range q.observations {
		if r.takeDocument(o.obx) {
			continue
		}
		e := readObservation(of.clock, t, o)
		if e.Value == "" && e.ProviderID == "" && e.Name == "" && !e.text {
			continue
		}
		if e.ProviderID == "" {
			e.Name = cmp.Or(e.Name, t.name) // text without a code belongs to the test
		}
		e.Laboratory, e.Specimen, e.Parent = r.addLaboratory(of, o.obx), specimens[indexes[i]], t.parent
		if e.At.Time.IsZero() {
			e.At = of.clock.moment(q.obr.Get(7))
		}
		t.entries++
		if e.confirms() {
			r.set.Missing = append(r.set.Missing, e.newConfirmation())
			continue
		}
		if !r.continuesText(e) {
			for _, one := range e.separateNumbers(o.obx.Field(5)) {
				r.addEntry(one)
			}
			r.last = e
		}
	}
}

// separateNumbers returns an entry for each number of a repeated value, so that
// each is compared with its range and limits.
func (e *entry) separateNumbers(f hl7.Field) []*entry {
	repeats := f.Repeats()
	if e.Type != "numeric" || len(repeats) < 2 {
		return []*entry{e}
	}
	var all []*entry
	for _, v := range repeats {
		if text := strings.TrimSpace(v.Text()); text != "" {
			one := *e
			one.Value = text
			all = append(all, &one)
		}
	}
	return all
}

// parentOf reads OBR-26, the result that led to a test.
func parentOf(q *request) networks.Parent {
	return networks.Parent{Code: q.obr.Get(26), SubID: q.obr.Get(26, 2), Value: strings.TrimSpace(q.obr.Get(26, 3))}
}

// test finds the OBR of a test that the message named before with the same
// specimen, or begins one. A later status replaces an earlier one.
func (r *results) test(q *request, specimen string) *test {
	code, name, loinc := coding(q.obr, 4)
	status := strings.ToUpper(q.obr.Get(25))
	key := testKey{code, name, specimen, parentOf(q)}
	if t, known := r.byTest[key]; known && code+name != "" {
		if rank(status) >= rank(t.status) {
			t.status = status
		}
		t.notes = append(t.notes, q.notes...)
		return t
	}
	t := &test{code: code, name: name, loinc: loinc, status: status, notes: slices.Clone(q.notes), specimen: specimen, parent: key.parent}
	r.tests = append(r.tests, t)
	if r.byTest == nil {
		r.byTest = map[testKey]*test{}
	}
	r.byTest[key] = t
	return t
}

// continuesText reports whether an entry is the next line of the text before
// it, and adds it there.
func (r *results) continuesText(e *entry) bool {
	last := r.last
	if last == nil || !e.text || !last.text || last.test != e.test || last.ProviderID != e.ProviderID || last.Status != e.Status || last.Specimen != e.Specimen {
		return false
	}
	last.more = append(last.more, e.Value)
	last.Notes = append(last.Notes, e.Notes...)
	return true
}

// addEntry adds an entry, or replaces an earlier version of the same reading. A version
// of the same reading has the same code, sub-id, specimen and time, and a status that is
// not lower. Two different values of one status are two readings. It uses indexes, so a
// message may have any number of entries.
func (r *results) addEntry(e *entry) {
	if e.ProviderID == "" {
		r.entries = append(r.entries, e)
		return
	}
	key := versionKey{e.observationKey(), e.At.Time}
	value := valueKey{key, rank(e.Status), e.Value}
	v := r.versions[key]
	switch {
	case v == nil:
		v = &versions{rank: value.rank}
		r.remember(key, v)
	case value.rank < v.rank:
		return
	case value.rank > v.rank:
		v.rank, v.highest = value.rank, 0
	}
	at, again := r.seen[value]
	if !again {
		if v.highest == len(v.at) {
			v.at = append(v.at, len(r.entries))
			r.entries = append(r.entries, nil)
		}
		at = v.at[v.highest]
		v.highest++
		r.seen[value] = at
	}
	r.entries[at] = e
}

func (e *entry) observationKey() observationKey {
	return observationKey{e.test, e.ProviderID, e.Name, e.SubID, e.Specimen, e.Parent}
}

// dropReplaced drops entries that one with a higher status replaces, although
// their times differ. A value that is not final is replaced by one that was not
// observed before it, except a critical one of another time. A final value and
// its correction at another time are two readings, if both times are known.
func (r *results) dropReplaced() {
	type reading struct {
		observationKey
		at time.Time
	}
	latest, undated := map[observationKey]*[rankCorrected + 1]time.Time{}, map[observationKey]int{}
	final := map[reading]bool{}
	for _, e := range r.entries {
		key, rank := e.observationKey(), rank(e.Status)
		if latest[key] == nil {
			latest[key] = &[rankCorrected + 1]time.Time{}
		}
		if e.At.Time.IsZero() {
			undated[key] = max(undated[key], rank)
		}
		if e.At.Time.After(latest[key][rank]) {
			latest[key][rank] = e.At.Time
		}
		if rank >= rankFinal {
			final[reading{key, e.At.Time}] = true
		}
	}
	isReplaced := func(e *entry) bool {
		key, at, own := e.observationKey(), e.At.Time, rank(e.Status)
		if e.ProviderID == "" {
			return false
		}
		if undated[key] > own {
			return true
		}
		if own < rankFinal && e.isFlaggedCritical() && !at.IsZero() && !final[reading{key, at}] {
			return false
		}
		for higher := own + 1; higher <= rankCorrected; higher++ {
			other := latest[key][higher]
			if !other.IsZero() && (at.IsZero() || own < rankFinal && !at.After(other)) {
				return true
			}
		}
		return false
	}
	r.entries = slices.DeleteFunc(r.entries, isReplaced)
}

func (r *results) remember(key versionKey, v *versions) {
	if r.versions == nil {
		r.versions, r.seen = map[versionKey]*versions{}, map[valueKey]int{}
	}
	r.versions[key] = v
}

// rank orders statuses by finality. It serves OBX-11 and OBR-25, whose letters
// mean the same where they count.
func rank(status string) int {
	switch status {
	case "P", "S", "A":
		return 1
	case "R":
		return 2
	case "F", "U", "X":
		return rankFinal
	case "C", "D", "W":
		return rankCorrected
	}
	return 0
}

const (
	rankFinal     = 3
	rankCorrected = 4
)

// finish turns entries into results and missing results. notes are those about the
// patient.
func (r *results) finish(notes []string) {
	set := &r.set
	r.dropReplaced()
	r.repeatCriticalNotes(notes)
	for _, t := range r.tests {
		switch t.status {
		case "O", "I", "S", "A", "P", "R":
			set.Partial = true
			if t.entries == 0 {
				r.announce(t.code, t.loinc)
			}
		case "C":
			set.Corrected = true
		case "X":
			if t.entries == 0 {
				set.Missing = append(set.Missing, t.withTest(networks.MissingResult{
					ProviderID: t.code, Name: t.name, LOINC: t.loinc, Note: joinLines(t.notes...), Rest: true, Specimen: t.specimen, Parent: t.parent,
				}))
			}
		}
	}
	for _, e := range r.entries {
		if e.more != nil {
			e.Value = strings.Trim(e.Value+"\n"+strings.Join(e.more, "\n"), "\n")
		}
		switch e.Status {
		case "C":
			set.Corrected = true
		case "P", "R", "S", "I":
			set.Partial = true
		}
		switch {
		case e.isWithdrawn():
			set.Corrected = true
			set.Missing = append(set.Missing, e.newMissing("the laboratory withdrew this result"))
		case e.Status == "O": // a detail of the order
			set.Comments = append(set.Comments, strings.TrimPrefix(joinLines(e.Name+": "+e.Value), ": "))
		case e.Status == "N": // the lab was not asked for it
			m := e.newMissing(e.Value)
			m.Refused = true
			set.Missing = append(set.Missing, m)
		case e.isPending():
			r.pending = true
			set.Partial = true
			r.announce(e.ProviderID, e.LOINC, e.TestProviderID)
		case e.isNotPerformed():
			set.Missing = append(set.Missing, e.newMissing(e.Value))
		case e.Value != "":
			set.Results = append(set.Results, e.Result)
		case e.isFlaggedCritical():
			e.describeInWords()
			set.Results = append(set.Results, e.Result)
		case (e.Status == "F" || e.Status == "C") && e.ProviderID != "":
			set.Missing = append(set.Missing, e.newMissing(""))
		}
	}
	if len(set.Results) > 0 {
		r.addRejectedTests()
	}
}

// announce adds the codes of a test that the lab is still working on.
func (r *results) announce(codes ...string) {
	for _, code := range codes {
		if code != "" && !slices.Contains(r.set.Announced, code) && len(r.set.Announced) < maxAnnounced {
			r.set.Announced = append(r.set.Announced, code)
		}
	}
}

// maxAnnounced bounds the announced codes of one order in a message.
const maxAnnounced = 500

// repeatCriticalNotes adds notes of a test that mention a critical value to its values.
// They go to the values with a flag, or to all if none has one. Such notes about the
// patient, or of a test without values, belong to the values of the whole report.
// Package results decides what a note says.
func (r *results) repeatCriticalNotes(ofPatient []string) {
	addNotes(r.entries, ofPatient)
	for _, t := range r.tests {
		own := slices.DeleteFunc(slices.Clone(r.entries), func(e *entry) bool { return e.test != t })
		if len(own) == 0 {
			own = r.entries
		}
		addNotes(own, t.notes)
	}
}

// addNotes adds the notes that speak of a critical value to values.
func addNotes(all []*entry, notes []string) {
	flagged := slices.DeleteFunc(slices.Clone(all), func(e *entry) bool {
		flag, known := hl7.FindFlag(e.Flag)
		return !known || flag.Interpretation == "normal"
	})
	if len(flagged) > 0 {
		all = flagged
	}
	for _, note := range notes {
		if word := strings.ToUpper(note); !strings.Contains(word, "CRITICAL") && !strings.Contains(word, "PANIC") {
			continue
		}
		for _, e := range all {
			e.Notes = append(slices.Clone(e.Notes), note)
		}
	}
}

// addRejectedTests adds the tests that are missing beside values because their
// specimen was rejected. Tests that the lab only waits with may still come.
func (r *results) addRejectedTests() {
	for _, t := range r.tests {
		if len(t.rejects) == 0 || t.entries > 0 || t.status == "X" {
			continue
		}
		waits := func(code string) bool { return rejections[code].status == orderwords.StatusLabProcessingBlocked }
		r.set.Partial = r.set.Partial || !slices.ContainsFunc(t.rejects, func(code string) bool { return !waits(code) })
		r.set.Missing = append(r.set.Missing, t.withTest(networks.MissingResult{
			ProviderID: t.code, Name: t.name, LOINC: t.loinc, Note: joinLines(t.notes...), Rest: true, Specimen: t.specimen, Parent: t.parent,
		}))
	}
}

// hasContent reports whether the set has results, missing results or a
// document, even one that cannot be read.
func (r *results) hasContent() bool {
	return len(r.set.Results) > 0 || len(r.set.Missing) > 0 || r.set.PDF != nil || len(r.set.Refused) > 0
}

// coding reads a coded field with a local code, a LOINC, or both: the first
// three components are one coding and the next three another.
func coding(s hl7.Segment, field int) (code, name, loinc string) {
	v := s.Field(field).First()
	code, name = v.Get(1), v.Get(2)
	switch {
	case isLOINC(v.Get(3)):
		loinc = code
		if other := v.Get(4); other != "" { // the lab's own code is second
			code, name = other, cmp.Or(v.Get(5), name)
		}
	case isLOINC(v.Get(6)):
		loinc = v.Get(4)
		code, name = cmp.Or(code, loinc), cmp.Or(name, v.Get(5))
	default:
		code, name = cmp.Or(code, v.Get(4)), cmp.Or(name, v.Get(5))
	}
	return code, cmp.Or(name, v.Get(9)), loinc
}

func isLOINC(system string) bool {
	return strings.EqualFold(system, "LN") || strings.EqualFold(system, "LOINC")
}

// isWithdrawn reports a result that was posted by mistake: D deleted, W of a
// wrong patient.
func (e *entry) isWithdrawn() bool { return e.Status == "D" || e.Status == "W" }

// isNotPerformed reports a result that will not come, by its status or by the
// words that labs write as value. Words with a critical flag are a result. For
// tests with numbers package results knows further words.
func (e *entry) isNotPerformed() bool {
	return e.Status == "X" || hl7.FindValueWord(e.Value) == hl7.NotPerformed && !e.isFlaggedCritical()
}

// isPending reports a result that is still to come: its value says so.
func (e *entry) isPending() bool {
	return e.Status != "X" && hl7.FindValueWord(e.Value) == hl7.Pending && !e.isFlaggedCritical()
}

// confirms reports a status without a value: the value that was sent before is
// final.
func (e *entry) confirms() bool {
	return e.Status == "U" && e.Value == "" && e.ProviderID != ""
}

func (e *entry) newConfirmation() networks.MissingResult {
	m := e.newMissing("the laboratory says that its value is final, and did not send it")
	m.Confirms = true
	if e.isFlaggedCritical() {
		m.Flag = e.Flag
	}
	return m
}

// isFlaggedCritical reports a critical flag. Beside an empty value a note may
// describe a value off the scale.
func (e *entry) isFlaggedCritical() bool {
	flag, _ := hl7.FindFlag(e.Flag)
	return flag.Interpretation == "critical"
}

// describeInWords makes the notes the value, or without notes the flag, so that
// the flag reaches a person.
func (e *entry) describeInWords() {
	e.Type = "comment"
	if e.Value = joinLines(e.Notes...); e.Value != "" {
		e.Notes = nil
		return
	}
	e.Value = e.Flag
}

func (e *entry) newMissing(why string) networks.MissingResult {
	m := networks.MissingResult{
		ProviderID: e.ProviderID, TestProviderID: e.TestProviderID, Name: e.Name, LOINC: e.LOINC, Specimen: e.Specimen,
		Note: joinLines(append([]string{why}, e.Notes...)...), SubID: e.SubID, At: e.At, Parent: e.Parent,
	}
	if strings.EqualFold(e.Value, "QNS") {
		m.Reason = "quantity_not_sufficient_failure"
	}
	return e.test.withTest(m)
}

// withTest adds the facts of the test: its code, and the reason why its
// specimen was rejected.
func (t *test) withTest(m networks.MissingResult) networks.MissingResult {
	m.TestProviderID = t.code
	for _, code := range t.rejects {
		m.Reason = cmp.Or(m.Reason, rejections[code].reason)
	}
	return m
}

// addRejects adds the reasons for which specimens were rejected.
func (t *test) addRejects(q *request) {
	for _, s := range q.specimens {
		for _, reject := range s.Field(21).Repeats() {
			code := strings.ToUpper(reject.Get(1))
			if _, known := rejections[code]; !known && code != "" {
				code = "other" // not in the table
			}
			if code != "" && !slices.Contains(t.rejects, code) {
				t.rejects = append(t.rejects, code)
			}
		}
	}
}

// rejection holds the effect of a rejected specimen on the order, and the
// reason of its missing results.
type rejection struct{ status, detail, reason string }

// rejections are the codes of HL7 table 0490.
var rejections = map[string]rejection{
	"QS": {orderwords.StatusSampleError, orderwords.QuantityNotSufficient, "quantity_not_sufficient_failure"},
	"RH": {orderwords.StatusSampleError, orderwords.SampleHemolyzed, "collection_process_failure"},          // hemolysis
	"RN": {orderwords.StatusSampleError, orderwords.SampleContaminated, "collection_process_failure"},       // contamination
	"RC": {orderwords.StatusSampleError, orderwords.SampleImproperCollection, "collection_process_failure"}, // clotting
	"EX": {orderwords.StatusSampleError, orderwords.StabilityExceeded, "drop_off_failure"},                  // expired
	"RR": {orderwords.StatusSampleError, orderwords.StabilityExceeded, "drop_off_failure"},                  // improper storage
	"RB": {orderwords.StatusSampleError, "", "drop_off_failure"},                                            // broken container
	"RM": {orderwords.StatusSampleError, "", "collection_process_failure"},                                  // labelling
	"RD": {orderwords.StatusLabProcessingBlocked, orderwords.CollectionDateMissing, "order_entry_failure"},  // missing collection date
	"RE": {orderwords.StatusLabProcessingBlocked, orderwords.DemographicsMissing, "order_entry_failure"},    // missing patient name
	"RA": {orderwords.StatusLabProcessingBlocked, orderwords.DemographicsMissing, "order_entry_failure"},    // missing patient id
	"RI": {orderwords.StatusLabProcessingBlocked, orderwords.DemographicsMismatch, "order_entry_failure"},   // identification problem
	"RS": {orderwords.StatusLabProcessingBlocked, orderwords.DemographicsMismatch, "order_entry_failure"},   // name misspelling
	"RP": {orderwords.StatusLabProcessingBlocked, "", "order_entry_failure"},                                // missing phlebotomist
}
