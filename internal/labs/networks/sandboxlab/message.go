package sandboxlab

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hale/internal/labs/documents"
	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/platform/civil"
)

// The names in MSH-3: ours and the lab's. MSH-4 is the slug of the lab.
const (
	ourApplication = "HALE"
	labApplication = "SANDBOXLAB"
)

// clia is the number of an invented laboratory.
const clia = "99D9999999"

// otherPatient is the person of a misfiled report.
var otherPatient = networks.Patient{FirstName: "Mallory", LastName: "Elsewhere", DOB: civil.Date{Year: 1951, Month: 2, Day: 3}, Gender: "other"}

// newMessage begins a message: MSH and PID.
func (s stepContext) newMessage(number string, kind ...string) *hl7.Message {
	m := hl7.New(hl7.UTF8, hl7.Fields{
		3: hl7.Text(labApplication), 4: hl7.Text(s.whole.Lab), 5: hl7.Text(ourApplication), 6: hl7.Text(s.whole.Account.Number),
		7: timeText(s.Due), 9: hl7.Text(kind...), 10: hl7.Text(number), 11: hl7.Text("T"), 12: hl7.Text("2.5.1"),
	})
	p := s.reportedPatient()
	m.Add("PID", hl7.Fields{
		1: hl7.Text("1"), 3: hl7.Text(p.ID.String(), "", "", ourApplication, "PI"), 5: hl7.Text(p.LastName, p.FirstName, "", "", "", "", "L"),
		7: hl7.Text(strings.ReplaceAll(p.DOB.String(), "-", "")), 8: hl7.Text(sexes[p.Gender]),
	})
	return m
}

// sexes is HL7 table 0001.
var sexes = map[string]string{"female": "F", "male": "M", "other": "O", "unknown": "U"}

func (s stepContext) placer() hl7.Content { return hl7.Text(s.Order.String(), ourApplication) }
func (s stepContext) filler() hl7.Content { return hl7.Text(sampleNumber(&s.order), labApplication) }

// orc returns the ORC of the message, for the account that ordered.
func (s stepContext) orc(control string) hl7.Fields {
	a := s.whole.Account
	return hl7.Fields{1: hl7.Text(control), 2: s.placer(), 3: s.filler(), 21: hl7.Text(a.Name, "", "", "", "", "", "", "", "", a.Number)}
}

// acceptance answers an order: ORL^O22, with the lab's number.
func (s stepContext) acceptance(number string) *hl7.Message {
	m := s.newMessage(number, "ORL", "O22", "ORL_O22")
	for i, t := range s.whole.Tests {
		m.Add("ORC", s.orc("OK"))
		m.Add("OBR", s.obr(i, t, ""))
	}
	return m
}

// obr returns the OBR of test i of the order. With a status it also has the times of the
// specimen.
func (s stepContext) obr(i int, t networks.Test, status string) hl7.Fields {
	f := hl7.Fields{
		1: hl7.Text(strconv.Itoa(i + 1)), 2: s.placer(), 3: s.filler(), 4: hl7.Text(t.ProviderID, t.Name, "L"), 25: hl7.Text(status),
	}
	if status != "" {
		collected, received := s.specimenTimes()
		f[7], f[14], f[22] = timeText(collected), timeText(received), timeText(s.Due)
		if s.whole.Fasting {
			f[13] = hl7.Text("F", "Patient was fasting prior to the procedure.", "HL70916")
		}
	}
	return f
}

// timeText writes a time to the millisecond: a simulation takes no longer.
func timeText(t time.Time) hl7.Content { return hl7.Text(t.UTC().Format("20060102150405.000-0700")) }

// rejection reports that the sample cannot be used, or not yet: SPM-21.
func (s stepContext) rejection(number string) *hl7.Message {
	m := s.newMessage(number, "ORU", "R01", "ORU_R01")
	for i, t := range s.whole.Tests {
		m.Add("ORC", s.orc("RE"))
		m.Add("OBR", s.obr(i, t, "X"))
		s.specimen(m, t.Specimen, s.Step.Code)
	}
	return m
}

func (s stepContext) specimen(m *hl7.Message, needed networks.SpecimenNeeded, reject string) {
	collected, received := s.specimenTimes()
	m.Add("SPM", hl7.Fields{
		1: hl7.Text("1"), 2: s.filler(), 4: specimenType(needed), 17: timeText(collected), 18: timeText(received), 21: hl7.Text(reject),
	})
}

// specimenType returns SPM-4 with the codes of SNOMED CT and of HL7 table 0487.
func specimenType(needed networks.SpecimenNeeded) hl7.Content {
	if needed.SNOMED == "" {
		return hl7.Text("UNK", "Unknown", "NULLFL")
	}
	return hl7.Text(needed.SNOMED, needed.SNOMEDName, "SCT", needed.HL7, needed.HL7Name, "HL70487")
}

// report writes results: ORU^R01, with the lab's own PDF in the last OBR.
func (s stepContext) report(number string) (*hl7.Message, error) {
	out := s.Step.Outcome
	status := "F"
	switch {
	case out.Partial:
		status = "P"
	case out.Corrected:
		status = "C"
	}
	rows := s.resultRows()
	m := s.newMessage(number, "ORU", "R01", "ORU_R01")
	for i, t := range s.whole.Tests {
		n := 0
		for _, r := range rows {
			if r.test != i {
				continue
			}
			if n == 0 {
				m.Add("ORC", s.orc("RE"))
				m.Add("OBR", s.obr(i, t, status))
			}
			n++
			s.observation(m, n, r, status)
		}
		if n > 0 {
			s.specimen(m, t.Specimen, "")
		}
	}
	if out.Partial { // like some labs, this one prints only final results
		return m, nil
	}
	pdf, err := s.pdf(rows)
	if err != nil {
		return nil, err
	}
	m.Add("OBR", s.obr(len(s.whole.Tests), networks.Test{ProviderID: "PDF", Name: "Report"}, status))
	m.Add("OBX", hl7.Fields{
		1: hl7.Text("1"), 2: hl7.Text("ED"), 3: hl7.Text("PDF", "Report", "L"),
		5: hl7.Text(labApplication, "AP", "PDF", "Base64", base64.StdEncoding.EncodeToString(pdf)), 11: hl7.Text(status),
	})
	return m, nil
}

