package testlab

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Person is a patient on an order or on a report.
type Person struct {
	Last, First string
	// Born is a day as YYYYMMDD, Sex a code of table 0001.
	Born, Sex string
}

// Order is an order at the laboratory.
type Order struct {
	// Placer is the sender's number, Number the laboratory's.
	Placer, Number string
	Person         Person
	// Account is the customer number of ORC-21.
	Account string
	// Processing is MSH-11: P for production, T for tests.
	Processing string
	Tests      []Test
	// Messages counts the messages of the order, Cancellations those that cancel
	// it.
	Messages, Cancellations int

	body string
}

// Test is an ordered test.
type Test struct {
	Code, Name string
	// Answers are the answers at order entry, by the code of the question.
	Answers map[string]string
	// Specimen is the number of SPM-2.
	Specimen string
}

// receivedMessage is an order message.
type receivedMessage struct {
	control, kind, processing string
	action                    string // ORC-1: NW or CA
	Order
}

// shape is the order of the segments of OML^O21 in the guide.
var shape = regexp.MustCompile(`^MSH PID( PV1)?( IN1( GT1)?)?( ORC( TQ1)? OBR( NTE)*( DG1)*( OBX)*( SPM)*)+$`)

// readOrder reads an order message, and complains about every breach of the
// guide.
func readOrder(message string) (r receivedMessage, complaints []string) {
	segments, err := parse(message)
	if err != nil {
		return r, []string{err.Error()}
	}
	complain := func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }
	names := make([]string, len(segments))
	for i, s := range segments {
		names[i] = s[0]
	}
	if !shape.MatchString(strings.Join(names, " ")) {
		complain("the segments are %s", strings.Join(names, " "))
	}
	r.body = message[strings.Index(message, "\r"):]
	for _, s := range segments {
		switch s[0] {
		case "MSH":
			r.control, r.processing = s.get(10, 1), s.get(11, 1)
			r.kind = s.raw(9)
			r.Processing = r.processing
			if r.kind != "OML^O21^OML_O21" || s.get(12, 1) != "2.5.1" {
				complain("the message is %s of version %s", r.kind, s.raw(12))
			}
			if r.control == "" || len(r.control) > 20 {
				complain("MSH-10 has %d characters", len(r.control))
			}
		case "PID":
			r.Person = Person{Last: s.get(5, 1), First: s.get(5, 2), Born: s.get(7, 1), Sex: s.get(8, 1)}
			if r.Person.Last == "" || r.Person.First == "" || !day.MatchString(r.Person.Born) || !strings.Contains("FMOU", r.Person.Sex) || s.get(3, 1) == "" {
				complain("PID lacks the identity of the patient")
			}
		case "ORC":
			if r.action == "" {
				r.action, r.Placer, r.Account = s.get(1, 1), s.get(2, 1), s.get(21, 10)
			}
			if s.get(1, 1) != r.action || s.get(2, 1) != r.Placer || r.Placer == "" {
				complain("ORC has the control %s and the number %s", s.raw(1), s.raw(2))
			}
			if s.get(9, 1) == "" || s.get(12, 2) == "" {
				complain("ORC lacks the time or the physician")
			}
		case "OBR":
			r.Tests = append(r.Tests, Test{Code: s.get(4, 1), Name: s.get(4, 2), Answers: map[string]string{}})
			if s.get(2, 1) != r.Placer || s.raw(1) != fmt.Sprint(len(r.Tests)) {
				complain("OBR has the set id %s and the number %s", s.raw(1), s.raw(2))
			}
		case "OBX":
			if s.raw(11) != "O" || s.raw(2) == "" {
				complain("an answer has the status %s and the type %s", s.raw(11), s.raw(2))
			}
			r.Tests[len(r.Tests)-1].Answers[s.get(3, 1)] = s.get(5, 1)
		case "SPM":
			if s.get(2, 1) == "" || s.get(4, 1) == "" {
				complain("SPM lacks its number or type")
			}
			r.Tests[len(r.Tests)-1].Specimen = s.get(2, 1)
		}
	}
	if !slices.Contains([]string{"NW", "CA"}, r.action) {
		complain("ORC-1 is %s", r.action)
	}
	return r, complaints
}

var day = regexp.MustCompile(`^\d{8}$`)
