package hl7v2

import (
	"slices"
	"strings"
)

// statuses gathers what a message says of an order itself, beside results.
type statuses struct {
	// word is the first status that a test of it has.
	word  string
	tests []string
	named map[string]bool
}

// add reads one test. In an answer to an order (ORL, ORR) ORC-1 is the answer;
// in an order message (ORM, OML) it is what the lab did by itself, and in a
// result message what it did beside the results.
func (s *statuses) add(message string, q *request) {
	word := control(strings.ToUpper(q.orc.Get(1)), strings.ToUpper(q.orc.Get(5)), message)
	s.word = or(s.word, word)
	if code, _, _ := coding(q.obr, 4); code != "" && word != "" && !s.named[code] {
		if s.named == nil {
			s.named = map[string]bool{}
		}
		s.named[code] = true
		s.tests = append(s.tests, code)
	}
}

// control is the order status of an order control code (HL7 table 0119) and an
// order status (table 0038).
func control(code, status, message string) string {
	answer := message == "ORL" || message == "ORR"
	switch code {
	case "OK", "AF", "NA":
		if answer {
			return "requisition_created"
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
func (s *statuses) outcome(r *results) (status, detail string, tests []string) {
	if len(r.set.Results) > 0 {
		return "", "", nil
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
		return status, detail, tests
	}
	if s.word != "" {
		return s.word, "", s.tests
	}
	if r.arrived() {
		return "delivered_to_lab", "", nil
	}
	return "", "", nil
}

// arrived reports whether the lab says that it has the specimen and no results
// yet (OBR-25 I).
func (r *results) arrived() bool {
	return slices.ContainsFunc(r.tests, func(t *test) bool { return t.status == "I" }) && !r.says()
}
