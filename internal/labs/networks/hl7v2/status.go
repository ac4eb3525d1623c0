package hl7v2

import (
	"cmp"
	"slices"
	"strings"

	"hale/internal/labs/networks"
	"hale/internal/labs/orderwords"
)

// orderStatuses collects the lab's statuses of an order: the tests that it
// accepts, and those that it cancels or refuses.
type orderStatuses struct{ accepted, refused testStatus }

// testStatus is a status with its tests and the lab's reasons.
type testStatus struct {
	word           string
	tests, reasons []string
	names          map[string]bool
}

// add reads one test. In an answer to an order (ORL, ORR) ORC-1 is the answer.
// In an order message (ORM, OML) it is a change by the lab, and in a result
// message a change beside the results. Of several kinds of refusal the first
// counts for all.
func (s *orderStatuses) add(message string, q *request) {
	word := statusOf(strings.ToUpper(q.orc.Get(1)), strings.ToUpper(q.orc.Get(5)), message)
	if word == "" {
		return
	}
	of := &s.refused
	if word == orderwords.StatusRequisitionCreated {
		of = &s.accepted
	}
	of.word = cmp.Or(of.word, word)
	of.addTest(q)
}

// addTest adds a test, and the texts of ORC-16 and of its notes.
func (v *testStatus) addTest(q *request) {
	code, _, loinc := coding(q.obr, 4)
	v.addName(code)
	v.addName(loinc)
	v.addReasons(cmp.Or(q.orc.Get(16, 2), q.orc.Get(16)))
	v.addReasons(q.notes...)
}

// addReasons adds texts, each once.
func (v *testStatus) addReasons(texts ...string) {
	for _, text := range texts {
		if text != "" && !slices.Contains(v.reasons, text) && len(v.reasons) < maxReasons {
			v.reasons = append(v.reasons, text)
		}
	}
}

func (v *testStatus) reason() string { return strings.Join(v.reasons, "; ") }

// addName adds a name of a test, each once.
func (v *testStatus) addName(test string) {
	if test == "" || v.names[test] {
		return
	}
	if v.names == nil {
		v.names = map[string]bool{}
	}
	v.names[test] = true
	v.tests = append(v.tests, test)
}

// maxReasons bounds the sentences of a reason.
const maxReasons = 20

// statusOf returns the order status for an order control code (HL7 table 0119)
// and an order status (table 0038).
func statusOf(code, status, message string) string {
	answer := message == "ORL" || message == "ORR"
	switch code {
	case "OK", "AF", "NA":
		if answer {
			return orderwords.StatusRequisitionCreated
		}
	case "UA", "DE":
		if answer {
			return orderwords.StatusDoNotProcess
		}
	case "CR", "OC", "DC", "DR", "OD", "OE":
		return orderwords.StatusCancelled
	case "CA": // from a lab it is a cancellation; in an answer it repeats our request
		if !answer {
			return orderwords.StatusCancelled
		}
	case "SC", "SN": // the status changed
		if status == "CA" || status == "DC" {
			return orderwords.StatusCancelled
		}
	}
	return ""
}

// setStatus sets the status of the order on a report, and the refused tests. A
// report with values has no status. A rejected specimen comes before the
// status of the order. A lab that accepts some of the tests has accepted the
// order.
func (s *orderStatuses) setStatus(r *results, to *networks.Report) {
	to.Refused, to.Reason = s.refused.tests, s.refused.reason()
	rejected, detail := r.rejectedStatus()
	switch {
	case len(r.set.Results) > 0:
	case rejected.word != "":
		to.Status, to.Detail, to.Tests = rejected.word, detail, rejected.tests
		to.Reason = cmp.Or(to.Reason, rejected.reason())
		to.Refused = slices.DeleteFunc(to.Refused, func(test string) bool { return rejected.names[test] })
	case s.accepted.word != "":
		to.Status, to.Tests = s.accepted.word, s.accepted.tests
	case s.refused.word != "":
		to.Status, to.Tests, to.Refused = s.refused.word, s.refused.tests, nil
	case r.hasArrived():
		to.Status = orderwords.StatusDeliveredToLab
	}
}

// rejectedStatus returns the status of an order whose specimens the lab
// rejected, with their tests. The first reason with a detail counts.
func (r *results) rejectedStatus() (of testStatus, detail string) {
	for _, t := range r.tests {
		for _, code := range t.rejects {
			why, known := rejections[code]
			if !known {
				why = rejection{status: orderwords.StatusSampleError}
			}
			if of.word == "" || detail == "" && why.detail != "" {
				of.word, detail = why.status, why.detail
			}
		}
		if len(t.rejects) > 0 {
			of.addName(t.code)
			of.addName(t.loinc)
			of.addReasons(t.notes...)
		}
	}
	return of, detail
}

// hasArrived reports whether the lab has the specimen and no results yet
// (OBR-25 I).
func (r *results) hasArrived() bool {
	return slices.ContainsFunc(r.tests, func(t *test) bool { return t.status == "I" }) && !r.hasContent()
}
