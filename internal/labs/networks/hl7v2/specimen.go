package hl7v2

import (
	"cmp"
	"slices"
	"strings"

	"hale/internal/labs/networks"
)

// specimen reads SPM and the fields of OBR that older versions have instead.
// The first test that says something of the sample counts for the order.
func (r *results) specimen(of *reader, t *test, q *request) {
	sample := &r.set.Specimen
	for _, s := range q.specimens {
		sample.Number = cmp.Or(sample.Number, s.Get(2), s.Field(2).First().Get(2))
		sample.Volume = cmp.Or(sample.Volume, quantity(s.Get(12), s.Get(12, 2), s.Get(12, 2, 2)))
		fill(&sample.Collected, of.clock.moment(s.Get(17)))
		fill(&sample.Received, of.clock.moment(s.Get(18)))
		for _, reject := range s.Field(21).Repeats() {
			code := strings.ToUpper(reject.Get(1))
			if _, known := rejections[code]; !known && code != "" {
				code = "other" // than those of the table
			}
			if code != "" && !slices.Contains(t.rejects, code) {
				t.rejects = append(t.rejects, code)
			}
		}
	}
	fill(&sample.Collected, of.clock.moment(q.obr.Get(7)))
	fill(&sample.Received, of.clock.moment(q.obr.Get(14)))
	fill(&sample.Reported, of.clock.moment(q.obr.Get(22)))
	sample.Volume = cmp.Or(sample.Volume, quantity(q.obr.Get(9), q.obr.Get(9, 2), ""))
	information := q.obr.Text(13)
	if sample.Fasting == nil {
		sample.Fasting = fasting(information)
	}
	sample.Information = cmp.Or(sample.Information, information)
}

// collected is when the sample of a test was taken, by a message without results:
// SPM-17, or OBR-7. Of an order message it is a lab's word only where the message
// tells of a status or of observations; an answer repeats the order, whose OBR-7
// may be the time that somebody planned.
func (d *draft) collected(q *request) networks.Moment {
	answer := d.header.Type == "ORL" || d.header.Type == "ORR"
	if !answer && !slices.Contains([]string{"SC", "SN", "SR", "RE"}, strings.ToUpper(q.orc.Get(1))) {
		return networks.Moment{}
	}
	var at networks.Moment
	for _, s := range q.specimens {
		fill(&at, d.clock.moment(s.Get(17)))
	}
	if !answer {
		fill(&at, d.clock.moment(q.obr.Get(7)))
	}
	return at
}

func fill(at *networks.Moment, found networks.Moment) {
	if at.Time.IsZero() {
		*at = found
	}
}

func quantity(amount, unit, words string) string {
	if amount == "" {
		return ""
	}
	return strings.TrimSpace(amount + " " + cmp.Or(unit, words))
}

// fasting reads OBR-13, whose first word labs take from HL7 table 0916: F, NF,
// NG (not given) and FNA (not asked).
func fasting(text string) *bool {
	word, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(text)), " ")
	word, _, _ = strings.Cut(word, "^")
	yes := true
	switch strings.Trim(word, ".,:;") {
	case "F", "FASTING", "Y":
		return &yes
	case "NF", "NONFASTING", "NON-FASTING":
		no := false
		return &no
	}
	return nil
}

// rejection is what a reason to reject a specimen means for the order, and for
// a result that is missing because of it.
type rejection struct{ status, detail, reason string }

const (
	sampleError = "sample_error"
	blocked     = "lab_processing_blocked"
)

// rejections are the codes of HL7 table 0490.
var rejections = map[string]rejection{
	"QS": {sampleError, "sample_quantity_not_sufficient", "quantity_not_sufficient_failure"},
	"RH": {sampleError, "sample_hemolyzed", "collection_process_failure"},           // hemolysis
	"RN": {sampleError, "sample_contaminated", "collection_process_failure"},        // contamination
	"RC": {sampleError, "sample_improper_collection", "collection_process_failure"}, // clotting
	"EX": {sampleError, "sample_stability_exceeded", "drop_off_failure"},            // expired
	"RR": {sampleError, "sample_stability_exceeded", "drop_off_failure"},            // improper storage
	"RB": {sampleError, "", "drop_off_failure"},                                     // broken container
	"RM": {sampleError, "", "collection_process_failure"},                           // labelling
	"RD": {blocked, "date_of_collection_unspecified", "order_entry_failure"},        // missing collection date
	"RE": {blocked, "demographic_information_unspecified", "order_entry_failure"},   // missing patient name
	"RA": {blocked, "demographic_information_unspecified", "order_entry_failure"},   // missing patient id
	"RI": {blocked, "demographic_information_mismatch", "order_entry_failure"},      // identification problem
	"RS": {blocked, "demographic_information_mismatch", "order_entry_failure"},      // name misspelling
	"RP": {blocked, "", "order_entry_failure"},                                      // missing phlebotomist
}
