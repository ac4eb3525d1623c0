package hl7v2

import (
	"cmp"
	"strings"
	"time"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
)

// orderMessage is a new order: OML^O21 in the shape of the laboratory orders
// guide (LOI, version 2.5.1), or the older ORM^O01. Both carry the same
// segments; only OML has a place for the specimen.
func orderMessage(lab Lab, order networks.Order, control string) *hl7.Message {
	m := begin(lab, order, control, order.PlacedAt)
	addPatient(m, lab, order)
	m.Add("PV1", hl7.Fields{1: hl7.Of("1"), 2: hl7.Of("O")}) // an outpatient
	addInsurance(m, lab, order)
	for i, test := range order.Tests {
		addTest(m, lab, order, "NW", order.PlacedAt, i, test)
		if i == 0 {
			for n, line := range noteLines(order.Notes) {
				m.Add("NTE", hl7.Fields{1: hl7.Of(itoa(n + 1)), 2: hl7.Of("P"), 3: hl7.Of(line)})
			}
		}
		for n, code := range order.ICDCodes {
			m.Add("DG1", hl7.Fields{1: hl7.Of(itoa(n + 1)), 3: hl7.Of(code, "", "I10C"), 6: hl7.Of("W")}) // W: a working diagnosis
		}
		addAnswers(m, lab, order, test)
		if lab.order() == "OML" {
			m.Add("SPM", hl7.Fields{1: hl7.Of("1"), 2: hl7.Of(sampleNumber(order)), 4: hl7.Of("UNK", "Unknown", "NULLFL")})
		}
	}
	return m
}

// cancelMessage takes an order back: its tests with the order control CA.
func cancelMessage(lab Lab, order networks.Order, control string, now time.Time) *hl7.Message {
	m := begin(lab, order, control, now)
	addPatient(m, lab, order)
	for i, test := range order.Tests {
		addTest(m, lab, order, "CA", now, i, test)
	}
	return m
}

func begin(lab Lab, order networks.Order, control string, at time.Time) *hl7.Message {
	kind := hl7.Of("OML", "O21", "OML_O21")
	if lab.order() == "ORM" {
		kind = hl7.Of("ORM", "O01")
		if lab.version() >= "2.3.1" {
			kind = hl7.Of("ORM", "O01", "ORM_O01")
		}
	}
	processing := "P"
	if lab.Sandbox {
		processing = "T"
	}
	return hl7.New(lab.charset(), hl7.Fields{
		3: hl7.Of(lab.Application), 4: hl7.Of(cmp.Or(lab.Facility, order.Account.Number)),
		5: hl7.Of(lab.LabApplication), 6: hl7.Of(lab.LabFacility),
		7: hl7.Of(stamp(lab, at)), 9: kind, 10: hl7.Of(control), 11: hl7.Of(processing), 12: hl7.Of(lab.version()),
	})
}

// addTest adds ORC and OBR. All tests of an order share its placer number, so
// that whatever comes back names the order.
func addTest(m *hl7.Message, lab Lab, order networks.Order, control string, at time.Time, i int, test networks.Test) {
	placer := hl7.Of(order.ID.String(), lab.Application)
	doctor := provider(order.Physician)
	orc := hl7.Fields{
		1: hl7.Of(control), 2: placer, 4: hl7.Of(order.ID.String(), lab.Application),
		9: hl7.Of(stamp(lab, at)), 12: doctor, 21: facility(order.Account),
	}
	if order.Notice && lab.version() >= "2.3.1" { // ORC-20 is younger than 2.3
		orc[20] = hl7.Of(noticeNeeded, "Service is subject to medical necessity procedures", "HL70339")
	}
	m.Add("ORC", orc)
	priority := ""
	if order.Priority {
		priority = "S"
	}
	if order.Priority && lab.order() == "OML" {
		m.Add("TQ1", hl7.Fields{1: hl7.Of("1"), 9: hl7.Of("S", "Stat", "HL70485")})
	}
	fasting := ""
	if order.Fasting {
		fasting = "F Patient was fasting prior to the procedure."
	}
	obr := hl7.Fields{
		1: hl7.Of(itoa(i + 1)), 2: placer, 4: hl7.Of(test.ProviderID, test.Name, lab.codeSystem()),
		13: hl7.Of(fasting), 16: doctor,
	}
	if lab.order() == "ORM" { // without SPM and TQ1, the older fields say it
		obr[5], obr[18], obr[27] = hl7.Of(priority), hl7.Of(sampleNumber(order)), hl7.Of("", "", "", "", "", priority)
	}
	m.Add("OBR", obr)
}

// What ORC-20 says of a notice that an insurance may not pay, of HL7 table
// 0339: the service is subject to medical necessity procedures; the notice has
// not been signed.
const (
	noticeNeeded   = "1"
	noticeUnsigned = "4"
)

// addAnswers adds the answers at order entry that belong to a test.
func addAnswers(m *hl7.Message, lab Lab, order networks.Order, test networks.Test) {
	n := 0
	for _, a := range order.Answers {
		if a.MarkerID != test.MarkerID {
			continue
		}
		n++
		fields := hl7.Fields{
			1: hl7.Of(itoa(n)), 2: hl7.Of("ST"), 3: hl7.Of(a.QuestionCode, a.Question, lab.codeSystem()),
			5: hl7.Of(a.Answer), 11: hl7.Of("O"), // O: detail of an order
		}
		if lab.version() >= "2.5" {
			fields[29] = hl7.Of("QST")
		}
		m.Add("OBX", fields)
	}
}

// facility is who orders: the customer account, which the lab answers to.
func facility(a networks.Account) hl7.Content {
	return hl7.Of(a.Name, "", "", "", "", "", "", "", "", a.Number)
}

func provider(p networks.Physician) hl7.Content {
	if p.NPI == "" {
		return hl7.Of("", p.LastName, p.FirstName)
	}
	return hl7.Of(p.NPI, p.LastName, p.FirstName, "", "", "", "", "", "NPI", "L", "", "", "NPI")
}

// noteLines are the clinical notes, a segment a line.
func noteLines(notes string) []string {
	var lines []string
	for line := range strings.Lines(notes) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
