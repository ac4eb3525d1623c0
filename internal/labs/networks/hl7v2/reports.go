package hl7v2

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/platform/civil"
)

// readReports builds the reports of a message, one for each order.
func readReports(m *hl7.Message, header hl7.Header, slug string, lab Lab) []networks.Report {
	r := reader{header: header, slug: slug, lab: lab, clock: newTimeReader(header, lab), byNumber: map[orderKey]*draft{}}
	for _, q := range requests(m) {
		r.draft(q).add(q)
	}
	if n := len(r.drafts); n > 0 && isContinued(m) {
		r.drafts[n-1].results.set.Partial = true
	}
	var reports []networks.Report
	for _, d := range r.drafts {
		d.finish()
		if r := &d.report; r.Status != "" || r.Results != nil || !r.Collected.Time.IsZero() {
			reports = append(reports, d.report)
		}
	}
	return reports
}

// isContinued reports whether another message has the rest of a message: DSC-1 names it.
func isContinued(m *hl7.Message) bool {
	return slices.ContainsFunc(m.Segments, func(s hl7.Segment) bool { return s.Name() == "DSC" && s.Get(1) != "" })
}

type reader struct {
	header hl7.Header
	slug   string
	lab    Lab
	clock  timeReader
	drafts []*draft
	// byNumber finds a draft by the numbers of its tests.
	byNumber map[orderKey]*draft
}

// orderKey identifies an order in a message: by the placer number or, without
// it, by the lab's number.
type orderKey struct {
	patient        *patientGroup
	placer, filler string
}

// draft is a report that is being read.
type draft struct {
	*reader
	report  networks.Report
	patient *patientGroup
	results results
	orderStatuses
}

// draft finds the report of a test, or begins one. A test without any number
// belongs to the test before it.
func (r *reader) draft(q *request) *draft {
	placer, filler := placerOf(q), fillerOf(q)
	key := orderKey{q.patient, placer, ""}
	if placer == "" {
		key.filler = filler
	}
	if d, known := r.byNumber[key]; known {
		return d
	}
	if n := len(r.drafts); n > 0 && placer == "" && filler == "" && r.drafts[n-1].patient == q.patient {
		return r.drafts[n-1]
	}
	d := &draft{reader: r, patient: q.patient, report: networks.Report{
		Placer: placer, SampleID: filler, Lab: r.slug, Account: r.account(q),
		Patient: reportedPatient(q.patient.pid), IdentityByNumber: r.lab.Identity == identityByNumber, At: r.header.Time.UTC(), Sent: sentAt(r.header),
	}}
	d.results.set.Comments = slices.Clone(q.patient.notes)
	r.drafts = append(r.drafts, d)
	r.byNumber[key] = d
	// A later test may repeat only the lab's number.
	if own := (orderKey{q.patient, "", filler}); filler != "" && r.byNumber[own] == nil {
		r.byNumber[own] = d
	}
	return d
}

func (d *draft) add(q *request) {
	if d.header.Type == "ORU" {
		d.results.add(d.reader, q)
	} else {
		setIfZero(&d.report.Collected, d.collectionTime(q))
	}
	d.orderStatuses.add(d.header.Type, q)
	d.addNumbers(q)
}

// addNumbers adds the numbers of a test that differ from those of the report:
// ORC-2 beside OBR-2, ORC-3 beside OBR-3, and SPM-2. A report that also has
// another order's number may belong to that order.
func (d *draft) addNumbers(q *request) {
	r := &d.report
	add := func(to *[]string, known, number string) {
		if number != "" && number != known && len(number) <= maxName && len(*to) < maxNumbers && !slices.Contains(*to, number) {
			*to = append(*to, number)
		}
	}
	if !q.sharesORC {
		add(&r.OtherPlacers, r.Placer, q.orc.Get(2))
	}
	add(&r.OtherSamples, r.SampleID, q.obr.Get(3))
	if !q.sharesORC {
		add(&r.OtherSamples, r.SampleID, q.orc.Get(3))
	}
	for _, s := range q.specimens {
		add(&r.OtherSamples, r.SampleID, s.Get(2))
		add(&r.OtherSamples, r.SampleID, s.Field(2).First().Get(2))
	}
}

// maxNumbers bounds the further numbers of an order in a message.
const maxNumbers = 50

