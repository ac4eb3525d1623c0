package hl7v2

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
)

// orderMessage builds a new order: OML^O21 in the form of the laboratory
// orders guide (LOI, version 2.5.1), or the older ORM^O01. Both have the same
// segments; only OML has a specimen.
func orderMessage(lab Lab, order networks.Order, control string) *hl7.Message {
	m := newMessage(lab, order, control, order.PlacedAt)
	addPatient(m, lab, order)
	m.Add("PV1", hl7.Fields{1: hl7.Text("1"), 2: hl7.Text("O")}) // an outpatient
	addInsurance(m, lab, order)
	for i, test := range order.Tests {
		addTest(m, lab, order, "NW", order.PlacedAt, i, test)
		if i == 0 {
			for n, line := range noteLines(order.Notes) {
				m.Add("NTE", hl7.Fields{1: hl7.Text(itoa(n + 1)), 2: hl7.Text("P"), 3: hl7.Text(line)})
			}
		}
		for n, code := range order.ICDCodes {
			m.Add("DG1", hl7.Fields{1: hl7.Text(itoa(n + 1)), 3: hl7.Text(code, "", "I10C"), 6: hl7.Text("W")}) // W: a working diagnosis
		}
		addAnswers(m, lab, order, test)
		if lab.order() == "OML" {
			m.Add("SPM", hl7.Fields{1: hl7.Text("1"), 2: hl7.Text(sampleNumber(order)), 4: specimenField(test.Specimen)})
		}
	}
	return m
}

// cancelMessage cancels an order: its tests with the order control CA.
func cancelMessage(lab Lab, order networks.Order, control string, now time.Time) *hl7.Message {
	m := newMessage(lab, order, control, now)
	addPatient(m, lab, order)
	for i, test := range order.Tests {
		addTest(m, lab, order, "CA", now, i, test)
	}
	return m
}

func newMessage(lab Lab, order networks.Order, control string, at time.Time) *hl7.Message {
	kind := hl7.Text("OML", "O21", "OML_O21")
	if lab.order() == "ORM" {
		kind = hl7.Text("ORM", "O01")
		if lab.version() >= "2.3.1" {
			kind = hl7.Text("ORM", "O01", "ORM_O01")
		}
	}
	processing := "P"
	if lab.Sandbox {
		processing = "T"
	}
	return hl7.New(lab.charset(), hl7.Fields{
		3: hl7.Text(lab.Application), 4: hl7.Text(cmp.Or(lab.Facility, order.Account.Number)),
		5: hl7.Text(lab.LabApplication), 6: hl7.Text(lab.LabFacility),
		7: hl7.Text(formatStamp(lab, at)), 9: kind, 10: hl7.Text(control), 11: hl7.Text(processing), 12: hl7.Text(lab.version()),
	})
}

// addTest adds ORC and OBR. All tests of an order share its placer number, so
// every answer names the order.
func addTest(m *hl7.Message, lab Lab, order networks.Order, control string, at time.Time, i int, test networks.Test) {
	placer := hl7.Text(order.ID.String(), lab.Application)
	doctor := physicianField(order.Physician)
	orc := hl7.Fields{
		1: hl7.Text(control), 2: placer, 4: hl7.Text(order.ID.String(), lab.Application),
		9: hl7.Text(formatStamp(lab, at)), 12: doctor, 21: accountField(order.Account),
	}
	if order.Notice && lab.version() >= "2.3.1" { // version 2.3 has no ORC-20
		orc[20] = hl7.Text(noticeNeeded, "Service is subject to medical necessity procedures", "HL70339")
	}
	callback := workPhoneField(lab, order.Practice.Callback())
	orc[14] = callback
	if lab.version() >= "2.3.1" { // earlier versions end with ORC-19
		orc[22], orc[23], orc[24] = addressField(order.Practice.Address, "B"), workPhoneField(lab, order.Practice.Phone), addressField(order.Practice.Address, "B")
	}
	m.Add("ORC", orc)
	priority := ""
	if order.Priority {
		priority = "S"
	}
	if order.Priority && lab.order() == "OML" {
		m.Add("TQ1", hl7.Fields{1: hl7.Text("1"), 9: hl7.Text("S", "Stat", "HL70485")})
	}
	fasting := ""
	if order.Fasting {
		fasting = "F Patient was fasting prior to the procedure."
	}
	obr := hl7.Fields{
		1: hl7.Text(itoa(i + 1)), 2: placer, 4: hl7.Text(test.ProviderID, test.Name, lab.codeSystem()),
		13: hl7.Text(fasting), 16: doctor, 17: callback,
	}
	if lab.order() == "ORM" { // the older fields replace SPM and TQ1
		obr[15] = specimenSource(test.Specimen)
		obr[5], obr[18], obr[27] = hl7.Text(priority), hl7.Text(sampleNumber(order)), hl7.Text("", "", "", "", "", priority)
	}
	m.Add("OBR", obr)
}