// observation adds the OBX number n of a result, and an NTE if the result has a note or
// is missing.
func (s stepContext) observation(m *hl7.Message, n int, r row, status string) {
	collected, _ := s.specimenTimes()
	lab := s.laboratory()
	f := hl7.Fields{
		1: hl7.Text(strconv.Itoa(n)), 3: hl7.Text(r.expected.ProviderID, r.expected.Name, "L"),
		6: hl7.Text(r.unit), 7: hl7.Text(r.bounds), 8: hl7.Text(r.flag), 11: hl7.Text(status), 14: timeText(collected), 19: timeText(s.Due),
		23: hl7.Text(lab.Name, "", "", "", "", "", "", "", "", lab.CLIA),
		24: hl7.Text(lab.Address.FirstLine, "", lab.Address.City, lab.Address.State, lab.Address.Zip, lab.Address.Country),
		25: hl7.Text("", "Noone "+sandboxMark, "Nina", "", "", "Dr."),
	}
	if r.expected.LOINC != "" {
		f[3] = hl7.Text(r.expected.ProviderID, r.expected.Name, "L", r.expected.LOINC, r.expected.Name, "LN")
	}
	switch {
	case r.missing:
		f[2], f[8], f[11] = hl7.Text("ST"), nil, hl7.Text("X")
		m.Add("OBX", f)
		m.Add("NTE", hl7.Fields{1: hl7.Text("1"), 2: hl7.Text("L"), 3: hl7.Text(notPerformed)})
		return
	case r.kind == "numeric":
		f[2], f[5] = hl7.Text("NM"), hl7.Text(r.value)
	case r.kind == "range":
		f[2], f[5] = hl7.Text("SN"), structuredNumber(r.value)
	case r.kind == "coded_value":
		f[2], f[5] = hl7.Text("CWE"), hl7.Text("", r.value)
	default:
		f[2], f[5] = hl7.Text("TX"), hl7.Text(r.value)
	}
	m.Add("OBX", f)
	if r.note != "" {
		m.Add("NTE", hl7.Fields{1: hl7.Text("1"), 2: hl7.Text("L"), 3: hl7.Text(r.note)})
	}
}

// structuredNumber writes <5, >5 or 5-10 as a structured number: comparator,
// number, separator, number.
func structuredNumber(value string) hl7.Content {
	if from, to, interval := strings.Cut(value, "-"); interval {
		return hl7.Text("", from, "-", to)
	}
	return hl7.Text(value[:1], value[1:])
}

// laboratory returns the lab that performs the tests of the order. Facts that its
// catalogue lacks are invented, and marked as such.
func (s stepContext) laboratory() networks.Laboratory {
	known, _ := s.catalogue.LabBySlug(s.whole.Lab)
	lab := networks.Laboratory{
		Name: cmp.Or(known.Name, "Sandbox Laboratory"), CLIA: known.CLIA, Phone: known.Phone, Director: "Dr. Nina Noone " + sandboxMark,
		Address: &networks.Address{FirstLine: known.Address, City: known.City, State: known.State, Zip: known.Zip, Country: "US"},
	}
	if !strings.Contains(strings.ToLower(lab.Name), "sandbox") {
		lab.Name += " " + sandboxMark
	}
	if lab.CLIA == "" {
		lab.CLIA = clia + " " + sandboxMark
	}
	if lab.Phone == "" {
		lab.Phone = "+15555550100"
	}
	if known.Address == "" || known.Zip == "" {
		lab.Address = &networks.Address{FirstLine: "1 Invented Parkway " + sandboxMark, City: "Phoenix", State: "AZ", Zip: "85004", Country: "US"}
	}
	return lab
}

// sandboxMark marks an invented fact.
const sandboxMark = "(sandbox)"

// pdf prints the lab's own report. The same results give the same bytes.
func (s stepContext) pdf(rows []row) ([]byte, error) {
	collected, received := s.specimenTimes()
	r := documents.LabReport{
		Laboratory: s.laboratory(), Patient: s.reportedPatient(), Number: sampleNumber(&s.order),
		Collected: collected, Received: received, Reported: s.Due, Corrected: s.Step.Outcome.Corrected,
	}
	for _, one := range rows {
		l := documents.LabReportLine{
			Test: s.whole.Tests[one.test].Name, Name: one.expected.Name, Value: one.value, Flag: one.flag, Unit: one.unit, Range: one.bounds, Note: one.note,
		}
		if one.missing {
			l.Value, l.Flag, l.Unit, l.Note = "not performed", "", "", notPerformed
		}
		r.Lines = append(r.Lines, l)
	}
	pdf, err := s.subject.LabReport(r)
	if err != nil {
		return nil, fmt.Errorf("printing the report: %w", err)
	}
	return pdf, nil
}

const notPerformed = "Test not performed: laboratory error"

// reportedPatient returns the person on the report.
func (s stepContext) reportedPatient() networks.Patient {
	if s.Step.Outcome.OtherPatient {
		return otherPatient
	}
	return s.whole.Patient
}