// sentAt returns the time of a message; zero without one.
func sentAt(h hl7.Header) time.Time {
	if h.Time.IsZero() {
		return time.Time{}
	}
	return h.Time.UTC()
}

func (d *draft) finish() {
	d.results.finish(d.patient.notes)
	set := &d.results.set
	set.TestsOnly = d.lab.FinalResults != finalOrder
	if d.report.SampleID == "" {
		d.report.SampleID = set.Specimen.Number
	}
	if len(d.report.SampleID) > maxName {
		d.report.SampleID = "" // not a number; the order is found by the person
	}
	if reported := set.Specimen.Reported.Time; !reported.IsZero() {
		d.report.At, d.report.DateOnly = reported, d.results.dateOnly
	}
	if d.results.hasContent() {
		d.report.Results = set
	} else {
		setIfZero(&d.report.Collected, set.Specimen.Collected)
	}
	d.orderStatuses.setStatus(&d.results, &d.report)
	if d.hasOnlyNotes() {
		d.report.Results = set
		var named testStatus
		for _, t := range d.results.tests {
			named.addName(t.code)
			named.addName(t.loinc)
		}
		d.report.Tests = named.tests
	}
}

// hasOnlyNotes reports whether a result message has only notes, and its tests do
// not just wait. A laboratory may report a finding in this way.
func (d *draft) hasOnlyNotes() bool {
	r := &d.report
	if d.header.Type != "ORU" || r.Results != nil || r.Status != "" || len(r.Refused) > 0 || len(d.results.set.Comments) == 0 || d.results.pending {
		return false
	}
	return !slices.ContainsFunc(d.results.tests, func(t *test) bool { return slices.Contains([]string{"O", "I", "S", "A"}, t.status) })
}

// placerOf returns our number of the order: OBR-2, ORC-2, or the parent's of a
// reflex test (OBR-29).
func placerOf(q *request) string {
	return cmp.Or(q.obr.Get(2), q.orc.Get(2), q.obr.Get(29))
}

// fillerOf returns the lab's number: OBR-3 or ORC-3.
func fillerOf(q *request) string { return cmp.Or(q.obr.Get(3), q.orc.Get(3)) }

// account returns the customer number: ORC-21, or the receiving facility of a
// lab that uses it for customers.
func (r *reader) account(q *request) string {
	if number := cmp.Or(q.orc.Get(21, 10), q.orc.Get(21, 3)); number != "" {
		return number
	}
	if r.lab.Facility == "" && r.slug != "" {
		return r.header.ReceivingFacility.Get()
	}
	return ""
}

// reportedPatient reads PID. Of several names the legal one counts. Middle names follow
// the first name.
func reportedPatient(pid hl7.Segment) networks.ReportedPatient {
	name := pid.Field(5).First()
	for _, other := range pid.Field(5).Repeats() {
		if other.Get(7) == "L" {
			name = other
			break
		}
	}
	p := networks.ReportedPatient{LastName: name.Get(1), FirstName: name.Get(2), Gender: parseSex(cmp.Or(pid.Get(8), pid.Get(8, 2)))}
	if middle := strings.TrimSpace(name.Get(3)); p.FirstName != "" && middle != "" && middle != `""` {
		p.FirstName += " " + middle
	}
	if born, err := hl7.ParseTime(pid.Get(7), time.UTC); err == nil && born.Digits >= 8 {
		p.DOB = civil.DateOf(born.Time) // the day as written, in any zone
	}
	return p
}

// timeReader reads times. The default zone is that of MSH-7, which the
// standard applies to the whole message, or the zone of the lab's settings.
type timeReader struct {
	zone *time.Location
	// known reports that the zone is not a guess.
	known bool
}

func newTimeReader(h hl7.Header, lab Lab) timeReader {
	if h.Time.Zoned {
		return timeReader{h.Time.Location(), true}
	}
	return timeReader{lab.zone(), lab.Zone != ""}
}

// moment returns the zero Moment for text that is not a time, or less exact than a day.
func (c timeReader) moment(text string) networks.Moment {
	at, err := hl7.ParseTime(text, c.zone)
	if err != nil || at.Digits < len("YYYYMMDD") {
		return networks.Moment{}
	}
	m := networks.Moment{Time: at.UTC()}
	if at.Zoned || c.known {
		_, offset := at.Zone()
		m.Offset = &offset
	}
	return m
}

