package documents

import (
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
)

// Requisition is the order on paper: what the patient takes to the lab's
// center, or what goes into the box with the sample.
//
// It exists when the lab has the order, and never for one that was imported.
//
// Reference 1.13, 1.14.
func (s *Subject) Requisition() ([]byte, error) {
	if !orders.HasRequisition(s.Facts.Events) || s.Order.SampleID == "" || s.Order.Body.Patient == nil {
		return nil, missing("Requisition not found")
	}
	p := newSheet("Laboratory requisition", s.foot(), s.placedAt())
	s.requisitionHead(p)
	s.patient(p)
	s.insurance(p)
	s.ordered(p)
	s.collection(p)
	p.blanks("Authorized by (signature of the ordering physician)", "Date")
	return p.bytes()
}

func (s *Subject) requisitionHead(p *sheet) {
	o := &s.Full
	top := p.y
	p.put(margin, top+14, 15, "B", printable("LABORATORY REQUISITION"))
	lab := s.Facts.Lab
	p.put(margin, top+28, normal, "B", printable(lab.Name))
	p.put(margin, top+39, normal, "", printable(joined(", ", lab.Address, lab.City)+" "+lab.Zip))
	if o.Priority {
		p.put(margin, top+56, 13, "B", printable("STAT"))
	}
	const width = 250
	x := pageWidth - margin - width
	p.linear(s.Order.SampleID, x, top, width, 38)
	id := printable(s.Order.SampleID)
	id.letters = p.cut(id, 11, "B", width)
	p.put(x+(width-p.width(11, "B", id))/2, top+50, 11, "B", id)
	p.y = top + 60
	p.again = func() {
		p.put(margin, p.y+8, normal, "B", printable("LABORATORY REQUISITION, continued   "+s.Order.SampleID))
		p.y += 16
	}
	p.fields(4,
		field{"Control number", s.Order.SampleID}, field{"Ordered (UTC)", day(o.PlacedAt.UTC())},
		field{"Account number", o.Account.Number}, field{"Account", o.Account.Name},
		field{"Bill to", billTo(s.Order.Billing)}, field{"Priority", priority(o.Priority)},
		field{"Collection", words(s.Order.Method)}, field{"Panel", s.Facts.Test.Name},
	)
	if code := s.summary(); code != "" {
		if height, err := p.stacked(code, margin+4, p.y+2, inner-8); err == nil {
			p.y += height + 6
		}
	}
}

// summary is what the stacked bar code says: version, control number, order,
// account and the lab's codes of the tests. It names nobody. An order of so
// many tests that the code cannot hold them leaves them to the page.
func (s *Subject) summary() string {
	head := strings.Join([]string{"HALE1", s.Order.SampleID, s.Order.ID.String(), s.Full.Account.Number}, "|")
	var codes []string
	for _, t := range s.Full.Tests {
		codes = append(codes, t.ProviderID)
	}
	const most = 700 // characters; the standard's limit is near 900 at this level of correction
	whole := head + "|" + strings.Join(codes, ",")
	if len(whole) > most {
		whole = head
	}
	if !plain(whole) || len(whole) > most {
		return ""
	}
	return whole
}

func (s *Subject) patient(p *sheet) {
	o := &s.Full
	p.heading("Patient")
	p.fields(3,
		field{"Name", lastFirst(o.Patient)}, field{"Date of birth", birth(o.Patient)}, field{"Sex", words(o.Patient.Gender)},
		field{"Address", address(o.Patient.Address)}, field{"Phone", o.Patient.Phone}, field{"E-mail", o.Patient.Email},
		field{"Patient ID", o.Patient.ID.String()}, field{"Race", words(o.Patient.Race)}, field{"Ethnicity", words(o.Patient.Ethnicity)},
	)
	if g := s.Order.Body.Patient.MedicalProxy; g != nil {
		p.fields(3, field{"Medical proxy", g.LastName + ", " + g.FirstName}, field{"Proxy's phone", g.PhoneNumber}, field{"Proxy's e-mail", g.Email})
	}
	p.heading("Ordering physician")
	p.fields(3, field{"Name", joined(", ", o.Physician.LastName, o.Physician.FirstName)}, field{"NPI", o.Physician.NPI})
}

