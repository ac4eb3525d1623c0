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

// read makes reports of a message, one for each order that it speaks of.
func read(m *hl7.Message, header hl7.Header, slug string, lab Lab) []networks.Report {
	r := reader{header: header, slug: slug, lab: lab, clock: clockOf(header, lab), byNumber: map[orderKey]*draft{}}
	for _, q := range requests(m) {
		r.draft(q).add(q)
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

type reader struct {
	header hl7.Header
	slug   string
	lab    Lab
	clock  clock
	drafts []*draft
	// byNumber finds a draft by what its tests have in common.
	byNumber map[orderKey]*draft
}

// orderKey tells the orders of a message apart: by the placer number, or, where
// the lab has no number of ours, by its own.
type orderKey struct {
	patient        *person
	placer, filler string
}

// draft is a report that is being read.
type draft struct {
	*reader
	report  networks.Report
	patient *person
	results results
	statuses
}

// draft finds the report that a test belongs to, or begins one. A test without
// any number goes with the one before it.
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
		Patient: reported(q.patient.pid), At: r.header.Time.UTC(),
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
		fill(&d.report.Collected, d.collected(q))
	}
	d.statuses.add(d.header.Type, q)
}

func (d *draft) finish() {
	d.results.finish()
	set := &d.results.set
	if d.report.SampleID == "" {
		d.report.SampleID = set.Specimen.Number
	}
	if len(d.report.SampleID) > longest {
		d.report.SampleID = "" // no number, and the order is looked for by the person
	}
	if reported := set.Specimen.Reported.Time; !reported.IsZero() {
		d.report.At = reported
	}
	if d.results.says() {
		d.report.Results = set
	} else {
		fill(&d.report.Collected, set.Specimen.Collected)
	}
	d.statuses.outcome(&d.results, &d.report)
}

// placerOf is our number of the order: OBR-2, ORC-2, or that of the parent that
// a reflex test grew from (OBR-29).
func placerOf(q *request) string {
	return cmp.Or(q.obr.Get(2), q.orc.Get(2), q.obr.Get(29))
}

// fillerOf is the lab's number: OBR-3 or ORC-3.
func fillerOf(q *request) string { return cmp.Or(q.obr.Get(3), q.orc.Get(3)) }

// account is the customer number: ORC-21, or the receiving facility of a lab
// that addresses its customers so.
func (r *reader) account(q *request) string {
	if number := cmp.Or(q.orc.Get(21, 10), q.orc.Get(21, 3)); number != "" {
		return number
	}
	if r.lab.Facility == "" && r.slug != "" {
		return r.header.ReceivingFacility.Get()
	}
	return ""
}

// reported reads PID. Of several names the legal one counts.
func reported(pid hl7.Segment) networks.ReportedPatient {
	name := pid.Field(5).First()
	for _, other := range pid.Field(5).Repeats() {
		if other.Get(7) == "L" {
			name = other
			break
		}
	}
	p := networks.ReportedPatient{LastName: name.Get(1), FirstName: name.Get(2), Gender: gender(pid.Get(8))}
	if born, err := hl7.ParseTime(pid.Get(7), time.UTC); err == nil && born.Digits >= 8 {
		p.DOB = civil.DateOf(born.Time) // the day as written, in whatever zone
	}
	return p
}

// clock reads times. What they leave out is the zone of MSH-7, which the
// standard makes that of the whole message, or the zone of the lab's settings.
type clock struct {
	zone *time.Location
	// known reports that the zone is no guess.
	known bool
}

func clockOf(h hl7.Header, lab Lab) clock {
	if h.Time.Zoned {
		return clock{h.Time.Location(), true}
	}
	return clock{lab.zone(), lab.Zone != ""}
}

// moment is the zero Moment for text that is no time.
func (c clock) moment(text string) networks.Moment {
	at, err := hl7.ParseTime(text, c.zone)
	if err != nil {
		return networks.Moment{}
	}
	m := networks.Moment{Time: at.UTC()}
	if at.Zoned || c.known {
		_, offset := at.Zone()
		m.Offset = &offset
	}
	return m
}

// first is the first moment that can be read.
func (c clock) first(texts ...string) networks.Moment {
	for _, text := range texts {
		if m := c.moment(text); !m.Time.IsZero() {
			return m
		}
	}
	return networks.Moment{}
}

func lines(texts ...string) string {
	return strings.TrimSpace(strings.Join(texts, "\n"))
}
