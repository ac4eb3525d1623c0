package sandboxlab

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/platform/civil"
)

// The names in MSH-3: ours and the lab's. MSH-4 is the slug of the lab.
const (
	us          = "HALE"
	application = "SANDBOXLAB"
)

// clia is the number of a laboratory that does not exist.
const clia = "99D9999999"

// stranger is the person of a report that got among the wrong papers.
var stranger = networks.Patient{FirstName: "Mallory", LastName: "Elsewhere", DOB: civil.Date{Year: 1951, Month: 2, Day: 3}, Gender: "other"}

// begin is the head of a message: MSH and PID.
func (s scene) begin(number string, kind ...string) *hl7.Message {
	m := hl7.New(hl7.UTF8, hl7.Fields{
		3: hl7.Of(application), 4: hl7.Of(s.whole.Lab), 5: hl7.Of(us), 6: hl7.Of(s.whole.Account.Number),
		7: hl7.Of(hl7.FormatTime(s.Due)), 9: hl7.Of(kind...), 10: hl7.Of(number), 11: hl7.Of("T"), 12: hl7.Of("2.5.1"),
	})
	p := s.whole.Patient
	if s.Step.Outcome.Stranger {
		p = stranger
	}
	m.Add("PID", hl7.Fields{
		1: hl7.Of("1"), 3: hl7.Of(p.ID.String(), "", "", us, "PI"), 5: hl7.Of(p.LastName, p.FirstName, "", "", "", "", "L"),
		7: hl7.Of(strings.ReplaceAll(p.DOB.String(), "-", "")), 8: hl7.Of(sexes[p.Gender]),
	})
	return m
}

// sexes is HL7 table 0001.
var sexes = map[string]string{"female": "F", "male": "M", "other": "O", "unknown": "U"}

func (s scene) placer() hl7.Content { return hl7.Of(s.Order.String(), us) }
func (s scene) filler() hl7.Content { return hl7.Of(sampleNumber(&s.order), application) }

// orc is what the message does with the order, for the account that ordered.
func (s scene) orc(control string) hl7.Fields {
	a := s.whole.Account
	return hl7.Fields{1: hl7.Of(control), 2: s.placer(), 3: s.filler(), 21: hl7.Of(a.Name, "", "", "", "", "", "", "", "", a.Number)}
}

// acceptance answers an order: ORL^O22, the lab has it and gave it a number.
func (s scene) acceptance(number string) *hl7.Message {
	m := s.begin(number, "ORL", "O22", "ORL_O22")
	for i, t := range s.whole.Tests {
		m.Add("ORC", s.orc("OK"))
		m.Add("OBR", s.obr(i, t, ""))
	}
	return m
}

// obr is one test of the order.
func (s scene) obr(i int, t networks.Test, status string) hl7.Fields {
	f := hl7.Fields{
		1: hl7.Of(strconv.Itoa(i + 1)), 2: s.placer(), 3: s.filler(), 4: hl7.Of(t.ProviderID, t.Name, "L"), 25: hl7.Of(status),
	}
	if status != "" {
		f[7], f[14], f[22] = s.time(-day), s.time(-6*time.Hour), s.time(0)
		if s.whole.Fasting {
			f[13] = hl7.Of("F Patient was fasting prior to the procedure.")
		}
	}
	return f
}

func (s scene) time(offset time.Duration) hl7.Content {
	return hl7.Of(hl7.FormatTime(s.Due.Add(offset)))
}

// rejection says that the sample is of no use, or not yet: SPM-21.
func (s scene) rejection(number string) *hl7.Message {
	m := s.begin(number, "ORU", "R01", "ORU_R01")
	for i, t := range s.whole.Tests {
		m.Add("ORC", s.orc("RE"))
		m.Add("OBR", s.obr(i, t, "X"))
		s.specimen(m, s.Step.Code)
	}
	return m
}

func (s scene) specimen(m *hl7.Message, reject string) {
	m.Add("SPM", hl7.Fields{
		1: hl7.Of("1"), 2: s.filler(), 4: hl7.Of("UNK", "Unknown", "NULLFL"), 17: s.time(-day), 18: s.time(-6 * time.Hour), 21: hl7.Of(reject),
	})
}

// report writes results: ORU^R01, with the lab's own PDF in the last OBR.
func (s scene) report(number string) (*hl7.Message, error) {
	out := s.Step.Outcome
	status := "F"
	switch {
	case out.Partial:
		status = "P"
	case out.Corrected:
		status = "C"
	}
	rows := s.rows()
	m := s.begin(number, "ORU", "R01", "ORU_R01")
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
			s.specimen(m, "")
		}
	}
	if out.Partial { // like some labs, this one prints only what is final
		return m, nil
	}
	pdf, err := s.pdf(rows)
	if err != nil {
		return nil, err
	}
	m.Add("OBR", s.obr(len(s.whole.Tests), networks.Test{ProviderID: "PDF", Name: "Report"}, status))
	m.Add("OBX", hl7.Fields{
		1: hl7.Of("1"), 2: hl7.Of("ED"), 3: hl7.Of("PDF", "Report", "L"),
		5: hl7.Of(application, "AP", "PDF", "Base64", base64.StdEncoding.EncodeToString(pdf)), 11: hl7.Of(status),
	})
	return m, nil
}

// observation is an OBX.
func (s scene) observation(m *hl7.Message, n int, r row, status string) {
	f := hl7.Fields{
		1: hl7.Of(strconv.Itoa(n)), 3: hl7.Of(r.expected.ProviderID, r.expected.Name, "L"),
		6: hl7.Of(r.unit), 7: hl7.Of(r.bounds), 8: hl7.Of(r.flag), 11: hl7.Of(status), 14: s.time(-day), 19: s.time(0),
		23: hl7.Of("Sandbox Laboratory", "", "", "", "", "", "", "", "", clia),
		24: hl7.Of("1 Invented Parkway", "", "Phoenix", "AZ", "85004", "US"), 25: hl7.Of("", "Noone", "Nina", "", "", "Dr."),
	}
	if r.expected.LOINC != "" {
		f[3] = hl7.Of(r.expected.ProviderID, r.expected.Name, "L", r.expected.LOINC, r.expected.Name, "LN")
	}
	switch {
	case r.missing:
		f[2], f[8], f[11] = hl7.Of("ST"), nil, hl7.Of("X")
		m.Add("OBX", f)
		m.Add("NTE", hl7.Fields{1: hl7.Of("1"), 2: hl7.Of("L"), 3: hl7.Of("Test not performed: laboratory error")})
		return
	case r.kind == "numeric":
		f[2], f[5] = hl7.Of("NM"), hl7.Of(r.value)
	case r.kind == "range":
		f[2], f[5] = hl7.Of("SN"), hl7.Of(r.value[:1], r.value[1:])
	case r.kind == "coded_value":
		f[2], f[5] = hl7.Of("CWE"), hl7.Of("", r.value)
	default:
		f[2], f[5] = hl7.Of("TX"), hl7.Of(r.value)
	}
	m.Add("OBX", f)
}
