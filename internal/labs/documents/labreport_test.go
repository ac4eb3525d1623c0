package documents

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hale/internal/labs/networks"
)

// labReport returns a report of many lines with the longest texts.
func labReport(s *Subject, lines int) LabReport {
	r := LabReport{
		Laboratory: networks.Laboratory{
			Name: "Larkspur Reference Laboratory (sandbox)", CLIA: "99D9999999", Phone: "+18005550101", Director: "Dr. Nina Noone (sandbox)",
			Address: &networks.Address{FirstLine: "100 Invented Parkway", City: "Sampleton", State: "NC", Zip: "27299"},
		},
		Patient: s.Full.Patient, Number: "0123456789",
		Collected: placedAt.Add(24 * time.Hour), Received: placedAt.Add(30 * time.Hour), Reported: placedAt.Add(48 * time.Hour),
	}
	for n := range lines {
		l := LabReportLine{Test: fmt.Sprintf("Comprehensive Panel %d", n/12), Name: "Glomerular Filtration Rate, Estimated, CKD-EPI 2021 without race", Value: "104", Unit: "mL/min/1.73m2", Range: ">=60"}
		switch n % 4 {
		case 1:
			l.Name, l.Value, l.Flag, l.Unit, l.Range = "Dermatophagoides pteronyssinus IgE", "123456.78", "HH", "m[IU]/L", "100000.00-200000.00"
		case 2:
			l.Value, l.Unit, l.Range, l.Note = "Not calculated: triglycerides of 400 mg/dL or more", "", "", "Corrected. Previously reported: 4.1"
		case 3:
			l.Name, l.Value, l.Unit, l.Range = strings.Repeat("Supercalifragilistic", 5), strings.Repeat("9", 40), "x10E3/uL", strings.Repeat("1-", 20)
		}
		r.Lines = append(r.Lines, l)
	}
	return r
}

// Every page of the sandbox laboratory's report names the patient, the
// laboratory, the specimen and its times, and says that it is invented. No
// text overlaps another.
func TestLabReport(t *testing.T) {
	s := subject(12)
	long := *s
	long.Full.Patient.FirstName, long.Full.Patient.LastName = strings.Repeat("Maximiliana ", 4)+"Đorđe", strings.Repeat("Featherstonehaugh-", 4)+"Wriothesley"
	for name, s := range map[string]*Subject{"short": s, "long": &long} {
		r := labReport(s, 70)
		r.Corrected = name == "long"
		pages := read(t, mustRender(t, func() ([]byte, error) { return s.LabReport(r) }))
		wantInside(t, pages)
		wantTexts(t, pages, "(602) 555-0111", "Fax: (602) 555-0112", "After hours: (602) 555-0113")
		if len(pages) < 2 {
			t.Fatalf("%d pages", len(pages))
		}
		for n, page := range pages {
			said := strings.Join(strings.Fields(page.text()), " ")
			for _, text := range []string{
				s.Full.Patient.LastName[:min(18, len(s.Full.Patient.LastName))], "12/10/1984", "0123456789", "Larkspur Reference Laboratory (sandbox)", "100 Invented Parkway, Sampleton, NC 27299", "CLIA 99D9999999",
				"(800) 555-0101", "SANDBOX", "Serum; Whole blood, EDTA", s.minute(r.Collected), s.minute(r.Received), s.minute(r.Reported), fmt.Sprintf("Page %d of %d", n+1, len(pages)),
			} {
				if !strings.Contains(said, text) {
					t.Errorf("%s: page %d does not say %q:\n%s", name, n+1, text, page.text())
				}
			}
			if strings.Contains(said, "m[IU]/L") || n == 0 && !strings.Contains(said, "mIU/L") {
				t.Errorf("units on page %d:\n%s", n+1, said)
			}
		}
	}
}
