package testlab

import (
	"fmt"
	"time"
)

// Report is a report of the laboratory about one order.
type Report struct {
	// Control is MSH-10; empty means a new number.
	Control string
	// Processing is MSH-11; empty means P.
	Processing string
	// Placer is the sender's number, Number the laboratory's. Both may be empty
	// or wrong.
	Placer, Number string
	Person         Person
	// Account is the customer number.
	Account string
	// Rejected is a reason to reject the specimen: a code of table 0490.
	Rejected string
	Results  []Result
	At       time.Time
}

// Result is the status of a test and its values.
type Result struct {
	Test string
	// Status is P, F or C for the test and all its values.
	Status string
	// Values are in the order of the observations of the test.
	Values []Value
	// Parent is the sender's number in OBR-29, for a reflex test.
	Parent string
}

// Value is a measured value.
type Value struct{ Text, Flag string }

// ReportOn returns a report on an order as the laboratory has it. Each report is
// a second later than the one before.
func (l *Lab) ReportOn(placer string, results ...Result) Report {
	o := l.Orders()[placer]
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reports++
	return Report{
		Placer: placer, Number: o.Number, Person: o.Person, Account: o.Account, Processing: o.Processing, Results: results,
		At: time.Now().Add(time.Duration(l.reports)*time.Second - time.Hour),
	}
}

// Message writes a report as ORU^R01.
func (l *Lab) Message(r Report) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	processing := r.Processing
	if processing == "" {
		processing = "P"
	}
	message := l.header("ORU^R01^ORU_R01", processing)
	if r.Control != "" {
		message = l.headerAs("ORU^R01^ORU_R01", processing, r.Control)
	}
	message += line("PID", map[int]string{1: "1", 3: text("P-77", "", "", l.Application, "PI"), 5: text(r.Person.Last, r.Person.First), 7: r.Person.Born, 8: r.Person.Sex})
	for i, result := range r.Results {
		name := result.Test
		placer := r.Placer
		parent := ""
		if result.Parent != "" {
			placer, parent = "", text(result.Parent)
		}
		message += line("ORC", map[int]string{1: "RE", 2: text(placer), 3: text(r.Number), 21: text("Clinic", "", "", "", "", "", "", "", "", r.Account)})
		message += line("OBR", map[int]string{
			1: fmt.Sprint(i + 1), 2: text(placer), 3: text(r.Number), 4: text(result.Test, name, "L"), 7: stamp(r.At.Add(-2 * time.Hour)),
			22: stamp(r.At), 25: result.Status, 29: parent,
		})
		for n, value := range result.Values {
			o := l.Tests[result.Test][n]
			kind := "NM"
			if o.Unit == "" {
				kind = "ST"
			}
			message += line("OBX", map[int]string{
				1: fmt.Sprint(n + 1), 2: kind, 3: text(o.Code, o.Name, "L", o.LOINC, o.Name, "LN"), 5: text(value.Text), 6: text(o.Unit),
				7: text(o.Range), 8: value.Flag, 11: result.Status, 23: text("Independent Test Laboratory", "", "", "", "", "", "", "", "", "05D1234567"),
			})
		}
		if r.Rejected != "" {
			message += line("SPM", map[int]string{1: "1", 2: text("S-" + r.Number), 4: text("BLD", "Blood", "HL70487"), 20: "", 21: text(r.Rejected)})
		}
	}
	return message
}
