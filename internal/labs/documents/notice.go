package documents

import (
	"slices"
	"strconv"
	"strings"

	"hale/internal/labs/catalogue"
)

// Notice tells a patient, before the sample is taken, that the insurance may
// not pay, and asks what to do: an advance beneficiary notice in plain words.
// Orders that need none have none.
//
// Reference 1.14, has_abn.
func (s *Subject) Notice() ([]byte, error) {
	if !s.Order.HasABN || s.Order.Body.Patient == nil {
		return nil, missing("ABN not found")
	}
	o := &s.Full
	p := newSheet("Advance notice of noncoverage", s.foot(), s.placedAt())
	p.put(margin, p.y+14, 15, "B", printable("ADVANCE NOTICE OF NONCOVERAGE"))
	p.put(margin, p.y+28, normal, "", printable("Your insurance may not pay for the tests below. Read this before your sample is taken."))
	p.y += 34
	p.heading("From whom, to whom")
	insurer := ""
	if o.Insurance != nil {
		insurer = o.Insurance.Company
	}
	p.fields(3,
		field{"Laboratory", s.Facts.Lab.Name}, field{"Patient", lastFirst(o.Patient)}, field{"Date of birth", birth(o.Patient)},
		field{"Order", s.Order.ID.String()}, field{"Control number", s.Order.SampleID}, field{"Insurance", insurer},
	)
	p.heading("Tests that may not be paid for")
	var rows []row
	for _, m := range s.unsupported() {
		rows = append(rows, row{cells: []cell{{words: m.ProviderID, bold: true}, {words: m.Name}, {words: dollars(m.Price)}}})
	}
	p.table([]column{{"Code", 1}, {"Test", 4}, {"Estimated cost", 1.5}}, rows)
	p.heading("Why it may not be paid")
	reason := "The insurance pays for these tests only for some diagnoses, only so often, or not at all. "
	if len(o.ICDCodes) > 0 {
		reason += "The diagnoses on the order are " + strings.Join(o.ICDCodes, ", ") + "."
	} else {
		reason += "The order names no diagnosis."
	}
	p.paragraph(reason, normal, "")
	p.heading("Choose one")
	p.box("I want the tests, and want the insurance to be billed. If it does not pay, I am billed, and may appeal to the insurance. What I have paid comes back if it pays later, less any share of mine.")
	p.box("I want the tests, and do not want the insurance to be billed. I am billed now and cannot appeal, because the insurance is not asked.")
	p.box("I do not want the tests. I am not billed, and nobody can ask the insurance whether it would have paid.")
	p.heading("What you should know")
	p.paragraph("This notice is an opinion, not a decision of the insurance. Ask whoever ordered the tests, or the insurance, about anything that is not clear. "+
		"By signing you say that you have read and understood it; you get a copy.", normal, "")
	p.blanks("Signature of the patient or the representative", "Date")
	return p.bytes()
}

// unsupported are the tests without a diagnosis that supports them; all, when
// it was the lab that asked for the notice.
func (s *Subject) unsupported() []*catalogue.Marker {
	some := slices.DeleteFunc(slices.Clone(s.Facts.Markers), func(m *catalogue.Marker) bool { return m.Supported(s.Order.Body.ICDCodes) })
	if len(some) == 0 {
		return s.Facts.Markers
	}
	return some
}

// dollars is a price that is a number; prices may also be words.
func dollars(price string) string {
	if _, err := strconv.ParseFloat(price, 64); err == nil {
		return "$" + price
	}
	return "not known"
}
