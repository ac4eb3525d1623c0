package hl7v2

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
)

// answer is what a lab says to an order or a cancellation: a general ACK, or
// an ORL^O22 or ORR^O02 that repeats the order with what became of it.
type answer struct {
	m   *hl7.Message
	raw []byte
}

// refusals are the order controls of a test that the lab will not do.
var refusals = []string{"UA", "UN", "DE", "CR", "CA", "OC"}

// Codes of HL7 table 0357 that no repetition will change: the message or one
// of its values is not what the lab takes.
var final = []string{"100", "101", "102", "103", "104", "200", "201", "202", "203"}

// receipt reads the answer to an order.
func (a answer) receipt(order networks.Order) (networks.Receipt, error) {
	if a.has(hl7.DuplicateKey) { // the lab has it from an earlier try
		return networks.Receipt{SampleID: sampleNumber(order)}, nil
	}
	if err := a.transport(); err != nil {
		return networks.Receipt{}, err
	}
	receipt := networks.Receipt{SampleID: sampleNumber(order)}
	taken, refused := 0, 0
	for _, s := range a.m.Segments {
		if s.Name() != "ORC" {
			continue
		}
		if slices.Contains(refusals, strings.ToUpper(s.Get(1))) {
			refused++
			continue
		}
		taken++
		if notice := s.Get(20); notice == noticeNeeded || notice == noticeUnsigned {
			receipt.Notice = true
		}
		if filler := s.Get(3); filler != "" && order.SampleID == "" {
			receipt.SampleID = filler
		}
	}
	// A lab that takes some of the tests has taken the order.
	if refused > 0 && taken == 0 {
		return networks.Receipt{}, &networks.Refusal{Reason: a.reason()}
	}
	receipt.Answer = a.beside(order)
	return receipt, nil
}

// beside is the answer of a lab that refuses tests beside others: which, by the
// codes of OBR-4, and why. It is nil when the answer names none.
func (a answer) beside(order networks.Order) *networks.Message {
	var no verdict
	for _, q := range requests(a.m) {
		if slices.Contains(refusals, strings.ToUpper(q.orc.Get(1))) {
			no.hear(q)
		}
	}
	if len(no.tests) == 0 {
		return nil
	}
	return &networks.Message{Network: Slug, Key: "answer:" + order.ID.String(), Raw: a.raw, Reports: []networks.Report{{
		Placer: order.ID.String(), Lab: order.Lab, At: a.m.Header().Time.UTC(), Refused: no.tests, Reason: no.reason(),
	}}}
}

// cancelled reads the answer to a cancellation.
func (a answer) cancelled() error {
	if a.has(hl7.UnknownKey) { // nothing to take back
		return nil
	}
	if err := a.transport(); err != nil {
		return err
	}
	for _, s := range a.m.Segments {
		if s.Name() == "ORC" && slices.Contains([]string{"UC", "UX", "UM"}, strings.ToUpper(s.Get(1))) {
			return &networks.Refusal{Reason: a.reason()}
		}
	}
	return nil
}

// transport reads MSA-1. An error (AE, CE) is tried again, unless its code says
// that it would only repeat; a rejection (AR, CR) is final, unless its code
// says that the lab had trouble of its own.
func (a answer) transport() error {
	switch code := hl7.AckCode(strings.ToUpper(a.m.First("MSA").Get(1))); code {
	case hl7.Accepted, hl7.CommitAccepted:
		return nil
	case hl7.Errored, hl7.CommitErrored:
		if slices.ContainsFunc(final, a.has) {
			return &networks.Refusal{Reason: a.reason()}
		}
		return fmt.Errorf("hl7v2: the lab answered %s", code)
	case hl7.Rejected, hl7.CommitRejected:
		if a.has("206") || a.has(hl7.InternalError) {
			return fmt.Errorf("hl7v2: the lab answered %s for trouble of its own", code)
		}
		return &networks.Refusal{Reason: a.reason()}
	default:
		return fmt.Errorf("hl7v2: the lab's answer has no acknowledgement code")
	}
}

// has looks for an error code: ERR-3 since version 2.5, ERR-1.4 before, and
// MSA-6 before that.
func (a answer) has(code string) bool {
	if a.m.First("MSA").Get(6) == code {
		return true
	}
	for _, s := range a.m.Segments {
		if s.Name() == "ERR" && (s.Get(3) == code || s.Get(1, 4) == code) {
			return true
		}
	}
	return false
}

// reason is the lab's sentence, from wherever labs write one.
func (a answer) reason() string {
	var said []string
	add := func(text string) {
		if text != "" && !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	for _, s := range a.m.Segments {
		switch s.Name() {
		case "MSA":
			add(s.Text(3))
		case "ERR":
			add(cmp.Or(s.Text(8), s.Get(7), s.Get(3, 2), s.Get(1, 4, 2)))
		case "ORC":
			add(cmp.Or(s.Get(16, 2), s.Get(16)))
		case "NTE":
			add(s.Text(3))
		}
	}
	if said == nil {
		return "the lab gave no reason"
	}
	return strings.Join(said, "; ")
}