func (s *Subject) insurance(p *sheet) {
	i := s.Full.Insurance
	if i == nil {
		return
	}
	p.heading("Insurance")
	p.fields(3,
		field{"Company", i.Company}, field{"Payor code", i.PayorCode}, field{"Patient is", relation(i.Relationship)},
		field{"Member ID", i.MemberID}, field{"Group", i.GroupID}, field{"Insured", lastFirst(i.Insured)},
		field{"Insured's date of birth", birth(i.Insured)}, field{"Insured's sex", words(i.Insured.Gender)}, field{"Insured's address", address(i.Insured.Address)},
	)
	if g := i.Guarantor; g != nil {
		p.fields(3, field{"Guarantor", lastFirst(*g)}, field{"Guarantor's phone", g.Phone}, field{"Guarantor's address", address(g.Address)})
	}
}

// ordered is diagnoses, tests, answers and notes.
func (s *Subject) ordered(p *sheet) {
	o := &s.Full
	if len(o.ICDCodes) > 0 {
		p.heading("Diagnoses (ICD-10-CM)")
		p.paragraph(strings.Join(o.ICDCodes, "   "), normal, "")
	}
	p.heading("Tests ordered")
	rows := make([]row, len(o.Tests))
	for i, t := range o.Tests {
		rows[i] = row{cells: []cell{{words: t.ProviderID, bold: true}, {words: t.Name}, {words: s.sampleOf(t)}}}
	}
	p.table([]column{{"Code", 1}, {"Test", 4}, {"Sample", 1.5}}, rows)
	if len(o.Answers) > 0 {
		p.heading("Questions answered at order entry")
		rows = rows[:0]
		for _, a := range o.Answers {
			rows = append(rows, row{cells: []cell{{words: a.ProviderID, bold: true}, {words: joined(" - ", a.QuestionCode, a.Question)}, {words: s.answer(a)}}})
		}
		p.table([]column{{"Code", 1}, {"Question", 3.5}, {"Answer", 2}}, rows)
	}
	if o.Notes != "" {
		p.heading("Clinical notes")
		p.paragraph(o.Notes, normal, "")
	}
}

func (s *Subject) sampleOf(t networks.Test) string {
	for _, m := range s.Facts.Markers {
		if m.ID == t.MarkerID {
			return words(m.Sample)
		}
	}
	return ""
}

// answer is the words of a chosen answer, with its code.
func (s *Subject) answer(a networks.Answer) string {
	for _, m := range s.Facts.Markers {
		for _, q := range m.Questions {
			if m.ID != a.MarkerID || q.Code != a.QuestionCode || len(q.Answers) == 0 {
				continue
			}
			var all []string
			for code := range strings.SplitSeq(a.Answer, ",") {
				all = append(all, chosen(q, strings.TrimSpace(code)))
			}
			return strings.Join(all, ", ")
		}
	}
	return a.Answer
}

func chosen(q catalogue.Question, code string) string {
	for _, one := range q.Answers {
		if one.Code == code && one.Value != code {
			return one.Value + " (" + code + ")"
		}
	}
	return code
}

func (s *Subject) collection(p *sheet) {
	p.heading("Collection")
	var samples []string
	for _, sample := range s.samples() {
		samples = append(samples, words(sample))
	}
	collected := ""
	if at := s.Order.CollectedAt; at != nil {
		collected = minute(at.UTC())
	}
	p.fields(3, field{"Sample", strings.Join(samples, ", ")}, field{"Fasting needed", yesNo(s.Full.Fasting)}, field{"Collected", collected})
	if collected == "" {
		p.blanks("Date of collection", "Time of collection", "Collected by", "Fasting (yes or no)")
	}
}

func billTo(b catalogue.Billing) string {
	switch b {
	case catalogue.ClientBill:
		return "Client"
	case catalogue.CommercialInsurance:
		return "Insurance"
	case catalogue.PatientBill:
		return "Patient"
	default:
		return words(b)
	}
}

func relation(r string) string {
	if r == "Self" {
		return "the insured"
	}
	return strings.ToLower(r) + " of the insured"
}

func priority(stat bool) string {
	if stat {
		return "STAT"
	}
	return "Routine"
}

// cut shortens a text that must stand in one line.
func (s *sheet) cut(t text, size float64, style string, width float64) string {
	if s.width(size, style, t) <= width {
		return t.letters
	}
	dots := "..."
	room := width - s.width(size, style, text{letters: dots, core: t.core})
	s.use(t, style, size)
	return t.letters[:fitting(t.letters, room, func(part string) float64 { return s.pdf.GetStringWidth(t.encode(part)) })] + dots
}
