package hl7v2

import (
	"cmp"
	"slices"
	"strings"

	"hale/internal/labs/networks"
)

// statuses gathers what a message says of an order itself, beside results: of the
// tests that the lab takes, and of those that it cancels or will not do.
type statuses struct{ taken, refused verdict }

// verdict is a status with the tests that have it, and why, in the lab's words.
type verdict struct {
	word       string
	tests, why []string
	named      map[string]bool
}

// add reads one test. In an answer to an order (ORL, ORR) ORC-1 is the answer;
// in an order message (ORM, OML) it is what the lab did by itself, and in a
// result message what it did beside the results. Of several words for no the
// first stands for all.
func (s *statuses) add(message string, q *request) {
	word := control(strings.ToUpper(q.orc.Get(1)), strings.ToUpper(q.orc.Get(5)), message)
	if word == "" {
		return
	}
	of := &s.refused
	if word == received {
		of = &s.taken
	}
	of.word = cmp.Or(of.word, word)
	of.hear(q)
}

// hear adds a test, and the words of ORC-16 and of its notes.
func (v *verdict) hear(q *request) {
	code, _, loinc := coding(q.obr, 4)
	v.name(code)
	v.name(loinc)
	for _, text := range append([]string{cmp.Or(q.orc.Get(16, 2), q.orc.Get(16))}, q.notes...) {
		if text != "" && !slices.Contains(v.why, text) && len(v.why) < mostWords {
			v.why = append(v.why, text)
		}
	}
}

func (v *verdict) reason() string { return strings.Join(v.why, "; ") }

// name adds a name of a test, each once.
func (v *verdict) name(test string) {
	if test == "" || v.named[test] {
		return
	}
	if v.named == nil {
		v.named = map[string]bool{}
	}
	v.named[test] = true
	v.tests = append(v.tests, test)
}

// received is the status of an order that the lab has.
const received = "requisition_created"

// mostWords bounds how many sentences the reason of a status has.
const mostWords = 20

// control is the order status of an order control code (HL7 table 0119) and an
// order status (table 0038).
func control(code, status, message string) string {
	answer := message == "ORL" || message == "ORR"
	switch code {
	case "OK", "AF", "NA":
		if answer {
			return received
		}
	case "UA", "DE":
		if answer {
			return "do_not_process"
		}
	case "CR", "OC", "DC", "DR", "OD", "OE":
		return "cancelled"
	case "CA": // from a lab it is a cancellation; in an answer it repeats our wish
		if !answer {
			return "cancelled"
		}
	case "SC", "SN": // the status changed
		if status == "CA" || status == "DC" {
			return "cancelled"
		}
	}
	return ""
}

// outcome puts the status of the order on a report, and what the lab refuses
// beside it. Values speak for themselves. What the lab rejects a specimen for
// counts before its words on the order, and a lab that takes some of the tests
// has taken the order.
func (s *statuses) outcome(r *results, to *networks.Report) {
	to.Refused, to.Reason = s.refused.tests, s.refused.reason()
	rejected, detail := r.rejected()
	switch {
	case len(r.set.Results) > 0:
	case rejected.word != "":
		to.Status, to.Detail, to.Tests = rejected.word, detail, rejected.tests
		to.Refused = slices.DeleteFunc(to.Refused, func(test string) bool { return rejected.named[test] })
	case s.taken.word != "":
		to.Status, to.Tests = s.taken.word, s.taken.tests
	case s.refused.word != "":
		to.Status, to.Tests, to.Refused = s.refused.word, s.refused.tests, nil
	case r.arrived():
		to.Status = "delivered_to_lab"
	}
}

// rejected is the status of an order by its specimens that the lab rejected, with
// the tests that they were for. The first reason that says more than that counts.
func (r *results) rejected() (of verdict, detail string) {
	for _, t := range r.tests {
		for _, code := range t.rejects {
			why, known := rejections[code]
			if !known {
				why = rejection{status: sampleError}
			}
			if of.word == "" || detail == "" && why.detail != "" {
				of.word, detail = why.status, why.detail
			}
		}
		if len(t.rejects) > 0 {
			of.name(t.code)
			of.name(t.loinc)
		}
	}
	return of, detail
}

// arrived reports whether the lab says that it has the specimen and no results
// yet (OBR-25 I).
func (r *results) arrived() bool {
	return slices.ContainsFunc(r.tests, func(t *test) bool { return t.status == "I" }) && !r.says()
}