// firstMoment returns the first moment that can be read.
func (c timeReader) firstMoment(texts ...string) networks.Moment {
	for _, text := range texts {
		if m := c.moment(text); !m.Time.IsZero() {
			return m
		}
	}
	return networks.Moment{}
}

func joinLines(texts ...string) string {
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// request is one test of a message: its OBR with the segments before and below
// it. Absent segments are empty.
type request struct {
	patient *patientGroup
	orc     hl7.Segment
	obr     hl7.Segment
	// notes are the NTE of ORC, OBR and SPM.
	notes        []string
	observations []*observation
	specimens    []hl7.Segment
	// sharesORC means that the ORC belongs to an earlier OBR as well.
	sharesORC bool
}

// patientGroup is the PID of a patient's part of a message, with its NTE.
type patientGroup struct {
	pid   hl7.Segment
	notes []string
}

// observation is an OBX with its NTE.
type observation struct {
	obx   hl7.Segment
	notes []string
	// before counts the SPM of its test that come before it.
	before int
}

// specimenIndexes returns the index of the SPM of each observation. The standard puts
// the values of a test before its SPM, and values of one specimen behind that SPM. Some
// labs put each SPM behind its values, or before them. Values before all SPM are the
// first one's.
func (q *request) specimenIndexes() []int {
	n := len(q.specimens)
	has := func(before int) bool {
		return slices.ContainsFunc(q.observations, func(o *observation) bool { return o.before == before })
	}
	behindValues := has(0) && !has(n)
	all := make([]int, len(q.observations))
	for i, o := range q.observations {
		switch {
		case n < 2 || o.before == 0:
		case behindValues:
			all[i] = o.before
		default:
			all[i] = o.before - 1
		}
	}
	return all
}

// requests finds the tests of a message. Labs differ in the segments that they
// send and in their order, so the position decides, not the message structure
// of a version. An OBX belongs to the OBR before it, or, before the first OBR,
// to the next one. An NTE belongs to the segment before it.
func requests(m *hl7.Message) []*request {
	g := grouper{patient: &patientGroup{}}
	for _, s := range m.Segments {
		switch s.Name() {
		case "PID":
			g.end()
			g.patient = &patientGroup{pid: s}
			g.notes = &g.patient.notes
		case "ORC":
			if g.next.orc.Name() != "" {
				g.end() // the previous request has no OBR
			}
			g.current, g.next.orc = nil, s
			g.notes, g.pending = &g.next.notes, true
		case "OBR":
			if g.current != nil {
				// Another test below the same ORC.
				g.next.orc, g.next.sharesORC = g.current.orc, true
			}
			g.next.obr = s
			g.begin()
		case "OBX":
			at := g.target()
			o := &observation{obx: s, before: len(at.specimens)}
			at.observations = append(at.observations, o)
			g.notes = &o.notes
		case "SPM":
			at := g.target()
			at.specimens = append(at.specimens, s)
			g.notes = &at.notes
		case "NTE":
			if text := s.Text(3); text != "" && g.notes != nil {
				*g.notes = append(*g.notes, text)
			}
		}
	}
	g.end()
	if len(g.found) == 0 && len(g.patient.notes) > 0 {
		g.begin() // notes about a person, without a test
	}
	return g.found
}

// grouper is the state of requests.
type grouper struct {
	found   []*request
	patient *patientGroup
	// current is the request of the last OBR. next collects the segments
	// before the next OBR, and pending reports that there are some.
	current *request
	next    request
	pending bool
	notes   *[]string
}

// target returns the request that a segment below OBR belongs to.
func (g *grouper) target() *request {
	if g.current != nil {
		return g.current
	}
	g.pending = true
	return &g.next
}

// begin makes next the current request.
func (g *grouper) begin() {
	opened := g.next
	opened.patient = g.patient
	g.found = append(g.found, &opened)
	g.current, g.next, g.pending = &opened, request{}, false
	g.notes = &opened.notes
}

// end ends the current request, and keeps one without an OBR.
func (g *grouper) end() {
	if g.pending {
		g.begin()
	}
	g.current, g.notes = nil, nil
}