// Values of ORC-20 about the notice that an insurance may not pay, from HL7
// table 0339. 1 means that the service is subject to medical necessity
// procedures. 4 means that the notice has not been signed.
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
			1: hl7.Text(itoa(n)), 2: hl7.Text("ST"), 3: hl7.Text(a.QuestionCode, a.Question, lab.codeSystem()),
			5: hl7.Text(a.Answer), 11: hl7.Text("O"), // O: detail of an order
		}
		if lab.version() >= "2.5" {
			fields[29] = hl7.Text("QST")
		}
		m.Add("OBX", fields)
	}
}

// accountField returns the customer account, to which the lab answers.
func accountField(a networks.Account) hl7.Content {
	return hl7.Text(a.Name, "", "", "", "", "", "", "", "", a.Number)
}

func physicianField(p networks.Physician) hl7.Content {
	if p.NPI == "" {
		return hl7.Text("", p.LastName, p.FirstName)
	}
	return hl7.Text(p.NPI, p.LastName, p.FirstName, "", "", "", "", "", "NPI", "L", "", "", "NPI")
}

// noteLines returns the clinical notes, one segment for each line.
func noteLines(notes string) []string {
	var lines []string
	for line := range strings.Lines(notes) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func itoa(n int) string { return strconv.Itoa(n) }

// addPatient adds PID.
func addPatient(m *hl7.Message, lab Lab, order networks.Order) {
	p := order.Patient
	m.Add("PID", hl7.Fields{
		1: hl7.Text("1"), 3: hl7.Text(p.ID.String(), "", "", lab.Application, "PI"),
		5: nameField(p), 7: hl7.Text(formatDate(p.DOB)), 8: hl7.Text(sexCode(p.Gender)), 10: categoryField(person.Races, p.Race, "HL70005"),
		11: addressField(p.Address, "H"), 13: contactField(lab, p), 22: categoryField(person.Ethnicities, p.Ethnicity, "HL70189"),
	})
}

func nameField(p networks.Patient) hl7.Content {
	return hl7.Text(p.LastName, p.FirstName, "", "", "", "", "L")
}

func formatDate(d civil.Date) string {
	if d.IsZero() {
		return ""
	}
	return strings.ReplaceAll(d.String(), "-", "")
}

// sexCode returns a code of HL7 table 0001.
func sexCode(gender string) string {
	switch strings.ToLower(gender) {
	case "female":
		return "F"
	case "male":
		return "M"
	case "other":
		return "O"
	}
	return "U"
}

// parseSex reads HL7 table 0001.
func parseSex(sex string) string {
	switch strings.ToUpper(sex) {
	case "":
		return ""
	case "F", "FEMALE", "WOMAN":
		return "female"
	case "M", "MALE", "MAN":
		return "male"
	case "O", "A": // A: ambiguous
		return "other"
	}
	return "unknown"
}

// code is a code with its official text.
type code struct{ id, words string }

// categoryField returns the HL7 code of a race or an ethnicity.
func categoryField(table []person.Category, word, system string) hl7.Content {
	c, _ := person.FindCategory(table, word)
	return codeField(code{c.HL7.ID, c.HL7.Text}, system)
}

func codeField(c code, system string) hl7.Content {
	if c.id == "" {
		return nil
	}
	return hl7.Text(c.id, c.words, system)
}

// addressField returns an address of a kind: H home, B business.
func addressField(a networks.Address, kind string) hl7.Content {
	if a.FirstLine == "" && a.City == "" && a.Zip == "" {
		return nil
	}
	return hl7.Text(a.FirstLine, a.SecondLine, a.City, a.State, a.Zip, cmp.Or(a.Country, "US"), kind)
}

// contactField returns the phone number and the e-mail address.
func contactField(lab Lab, p networks.Patient) hl7.Content {
	content := phoneField(lab, p.Phone)
	if p.Email != "" {
		content = content.Repeat("", "NET", "Internet", p.Email)
	}
	return content
}

// phoneField splits an American number into area and local number, as XTN has
// it since version 2.3. Any other number goes into the component for free
// text.
func phoneField(lab Lab, number string) hl7.Content { return phoneFieldOf(lab, number, "PRN") }

// phoneFieldOf formats a number like phoneField. use is a code of HL7 table 0201.
func phoneFieldOf(lab Lab, number, use string) hl7.Content {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
	digits = strings.TrimPrefix(digits, "1")
	switch {
	case number == "":
		return nil
	case len(digits) != 10 && lab.version() >= "2.5":
		return hl7.Text("", use, "PH", "", "", "", "", "", "", "", "", number)
	case len(digits) != 10:
		return hl7.Text(number)
	case lab.version() < "2.3":
		return hl7.Text("(" + digits[:3] + ")" + digits[3:6] + "-" + digits[6:])
	}
	return hl7.Text("", use, "PH", "", "1", digits[:3], digits[3:])
}

// workPhoneField returns the telephone number of a practice.
func workPhoneField(lab Lab, number string) hl7.Content {
	return phoneFieldOf(lab, number, "WPN")
}

// specimenField returns SPM-4: the SNOMED code and, if there is one, the code of
// HL7 table 0487.
func specimenField(s networks.SpecimenNeeded) hl7.Content {
	switch {
	case s.SNOMED == "":
		return hl7.Text("UNK", "Unknown", "NULLFL")
	case s.HL7 == "":
		return hl7.Text(s.SNOMED, s.SNOMEDName, "SCT")
	}
	return hl7.Text(s.SNOMED, s.SNOMEDName, "SCT", s.HL7, s.HL7Name, "HL70487")
}

// specimenSource returns OBR-15 of an ORM. It has the code of HL7 table 0070 and
// the material in words. For our materials the code is the same as in table
// 0487.
func specimenSource(s networks.SpecimenNeeded) hl7.Content {
	return hl7.Text(s.HL7, "", s.SNOMEDName)
}

// addInsurance adds IN1 with the payor and GT1 with the guarantor. When the
// lab bills its customer, it gets neither.
func addInsurance(m *hl7.Message, lab Lab, order networks.Order) {
	bill := billTo(order.Billing)
	in1 := hl7.Fields{1: hl7.Text("1"), 47: hl7.Text(bill)}
	guarantor := order.Patient
	relation := relations["Self"]
	if in := order.Insurance; in != nil {
		relation = relations[in.Relationship]
		in1[2] = hl7.Text(in.PayorCode, in.Company)
		in1[3], in1[4], in1[5], in1[8] = hl7.Text(in.PayorCode), hl7.Text(in.Company), addressField(in.CompanyAddress, "B"), hl7.Text(in.GroupID)
		in1[16], in1[17], in1[18] = nameField(in.Insured), codeField(relation, "HL70063"), hl7.Text(formatDate(in.Insured.DOB))
		in1[19], in1[36], in1[43] = addressField(in.Insured.Address, "H"), hl7.Text(in.MemberID), hl7.Text(sexCode(in.Insured.Gender))
		guarantor = in.Insured
		if in.Guarantor != nil {
			guarantor, relation = *in.Guarantor, relations["Other"]
		}
	}
	m.Add("IN1", in1)
	if bill == "C" {
		return
	}
	m.Add("GT1", hl7.Fields{
		1: hl7.Text("1"), 3: nameField(guarantor), 5: addressField(guarantor.Address, "H"), 6: phoneField(lab, guarantor.Phone),
		8: hl7.Text(formatDate(guarantor.DOB)), 9: hl7.Text(sexCode(guarantor.Gender)), 11: codeField(relation, "HL70063"),
	})
}

// billTo returns IN1-47 as American labs use it: C the client, P the patient,
// T a third party.
func billTo(billing string) string {
	switch {
	case strings.HasPrefix(billing, "patient"):
		return "P"
	case strings.Contains(billing, "insurance"):
		return "T"
	}
	return "C"
}

// relations are codes of HL7 table 0063.
var relations = map[string]code{
	"Self":   {"SEL", "Self"},
	"Spouse": {"SPO", "Spouse"},
	"Other":  {"OTH", "Other"},
}
