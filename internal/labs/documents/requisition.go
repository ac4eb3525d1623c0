package documents

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/go-pdf/fpdf"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
)

// Requisition renders the order on paper: the patient takes it to the service
// center, or it goes into the box with the sample.
//
// It exists once the lab has the order, and never for an imported order.
//
// Reference 1.13, 1.14.
func (s *Subject) Requisition() ([]byte, error) {
	if !orders.HasRequisition(s.Facts.Events) || s.Order.SampleID == "" || s.Order.Body.Patient == nil {
		return nil, notFound("Requisition not found")
	}
	p := newLetterDocument("Laboratory requisition", s.footer(), s.banner(), s.placedAt())
	s.requisitionHead(p)
	s.patient(p)
	s.insurance(p)
	s.writeTests(p)
	s.writeCollection(p)
	p.blanks("Authorized by (signature of the ordering physician)", "Date")
	return p.output()
}

// PublicRequisition is Requisition for callers without a key. It refuses a
// cancelled order with ErrCancelled.
func (s *Subject) PublicRequisition() ([]byte, error) {
	if s.Cancelled() {
		return nil, ErrCancelled
	}
	return s.Requisition()
}

func (s *Subject) requisitionHead(p *pdfDocument) {
	o := &s.Full
	top := p.y
	p.writeLine(margin, top+14, 15, "B", printable("LABORATORY REQUISITION"))
	lab := s.Facts.Lab
	p.writeLine(margin, top+28, normalSize, "B", printable(lab.Name))
	p.writeLine(margin, top+39, normalSize, "", printable(joinNonEmpty(", ", lab.Address, lab.City)+" "+lab.Zip))
	if o.Priority {
		p.writeLine(margin, top+56, 13, "B", printable("STAT"))
	}
	const width = 250
	x := pageWidth - margin - width
	p.drawCode128(s.Order.SampleID, x, top, width, 38)
	id := printable(s.Order.SampleID)
	id.letters = p.cut(id, 11, "B", width)
	p.writeLine(x+(width-p.textWidth(11, "B", id))/2, top+50, 11, "B", id)
	p.y = top + 60
	p.pageHeader = func() {
		p.writeLine(margin, p.y+8, normalSize, "B", printable("LABORATORY REQUISITION, continued   "+s.Order.SampleID))
		p.y += 16
	}
	p.fields(4,
		field{"Control number", s.Order.SampleID}, field{"Ordered", s.minute(o.PlacedAt)},
		field{"Account number", o.Account.Number}, field{"Account", o.Account.Name},
		field{"Bill to", billTo(s.Order.Billing)}, field{"Priority", priority(o.Priority)},
		field{"Collection", label(s.Order.Method)}, field{"Panel", s.Facts.Test.Name},
	)
	if code := s.barcodeText(); code != "" {
		if height, err := p.drawPDF417(code, margin+4, p.y+2, innerWidth-8); err == nil {
			p.y += height + 6
		}
	}
}

// barcodeText returns the text of the stacked bar code: version, control
// number, order, account and the lab's codes of the tests. It names no person.
// When the codes of the tests do not fit, they are only on the page.
func (s *Subject) barcodeText() string {
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
	if !isPlainASCII(whole) || len(whole) > most {
		return ""
	}
	return whole
}

func (s *Subject) patient(p *pdfDocument) {
	o := &s.Full
	p.heading("Patient")
	p.fields(3,
		field{"Name", lastFirst(o.Patient)}, field{"Date of birth", formatBirth(o.Patient)}, field{"Sex", label(o.Patient.Gender)},
		field{"Address", address(o.Patient.Address)}, field{"Phone", o.Patient.Phone}, field{"E-mail", o.Patient.Email},
		field{"Patient ID", o.Patient.ID.String()}, field{"Race", label(o.Patient.Race)}, field{"Ethnicity", label(o.Patient.Ethnicity)},
	)
	if g := s.Order.Body.Patient.MedicalProxy; g != nil {
		p.fields(3, field{"Medical proxy", g.LastName + ", " + g.FirstName}, field{"Proxy's phone", g.PhoneNumber}, field{"Proxy's e-mail", g.Email})
	}
	p.heading("Ordering physician")
	p.fields(3, field{"Name", joinNonEmpty(", ", o.Physician.LastName, o.Physician.FirstName)}, field{"NPI", o.Physician.NPI})
}

