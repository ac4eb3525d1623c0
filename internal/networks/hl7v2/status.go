package hl7v2

import (
	"slices"
	"strings"
)

// statuses gathers what a message says of an order itself, beside results.
type statuses struct {
	// word is the status that the order has by its tests.
	word string
	// said is what is said of each test, by its status.
	said map[string]*verdict
}

// verdict is a status with the tests that have it, and why, in the lab's words.
type verdict struct {
	tests, why []string
	named      map[string]bool
}

// add reads one test. In an answer to an order (ORL, ORR) ORC-1 is the answer;
// in an order message (ORM, OML) it is what the lab did by itself, and in a
// result message what it did beside the results. A lab that takes some of the
// tests has taken the order; otherwise the first test says what became of it.
func (s *statuses) add(message string, q *request) {
	word := control(strings.ToUpper(q.orc.Get(1)), strings.ToUpper(q.orc.Get(5)), message)
	if word == "" {
		return
	}
	if s.word == "" || word == received {
		s.word = word
	}
	if s.said[word] == nil {
		if s.said == nil {
			s.said = map[string]*verdict{}
		}
		s.said[word] = &verdict{named: map[string]bool{}}
	}
	of := s.said[word]
	if code, _, _ := coding(q.obr, 4); code != "" && !of.named[code] {
		of.named[code] = true
		of.tests = append(of.tests, code)
	}
	for _, text := range append([]string{or(q.orc.Get(16, 2), q.orc.Get(16))}, q.notes...) {
		if text != "" && !slices.Contains(of.why, text) && len(of.why) < mostWords {
			of.why = append(of.why, text)
		}
	}
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

// outcome is the status of the order. Where tests fare differently it speaks
// of those that it names. What the lab rejects a specimen for counts only when
// it has no value for the order; otherwise what is missing says it.
func (s *statuses) outcome(r *results) (status, detail, reason string, tests []string) {
	if len(r.set.Results) > 0 {
		return "", "", "", nil
	}
	for _, t := range r.tests {
		for _, code := range t.rejects {
			rejected, known := rejections[code]
			if !known {
				rejected = rejection{status: sampleError}
			}
			if status == "" || detail == "" && rejected.detail != "" {
				status, detail = rejected.status, rejected.detail
			}
		}
		if len(t.rejects) > 0 && t.code != "" {
			tests = append(tests, t.code)
		}
	}
	if status != "" {
		return status, detail, "", tests
	}
	if s.word != "" {
		return s.word, "", strings.Join(s.said[s.word].why, "; "), s.said[s.word].tests
	}
	if r.arrived() {
		return "delivered_to_lab", "", "", nil
	}
	return "", "", "", nil
}

// arrived reports whether the lab says that it has the specimen and no results
// yet (OBR-25 I).
func (r *results) arrived() bool {
	return slices.ContainsFunc(r.tests, func(t *test) bool { return t.status == "I" }) && !r.says()
}
