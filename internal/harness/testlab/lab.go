package testlab

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"
)

// Lab is the laboratory.
type Lab struct {
	// Application and Facility are its names: MSH-3 and MSH-4.
	Application, Facility string
	// Customer is the name of the sender of orders: MSH-5 of results.
	Customer string
	// Questions are the codes of the questions that a test needs answers to.
	Questions map[string][]string
	// Tests has the tests that the laboratory offers, with the codes and units of
	// their results.
	Tests map[string][]Observation

	mu         sync.Mutex
	orders     map[string]*Order
	arrival    []string
	controls   map[string]string // the messages by MSH-10
	complaints []string
	sent       int
	reports    int
}

// Observation is a result that a test has.
type Observation struct{ Code, Name, LOINC, Unit, Range string }

// Orders returns the orders of the laboratory, by the sender's number.
func (l *Lab) Orders() map[string]Order {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]Order{}
	for placer, o := range l.orders {
		all[placer] = *o
	}
	return all
}

// Arrivals returns the sender's numbers of the orders and cancellations, in the
// order of their arrival.
func (l *Lab) Arrivals() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.arrival...)
}

// Complaints returns the breaches of the guide.
func (l *Lab) Complaints() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.complaints...)
}

// take stores an order and returns the answer: ORL^O22 with an ORC and an OBR for
// each test.
func (l *Lab) take(message string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, complaints := readOrder(message)
	if before, again := l.controls[r.control]; again && before != message {
		complaints = append(complaints, "MSH-10 names two messages")
	}
	l.complaints = append(l.complaints, complaints...)
	if len(complaints) > 0 {
		return l.header("ORL^O22^ORL_O22", r.processing) +
			line("MSA", map[int]string{1: "AR", 2: text(r.control)}) +
			line("ERR", map[int]string{3: "100", 4: "E", 8: text(strings.Join(complaints, "; "))})
	}
	if l.orders == nil {
		l.orders, l.controls = map[string]*Order{}, map[string]string{}
	}
	l.controls[r.control] = message
	o, known := l.orders[r.Placer]
	switch {
	case r.action == "NW" && !known:
		r.Number = fmt.Sprintf("L%06d", len(l.orders)+1)
		o = &r.Order
		l.orders[r.Placer] = o
		l.arrival = append(l.arrival, r.Placer)
	case !known:
		return l.header("ORL^O22^ORL_O22", r.processing) + line("MSA", map[int]string{1: "AE", 2: text(r.control)}) +
			line("ERR", map[int]string{3: "204", 4: "E"})
	case r.action == "CA" && o.Cancellations == 0:
		l.arrival = append(l.arrival, "cancelled "+r.Placer)
	}
	if r.action == "NW" {
		o.Messages++
	} else {
		o.Cancellations++
	}
	return l.answer(r, o.Number)
}

func (l *Lab) answer(r receivedMessage, number string) string {
	answer := l.header("ORL^O22^ORL_O22", r.processing) + line("MSA", map[int]string{1: "AA", 2: text(r.control)})
	for i, test := range r.Tests {
		status, reason := "OK", l.refusal(test)
		switch {
		case r.action == "CA":
			status, reason = "CR", ""
		case reason != "":
			status = "UA"
		}
		answer += line("ORC", map[int]string{1: status, 2: text(r.Placer), 3: text(number), 16: text("", reason)}) +
			line("OBR", map[int]string{1: fmt.Sprint(i + 1), 2: text(r.Placer), 3: text(number), 4: text(test.Code, test.Name)})
	}
	return answer
}

// refusal says why a test is refused; empty if it is not.
func (l *Lab) refusal(test Test) string {
	if _, offered := l.Tests[test.Code]; !offered {
		return "not offered"
	}
	for _, question := range l.Questions[test.Code] {
		if test.Answers[question] == "" {
			return "the answer to " + question + " is missing"
		}
	}
	return ""
}

// header writes MSH of a message of the laboratory.
func (l *Lab) header(kind, processing string) string {
	l.sent++
	return l.headerAs(kind, processing, fmt.Sprintf("T%d-%d", time.Now().UnixNano(), l.sent))
}

func (l *Lab) headerAs(kind, processing, control string) string {
	fields := map[int]string{
		1: `^~\&`, 2: text(l.Application), 3: text(l.Facility), 4: text(l.Customer), 6: stamp(time.Now()),
		8: kind, 9: text(control), 10: processing, 11: "2.5.1",
	}
	return line("MSH", maps.Clone(fields))
}

// stamp writes a time with its offset.
func stamp(at time.Time) string { return at.UTC().Format("20060102150405") + "+0000" }