func (s *Subject) insurance(p *pdfDocument) {
	i := s.Full.Insurance
	if i == nil {
		return
	}
	p.heading("Insurance")
	p.fields(3,
		field{"Company", i.Company}, field{"Payor code", i.PayorCode}, field{"Patient is", relationText(i.Relationship)},
		field{"Member ID", i.MemberID}, field{"Group", i.GroupID}, field{"Insured", lastFirst(i.Insured)},
		field{"Insured's date of birth", formatBirth(i.Insured)}, field{"Insured's sex", label(i.Insured.Gender)}, field{"Insured's address", address(i.Insured.Address)},
	)
	if g := i.Guarantor; g != nil {
		p.fields(3, field{"Guarantor", lastFirst(*g)}, field{"Guarantor's phone", g.Phone}, field{"Guarantor's address", address(g.Address)})
	}
}

// writeTests writes the diagnoses, tests, answers and notes.
func (s *Subject) writeTests(p *pdfDocument) {
	o := &s.Full
	if len(o.ICDCodes) > 0 {
		p.heading("Diagnoses (ICD-10-CM)")
		p.paragraph(strings.Join(o.ICDCodes, "   "), normalSize, "")
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
			rows = append(rows, row{cells: []cell{{words: a.ProviderID, bold: true}, {words: joinNonEmpty(" - ", a.QuestionCode, a.Question)}, {words: s.answer(a)}}})
		}
		p.table([]column{{"Code", 1}, {"Question", 3.5}, {"Answer", 2}}, rows)
	}
	if o.Notes != "" {
		p.heading("Clinical notes")
		p.paragraph(o.Notes, normalSize, "")
	}
}

func (s *Subject) sampleOf(t networks.Test) string {
	for _, m := range s.Facts.Markers {
		if m.ID == t.MarkerID {
			return label(m.Sample)
		}
	}
	return ""
}

// answer returns the words of a chosen answer, with its code.
func (s *Subject) answer(a networks.Answer) string {
	for _, m := range s.Facts.Markers {
		for _, q := range m.Questions {
			if m.ID != a.MarkerID || q.Code != a.QuestionCode || len(q.Answers) == 0 {
				continue
			}
			var all []string
			for code := range strings.SplitSeq(a.Answer, ",") {
				all = append(all, chosenAnswer(q, strings.TrimSpace(code)))
			}
			return strings.Join(all, ", ")
		}
	}
	return a.Answer
}

func chosenAnswer(q catalogue.Question, code string) string {
	for _, one := range q.Answers {
		if one.Code == code && one.Value != code {
			return one.Value + " (" + code + ")"
		}
	}
	return code
}

func (s *Subject) writeCollection(p *pdfDocument) {
	p.heading("Collection")
	var samples []string
	for _, sample := range s.samples() {
		samples = append(samples, label(sample))
	}
	collected := ""
	if at := s.Order.CollectedAt; at != nil {
		collected = s.minute(*at)
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
		return label(b)
	}
}

