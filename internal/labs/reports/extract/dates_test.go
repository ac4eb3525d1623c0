package extract

import "testing"

// Only what is impossible decides between day and month.
func TestOrderOfDayAndMonth(t *testing.T) {
	for _, c := range []struct{ birth, collected, reported, wantBirth, wantCollected, wantReported string }{
		{"04/09/1993", "03/04/2026", "04/04/2026", "", "", "2026-04-04"},
		{"04/09/1993", "03/04/2026", "", "", "", ""},
		{"04/29/1993", "03/04/2026", "04/04/2026", "1993-04-29", "2026-03-04", "2026-04-04"},
		{"29/04/1993", "03/04/2026", "04/04/2026", "1993-04-29", "2026-04-03", "2026-04-04"},
		{"04/09/1993", "03/04/2026", "04/13/2026", "1993-04-09", "2026-03-04", "2026-04-13"},
		{"04/09/1993", "05/04/2026", "04/05/2026", "1993-09-04", "2026-04-05", "2026-05-04"}, // 4 May is after 5 April
		{"04/09/1993", "01/11/2026", "2026-02-03", "1993-04-09", "2026-01-11", "2026-02-03"},
	} {
		m := readDates(t, c.birth, "Collected: "+c.collected, c.reported)
		if m.BirthDate != c.wantBirth || m.CollectedDate != c.wantCollected || m.ReportedDate != c.wantReported {
			t.Errorf("%+v: %s, %s, %s", c, m.BirthDate, m.CollectedDate, m.ReportedDate)
		}
	}
}

// A laboratory of the United States puts the month first. One sign is not enough.
func TestDatesOfAnAmericanLaboratory(t *testing.T) {
	for line, want := range map[string]string{
		"Collected: 03/04/2026 07:15 MST     Phoenix, AZ 85001":       "2026-03-04",
		"Collected: 03/04/2026     Fresno, CA 93701  CLIA 05D0000001": "2026-03-04",
		"Collected: 03/04/2026     Fresno, CA 93701":                  "",
		"Collected: 03/04/2026 07:15 EST":                             "",
		"Collected: 03/04/2026 07:15     Dorf 12345":                  "",
	} {
		if m := readDates(t, "04/09/1993", line, "04/05/2026"); m.CollectedDate != want || (m.BirthDate == "") != (want == "") {
			t.Errorf("%s: %q, born %q", line, m.CollectedDate, m.BirthDate)
		}
	}
}

func readDates(t *testing.T, birth, collected, reported string) Metadata {
	t.Helper()
	result, err := Read(Document{Pages: []Page{printedPage(FromText,
		"NORTHWIND LABORATORY", "Patient: Mara Quillfeather      DOB: "+birth+"     Sex: F", collected+"     Reported: "+reported, "", head[4],
		"Sodium                     139                135-145             mmol/L    ",
		"Potassium                  4.4                3.5-5.1             mmol/L    ",
	)}})
	if err != nil {
		t.Fatal(err)
	}
	return result.Metadata
}

// A date behind "Date of sample" is that of the collection, not the number of the specimen.
func TestDateOfSample(t *testing.T) {
	for label, want := range map[string]struct{ collected, specimen string }{
		"Date of sample: 02/11/2026 Lab no: 26C1188":            {"2026-11-02", "26C1188"},
		"Date of sample: 02/11/2026 08:10    Lab no: 26C1188":   {"2026-11-02", "26C1188"},
		"Date of specimen: 2 Nov 2026     Sample no: 26C1188":   {"2026-11-02", "26C1188"},
		"Sampled: 02/11/2026     Specimen No: 26-11-02-0012":    {"2026-11-02", "26-11-02-0012"},
		"Collected: 02/11/2026     Sample: 02/11/2026":          {"2026-11-02", ""},
		"Collected: 02/11/2026     Specimen: 2026-11-02 08:10":  {"2026-11-02", ""},
		"Collected: 02/11/2026     Accession: 261102":           {"2026-11-02", "261102"},
		"Collected: 02/11/2026     Lab no: 26/02/1188":          {"2026-11-02", "26/02/1188"},
		"Date and time of collection: 02/11/2026 Lab no: 26C11": {"2026-11-02", "26C11"},
	} {
		if m := readDates(t, "23/05/1974", label, "13/11/2026"); m.CollectedDate != want.collected || m.Specimen != want.specimen {
			t.Errorf("%s: %q, %q", label, m.CollectedDate, m.Specimen)
		}
	}
}
