package documents

import (
	"slices"
	"strconv"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
)

// Notice renders an Advance Beneficiary Notice of Non-coverage with the title,
// the blanks and the wording of form CMS-R-131. It informs the patient, before
// the sample is taken, that Medicare may not pay, and asks for a decision. Orders
// that need no notice have none.
//
// Reference 1.14, has_abn. Medicare Claims Processing Manual, chapter 30, section
// 50: the wording of the form must not be changed.
func (s *Subject) Notice() ([]byte, error) {
	if !s.Order.HasABN || s.Order.Body.Patient == nil {
		return nil, notFound("ABN not found")
	}
	o := &s.Full
	p := newLetterDocument("Advance Beneficiary Notice of Non-coverage", s.frame("Advance Beneficiary Notice of Non-coverage (ABN), continued"), s.placedAt())
	p.paragraph("A. Notifier: "+s.notifier(), noticeSize, "B")
	p.fields(2, field{"B. Patient Name", lastFirst(o.Patient)}, field{"C. Identification Number", s.Order.SampleID})
	title := printableText("Advance Beneficiary Notice of Non-coverage (ABN)")
	p.writeLine((pageWidth-p.textWidth(14, "B", title))/2, p.y+14, 14, "B", title)
	p.y += 22
	p.paragraph("NOTE: If Medicare doesn't pay for D. laboratory tests below, you may have to pay.", noticeSize, "B")
	p.paragraph("Medicare does not pay for everything, even some care that you or your health care provider have good reason to think you need. "+
		"We expect Medicare may not pay for the D. laboratory tests below.", noticeSize, "")
	var rows []row
	for _, m := range s.unsupportedTests() {
		rows = append(rows, row{cells: []cell{{words: m.ProviderID + "  " + m.Name}, {words: s.reason(m)}, {words: formatPrice(m.Price)}}})
	}
	p.table([]column{{"D. Laboratory tests", 4}, {"E. Reason Medicare May Not Pay:", 4}, {"F. Estimated Cost", 1.6}}, rows)
	p.paragraph("WHAT YOU NEED TO DO NOW:", noticeSize, "B")
	for _, words := range []string{
		"Read this notice, so you can make an informed decision about your care.",
		"Ask us any questions that you may have after you finish reading.",
		"Choose an option below about whether to receive the D. laboratory tests listed above.",
	} {
		p.point("\u2022", words)
	}
	p.paragraph("Note: If you choose Option 1 or 2, we may help you to use any other insurance that you might have, but Medicare cannot require us to do this.", noticeSize, "")
	p.heading("G. OPTIONS: Check only one box. We cannot choose a box for you.")
	p.box("OPTION 1. I want the D. laboratory tests listed above. You may ask to be paid now, but I also want Medicare billed for an official decision " +
		"on payment, which is sent to me on a Medicare Summary Notice (MSN). I understand that if Medicare doesn't pay, I am responsible for payment, " +
		"but I can appeal to Medicare by following the directions on the MSN. If Medicare does pay, you will refund any payments I made to you, less co-pays or deductibles.")
	p.box("OPTION 2. I want the D. laboratory tests listed above, but do not bill Medicare. You may ask to be paid now as I am responsible for payment. " +
		"I cannot appeal if Medicare is not billed.")
	p.box("OPTION 3. I don't want the D. laboratory tests listed above. I understand with this choice I am not responsible for payment, " +
		"and I cannot appeal to see if Medicare would pay.")
	p.paragraph("H. Additional Information: "+s.billingContact(), noticeSize, "")
	p.paragraph("This notice gives our opinion, not an official Medicare decision. If you have other questions on this notice or Medicare billing, "+
		"call 1-800-MEDICARE (1-800-633-4227/TTY: 1-877-486-2048).", noticeSize, "B")
	p.paragraph("Signing below means that you have received and understand this notice. You may ask to receive a copy.", noticeSize, "")
	p.blanks("I. Signature:", "J. Date:")
	p.paragraph("You have the right to get Medicare information in an accessible format, like large print, Braille, or audio. "+
		"You also have the right to file a complaint if you feel you've been discriminated against. "+
		"Visit Medicare.gov/about-us/accessibility-nondiscrimination-notice.", smallSize, "")
	p.paragraph("Wording of form CMS-R-131, OMB No. 0938-0566", smallSize, "")
	return p.output()
}

const noticeSize = 9.0

// notifier returns name, address and telephone number of the clinic, which gives
// the notice to the patient, or those of the laboratory.
func (s *Subject) notifier() string {
	c := s.Full.Practice
	if c == (networks.Practice{}) {
		return s.biller()
	}
	return joinNonEmpty(" · ", c.Name, oneLine(&c.Address), phone(c.Phone))
}

// biller returns the laboratory, which bills Medicare.
func (s *Subject) biller() string {
	lab := s.laboratory()
	return joinNonEmpty(" · ", lab.Name, oneLine(lab.Address), phone(lab.Phone))
}

// billingContact names the laboratory where it is not the notifier.
func (s *Subject) billingContact() string {
	if s.Full.Practice == (networks.Practice{}) {
		return labelledValue("Order", s.Order.ID.String())
	}
	return "Questions about billing: " + s.biller()
}

// reason says why Medicare may not pay for a test.
func (s *Subject) reason(m *catalogue.Marker) string {
	if m.Supported(s.Order.Body.ICDCodes) {
		return "The laboratory expects that Medicare does not pay for this test."
	}
	return "Medicare does not pay for this test for your condition."
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