func relationText(r string) string {
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

// cut shortens a text to one line.
func (s *pdfDocument) cut(t text, size float64, style string, width float64) string {
	if s.textWidth(size, style, t) <= width {
		return t.letters
	}
	dots := "..."
	room := width - s.textWidth(size, style, text{letters: dots, core: t.core})
	s.setFont(t, style, size)
	return t.letters[:fittingBytes(t.letters, room, func(part string) float64 { return s.pdf.GetStringWidth(t.encode(part)) })] + dots
}

// The size of a label: 2.25 by 1.25 inches, in points.
const (
	labelWidth  = 162.0
	labelHeight = 90.0
	labelEdge   = 6.0
)

// SandboxAccount is the account number on labels of the sandbox.
//
// Reference 1.15.
const SandboxAccount = "1234567890"

// Labels renders labels for the tubes, one on each page. A cancelled order has
// none: no tube may be filled for it.
//
// Reference 1.14.
func (s *Subject) Labels(count int, collected CollectionTime) ([]byte, error) {
	if s.Cancelled() {
		return nil, ErrCancelled
	}
	if s.Order.SampleID == "" || s.Order.Body.Patient == nil {
		return nil, notFound("Labels not found")
	}
	p := newDocument("Sample labels", fpdf.SizeType{Wd: labelWidth, Ht: labelHeight}, s.placedAt())
	account := s.Full.Account.Number
	if s.Full.Sandbox {
		account = SandboxAccount
	}
	for n := range count {
		p.addPage()
		s.label(p, account, collected, fmt.Sprintf("%d/%d", n+1, count))
	}
	return p.output()
}

func (s *Subject) label(p *pdfDocument, account string, collected CollectionTime, number string) {
	const width = labelWidth - 2*labelEdge
	name := printable(lastFirst(s.Full.Patient))
	size := 10.0
	for size > 6.5 && p.textWidth(size, "B", name) > width {
		size -= 0.5
	}
	name.letters = p.cut(name, size, "B", width)
	p.writeLine(labelEdge, 15, size, "B", name)
	p.labelLine(25, fmt.Sprintf("DOB %s   Sex %s", formatBirth(s.Full.Patient), label(s.Full.Patient.Gender)), number)
	p.labelLine(34, "Collected "+s.collection(collected), "")
	p.labelLine(43, "Acct "+account+"   "+s.Facts.Lab.Name, "")
	p.drawCode128(s.Order.SampleID, 1, 48, labelWidth-2, 28)
	id := printable(s.Order.SampleID)
	id.letters = p.cut(id, 8, "B", width)
	p.writeLine((labelWidth-p.textWidth(8, "B", id))/2, 85, 8, "B", id)
}

// labelLine writes a line with a text at its right end.
func (s *pdfDocument) labelLine(y float64, words, right string) {
	const width, size = labelWidth - 2*labelEdge, 7.0
	end := printable(right)
	room := width
	if right != "" {
		w := s.textWidth(size, "", end)
		s.writeLine(labelEdge+width-w, y, size, "", end)
		room -= w + 4
	}
	t := printable(words)
	t.letters = s.cut(t, size, "", room)
	s.writeLine(labelEdge, y, size, "", t)
}

// Notice renders an advance beneficiary notice in plain words: it informs the
// patient, before the sample is taken, that the insurance may not pay, and
// asks for a decision. Orders that need no notice have none.
//
// Reference 1.14, has_abn.
func (s *Subject) Notice() ([]byte, error) {
	if !s.Order.HasABN || s.Order.Body.Patient == nil {
		return nil, notFound("ABN not found")
	}
	o := &s.Full
	p := newLetterDocument("Advance notice of noncoverage", s.footer(), s.banner(), s.placedAt())
	p.writeLine(margin, p.y+14, 15, "B", printable("ADVANCE NOTICE OF NONCOVERAGE"))
	p.writeLine(margin, p.y+28, normalSize, "", printable("Your insurance may not pay for the tests below. Read this before your sample is taken."))
	p.y += 34
	p.heading("Laboratory and patient")
	insurer := ""
	if o.Insurance != nil {
		insurer = o.Insurance.Company
	}
	p.fields(3,
		field{"Laboratory", s.Facts.Lab.Name}, field{"Patient", lastFirst(o.Patient)}, field{"Date of birth", formatBirth(o.Patient)},
		field{"Order", s.Order.ID.String()}, field{"Control number", s.Order.SampleID}, field{"Insurance", insurer},
	)
	p.heading("Tests that the insurance may not pay for")
	var rows []row
	for _, m := range s.unsupportedTests() {
		rows = append(rows, row{cells: []cell{{words: m.ProviderID, bold: true}, {words: m.Name}, {words: formatPrice(m.Price)}}})
	}
	p.table([]column{{"Code", 1}, {"Test", 4}, {"Estimated cost", 1.5}}, rows)
	p.heading("Why the insurance may not pay")
	reason := "The insurance pays for these tests only for some diagnoses, only a limited number of times, or not at all. "
	if len(o.ICDCodes) > 0 {
		reason += "The diagnoses on the order are " + strings.Join(o.ICDCodes, ", ") + "."
	} else {
		reason += "The order names no diagnosis."
	}
	p.paragraph(reason, normalSize, "")
	p.heading("Choose one")
	p.box("I want the tests. Bill my insurance. If it does not pay, I pay, and I may appeal to the insurance. If it pays later, I get back what I paid, less my share.")
	p.box("I want the tests. Do not bill my insurance. I pay now, and I cannot appeal, because the insurance is not asked.")
	p.box("I do not want the tests. I do not pay, and I cannot appeal to find out whether the insurance would have paid.")
	p.heading("What you should know")
	p.paragraph("This notice is an opinion, not a decision of the insurance. If anything is unclear, ask the clinic that ordered the tests, or the insurance. "+
		"By signing you confirm that you have read and understood this notice. You get a copy.", normalSize, "")
	p.blanks("Signature of the patient or the representative", "Date")
	return p.output()
}

// unsupportedTests returns the tests without a diagnosis that supports them;
// all tests when the lab asked for the notice.
func (s *Subject) unsupportedTests() []*catalogue.Marker {
	some := slices.DeleteFunc(slices.Clone(s.Facts.Markers), func(m *catalogue.Marker) bool { return m.Supported(s.Order.Body.ICDCodes) })
	if len(some) == 0 {
		return s.Facts.Markers
	}
	return some
}

// formatPrice formats a price; prices may also be words.
func formatPrice(price string) string {
	if _, err := strconv.ParseFloat(price, 64); err == nil {
		return "$" + price
	}
	return "not known"
}
