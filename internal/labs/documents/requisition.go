package documents

import (
	"bytes"
	"cmp"
	"fmt"
	"image/png"
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
	p := newLetterDocument("Laboratory requisition", s.frame("LABORATORY REQUISITION, continued   "+priority(s.Full.Priority), s.collectionLine()), s.placedAt())
	s.requisitionHead(p)
	s.patient(p)
	s.insurance(p)
	s.writeTests(p)
	s.writeCollection(p)
	s.signature(p)
	return p.output()
}

// PublicRequisition renders the requisition for callers without a key. It refuses a
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
	p.writeLine(margin, top+14, 15, "B", printableText("LABORATORY REQUISITION"))
	lab := s.Facts.Lab
	const width = 250
	x := pageWidth - margin - width
	p.y = top + 19
	for _, line := range []struct{ words, style string }{{lab.Name, "B"}, {oneLine(s.laboratory().Address), ""}, {joinNonEmpty(" · ", clia(lab.CLIA), phone(lab.Phone)), ""}} {
		t := printableText(line.words)
		wrapped := p.wrap(t, normalSize, line.style, x-margin-10)
		wrapped = wrapped[:min(len(wrapped), 2)]
		p.lines(margin, p.y, normalSize, line.style, t, wrapped)
		p.y += float64(len(wrapped)) * normalSize * lineHeight
	}
	if o.Priority {
		p.writeLine(margin, p.y+14, 14, "B", printableText("STAT"))
		p.y += 18
	}
	p.drawCode128(s.Order.SampleID, x, top, width, 38)
	id := printableText(s.Order.SampleID)
	id.letters = p.cut(id, 11, "B", width)
	p.writeLine(x+(width-p.textWidth(11, "B", id))/2, top+50, 11, "B", id)
	p.y = max(p.y+4, top+60)
	p.fields(4,
		field{"Control number", s.Order.SampleID}, field{"Ordered", s.minute(o.PlacedAt)},
		field{"Account number", o.Account.Number}, field{"Account", o.Account.Name},
		field{"Bill to", billTo(s.Order.Billing)}, field{"Priority", priority(o.Priority)},
		field{"Collection", label(s.Order.Method)}, field{"Panel", s.Facts.Test.Name},
		field{"Specimen", s.specimenNames()}, field{"Collected", s.collected()},
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
		field{"Address", address(o.Patient.Address)}, field{"Phone", phone(o.Patient.Phone)}, field{"E-mail", o.Patient.Email},
		field{"Patient ID", o.Patient.ID.String()}, field{"Race", label(o.Patient.Race)}, field{"Ethnicity", label(o.Patient.Ethnicity)},
	)
	if g := s.Order.Body.Patient.MedicalProxy; g != nil {
		p.fields(3, field{"Medical proxy", g.LastName + ", " + g.FirstName}, field{"Proxy's phone", phone(g.PhoneNumber)}, field{"Proxy's e-mail", g.Email})
	}
	p.heading("Ordering physician and clinic")
	c := o.Practice
	p.fields(3,
		field{"Physician", joinNonEmpty(", ", o.Physician.LastName, o.Physician.FirstName)}, field{"NPI", o.Physician.NPI}, field{"Clinic", cmp.Or(c.Name, o.Account.Name)},
		field{"Clinic's address", address(c.Address)}, field{"Clinic's phone", joinNonEmpty("\n", phone(c.Phone), labelledValue("Fax", phone(c.Fax)))},
		field{"Call critical results to", phone(c.Callback())},
	)
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
		field{"Company's address", address(i.CompanyAddress)},
	)
	if g := i.Guarantor; g != nil {
		p.fields(3, field{"Guarantor", lastFirst(*g)}, field{"Guarantor's phone", phone(g.Phone)}, field{"Guarantor's address", address(g.Address)})
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
		n := t.Specimen
		rows[i] = row{cells: []cell{
			{words: t.ProviderID, bold: true},
			{words: t.Name},
			{words: cmp.Or(n.Name, s.sampleOf(t))},
			{words: n.Container},
			{words: joinNonEmpty(", ", n.MinVolume, n.Temperature)},
		}}
	}
	p.table([]column{{"Code", 1.1}, {"Test", 3.2}, {"Specimen", 1.7}, {"Container", 2.4}, {"Volume, transport", 1.8}}, rows)
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

// collectionLine describes the collection for the top of later pages.
func (s *Subject) collectionLine() string {
	return joinNonEmpty(" · ", labelledValue("Specimen", s.specimenNames()), labelledValue("Ordered", s.minute(s.Full.PlacedAt)), labelledValue("Collected", s.collected()))
}

// collected returns the time of the collection, empty if it is not known. A time that
// the laboratory states may be a date only. Other times are instants.
func (s *Subject) collected() string {
	at := s.Order.CollectedAt
	switch {
	case at == nil:
		return ""
	case at.Equal(s.Stated.Time):
		return s.moment(s.Stated)
	}
	return s.minute(*at)
}

func (s *Subject) writeCollection(p *pdfDocument) {
	p.heading("Collection")
	collected := s.collected()
	p.fields(3, field{"Specimen", s.specimenNames()}, field{"Fasting needed", yesNo(s.Full.Fasting)}, field{"Collected", collected})
	if rows := s.collectionRows(); rows != nil {
		p.table([]column{{"Specimen", 1.5}, {"Container", 2}, {"Stability", 2}, {"How to collect", 3}}, rows)
	}
	if collected == "" {
		p.blanks("Date of collection", "Time of collection", "Collected by", "Fasting (yes or no)")
	}
}

// signature draws the physician's signature, or a line for it.
func (s *Subject) signature(p *pdfDocument) {
	size, err := png.DecodeConfig(bytes.NewReader(s.Signature))
	if s.Signature == nil || err != nil {
		p.blanks("Authorized by (signature of the ordering physician)", "Date")
		return
	}
	const most, tallest = 200.0, 44.0 // points
	scale := min(most/float64(size.Width), tallest/float64(size.Height))
	width, height := float64(size.Width)*scale, float64(size.Height)*scale
	p.ensureRoom(height + 40)
	p.pdf.RegisterImageOptionsReader("signature", fpdf.ImageOptions{ImageType: "PNG"}, bytes.NewReader(s.Signature))
	p.pdf.ImageOptions("signature", margin+4, p.y+4, width, height, false, fpdf.ImageOptions{ImageType: "PNG"}, 0, "")
	p.y += max(height+6-24, 0)
	half := innerWidth / 2
	p.pdf.Line(margin+4, p.y+24, margin+half-12, p.y+24)
	o := s.Full.Physician
	p.writeLine(margin+4, p.y+24+smallSize+2, smallSize, "", printableText(joinNonEmpty(" ", "Authorized by", o.FirstName, o.LastName)))
	p.writeLine(margin+half+4, p.y+20, normalSize, "", printableText(formatDay(s.local(s.Full.PlacedAt))))
	p.writeLine(margin+half+4, p.y+24+smallSize+2, smallSize, "", printableText("Date"))
	p.y += 40
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

// SandboxAccount is the account number on labels of the simulated laboratories. An order
// at a laboratory's test system has the team's number there.
//
// Reference 1.15.
const SandboxAccount = "1234567890"

// Labels renders labels for the tubes, one on each page. The labels of an order
// with several specimens name them in turn. There are at least as many labels as
// specimens, because a tube without one is lost. A cancelled order has none: no tube
// may be filled for it.
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
	if s.Full.Sandbox && s.Order.Network != orders.HL7TestNetwork {
		account = SandboxAccount
	}
	specimens := s.specimens()
	if specimens == nil {
		specimens = make([]tube, 1)
	}
	count = max(count, len(specimens))
	for n := range count {
		p.addPage()
		s.label(p, account, collected, specimens[n%len(specimens)], fmt.Sprintf("%d/%d", n+1, count))
	}
	return p.output()
}

func (s *Subject) label(p *pdfDocument, account string, collected CollectionTime, specimen tube, number string) {
	width := labelWidth - 2*labelEdge
	if s.Full.Priority {
		stat := printableText("STAT")
		w := p.textWidth(9, "B", stat) + 6
		p.pdf.SetFillColor(0, 0, 0)
		p.pdf.Rect(labelEdge+width-w, 4, w, 11.5, "F")
		p.pdf.SetTextColor(255, 255, 255)
		p.writeLine(labelEdge+width-w+3, 13, 9, "B", stat)
		p.pdf.SetTextColor(0, 0, 0)
		width -= w + 4
	}
	p.labelName(s.Full.Patient, width)
	lines := []string{
		fmt.Sprintf("DOB %s   Sex %s", formatBirth(s.Full.Patient), label(s.Full.Patient.Gender)), "Collected " + s.collection(collected),
		joinNonEmpty(" - ", cmp.Or(specimen.name, s.specimenNames()), specimen.container),
	}
	y, step, bars := 22.0, 8.4, 51.0
	if transport := joinNonEmpty(", ", labelledValue("Volume", specimen.volume()), specimen.temperature); transport != "" {
		lines = append(lines, transport)
		y, step, bars = 21, 7.4, 53.5
	}
	for i, words := range append(lines, "Acct "+account+"   "+s.Facts.Lab.Name) {
		p.labelLine(y+step*float64(i), words, number)
		number = "" // on the first line only
	}
	p.drawCode128(s.Order.SampleID, 1, bars, labelWidth-2, 76-bars)
	id := printableText(s.Order.SampleID)
	whole := labelWidth - 2*labelEdge
	id.letters = p.cut(id, 8, "B", whole)
	p.writeLine((labelWidth-p.textWidth(8, "B", id))/2, 85, 8, "B", id)
}

// labelName writes the name of a patient. A long one is smaller, then on two
// lines: a sample needs the whole name.
func (s *pdfDocument) labelName(patient networks.Patient, width float64) {
	name := printableText(lastFirst(patient))
	size := s.fit(name, 10, 6.5, "B", width)
	if s.textWidth(size, "B", name) <= width {
		s.writeLine(labelEdge, 13, size, "B", name)
		return
	}
	for i, part := range []string{patient.LastName + ",", patient.FirstName} {
		t := printableText(part)
		size := s.fit(t, 7, 5, "B", width)
		t.letters = s.cut(t, size, "B", width)
		s.writeLine(labelEdge, 8+7*float64(i), size, "B", t)
	}
}

// fit returns the largest size between most and least in which a text fits;
// least if it does not.
func (s *pdfDocument) fit(t text, most, least float64, style string, width float64) float64 {
	size := most
	for size > least && s.textWidth(size, style, t) > width {
		size -= 0.5
	}
	return size
}

// labelLine writes a line with a text at its right end. A long line is smaller.
func (s *pdfDocument) labelLine(y float64, words, right string) {
	const width, size = labelWidth - 2*labelEdge, 7.0
	end := printableText(right)
	room := width
	if right != "" {
		w := s.textWidth(size, "", end)
		s.writeLine(labelEdge+width-w, y, size, "", end)
		room -= w + 4
	}
	t := printableText(words)
	smaller := s.fit(t, size, 5, "", room)
	t.letters = s.cut(t, smaller, "", room)
	s.writeLine(labelEdge, y, smaller, "", t)
}
