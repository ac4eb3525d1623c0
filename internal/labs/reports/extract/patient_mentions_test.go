package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// annasHead is the head of a report of Anna Keller.
var annasHead = []string{
	"Alpine Diagnostics Laboratory",
	"Patient: Anna Keller",
	"Date of birth: 1984-03-12",
	"Sex: Female",
	"Collected: 2026-11-20",
	"Reported: 2026-11-21",
	"",
}

var (
	tableAbove = []string{"Test                       Result      Unit        Reference", "Potassium                  4.1         mmol/L      3.5-5.1", "Chloride                   101         mmol/L      98-107", ""}
	tableBelow = []string{"", "Test                       Result      Unit        Reference", "Sodium                     118         mmol/L      136-145"}
)

// readWithLines reads a report of Anna Keller with lines on the second page, between the
// tables of a page.
func readWithLines(t *testing.T, source Source, head []string, lines string, samePage bool) Result {
	t.Helper()
	first, second := slices.Concat(head, tableAbove), append(strings.Split(lines, "\n"), tableBelow...)
	var doc Document
	if samePage {
		doc.Pages = []Page{printedPage(source, slices.Concat(first, second)...)}
	} else {
		doc.Pages = []Page{printedPage(source, first...), printedPage(source, second...)}
		doc.Pages[1].Number = 2
	}
	result, err := Read(doc)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// A line that names another person makes a report of several persons, without a birth
// date or a sex too. No such line becomes a result.
func TestLinesThatNameAnotherPerson(t *testing.T) {
	for _, lines := range []string{
		"Patient: Marco Rossi",
		"Patient: Rossi, Marco",
		"Patient: Rossi, Marco   Page 2 of 2",
		"Patient: Marco Rossi   MRN: 88213   Page 2 of 2",
		"Patient: Rossi, Marco   Sex: M",
		"Patient: Rossi",
		"PATIENT: ROSSI MARCO",
		"Patient:            Marco Rossi",
		"Patient name: Rossi, Marco",
		"Patient name     Rossi, Marco",
		"Patient Name: rossi, marco",
		"Patient: Mr. Marco Rossi",
		"Patient     Marco Rossi",
		"Patient Rossi, Marco   Page 2 of 2",
		"Patient            MRN\nMarco Rossi        88213",
		"Patient: Marco Rossi   Physician: Hans Meier",
		"Name: Marco Rossi   Ordering physician: Hans Meier",
		"PATIENT NAME : ROSSI MARCO",
		"Pt Name: Rossi, Marco",
		"Patient name/ID: Rossi, Marco / 88213",
		"Patient (last, first): Rossi, Marco",
		"Donor name: Marco Rossi",
		"PATIENT INFORMATION         PHYSICIAN\nName: Marco Rossi           Name: Hans Meier",
		"PHYSICIAN                   PATIENT\nName: Hans Meier            Name: Marco Rossi",
		"Physician: Hans Meier       ROSSI Marco   *30.07.1951",
		"Collected: 2026-11-20       Patient: Marco Rossi",
		"Patient: Dr. Marco Rossi",
		"Patient: Marco van der Berg",
		"Patient: Marco Keller",
		"Patient: Anna Rossi",
		"Patient: Keller, M.",
		"Patient: Jimmy Page",
		"Patient: See, Marco",
		"Patient: Łukasz Żółć",
		"Name: ROSSI Marco",
		"Name: Marco Rossi",
		"Full name: Marco Rossi",
		"First name: Marco\nLast name: Rossi",
		"First name: Marco   Last name: Rossi",
		"Re: Marco Rossi",
		"Results for Marco Rossi",
		"Marco Rossi 1951-07-30 male",
		"Marco Rossi, 1951-07-30",
		"Ana Rossi   1951-07-30",
		"Marco Rossi     1951-07-30     male",
		"Mr. Marco Rossi, born 30 July 1951",
		"Rossi Marco, geb. 30.07.1951",
		"Rossi Marco, 75 Y / M",
		"ROSSI, Marco   MRN 88213",
		"Patient ID 88213   ROSSI^MARCO   19510730",
		"Patient ID 88213   ROSSI MARCO   19510730",
		"ROSSI Marco   *30.07.1951   Page 2 of 2",
		"ROSSI, Marco, 30.07.1951, M",
		"Rossi, Marco (M) DOB: 30/07/1951 MRN 88213",
		"Keller, Anna, 30.07.1951, F",
		"Keller, Marco, 12.03.1984, M",
		"Ordering physician: Hans Meier\nPatient: Marco Rossi",
		"Ordering physician: Hans Meier\nName: Marco Rossi",
		"Patient: Anna Keller\nPatient: Marco Rossi",
	} {
		for _, samePage := range []bool{false, true} {
			result := readWithLines(t, FromText, annasHead, lines, samePage)
			m := result.Metadata
			isAnna := m.FirstName == "Anna" && m.LastName == "Keller" || samePage && strings.HasPrefix(lines, "First name")
			if !m.SeveralPatients || len(m.Others) == 0 || !isAnna || m.BirthDate != "1984-03-12" {
				t.Errorf("%q, one page %v: %+v", lines, samePage, m)
			}
			if len(result.Rows) != 3 || find(t, result, "Sodium").Value != "118" {
				t.Errorf("%q, one page %v: %+v", lines, samePage, result.Rows)
			}
		}
		if !readWithLines(t, FromOCR, annasHead, lines, false).Metadata.SeveralPatients {
			t.Errorf("%q in an image is not another person", lines)
		}
	}
}

// The same person in another form, a doctor, a laboratory, and words that are no name are
// not another person.
func TestLinesThatNameNoOtherPerson(t *testing.T) {
	anna, annaMaria, zoe := annasHead, slices.Clone(annasHead), slices.Clone(annasHead)
	paged := slices.Clone(annasHead)
	paged[1] = "Patient: Keller, Anna   Ward 3"
	annaMaria[1], zoe[1] = "Patient: Anna Maria Keller", "Patient: Zoë Müller-O’Brien"
	for _, c := range []struct {
		head  []string
		lines []string
	}{
		{anna, []string{
			"Patient: Anna Keller", "Patient: Keller, Anna", "Patient: KELLER ANNA", "Patient: KELLER, ANNA   Page 2 of 2", "Patient: A. Keller", "Patient: Keller, A.", "Patient: Keller A",
			"Patient: Keller (Huber), Anna", "Patient: Anna Keller (née Huber)", "Patient: Anna Keller née Huber", "Patient: Anna Keller geb. Huber", "Patient: Anna Keller-Huber",
			"Patient: Anna Maria Keller", "Patient: Keller, Anna M.", "Patient: Mrs. Anna Keller", "Patient: Keller, Anna   MRN: 88213   Page 2 of 2", "Patient: Änna Kéller", "Patient: Keller",
			"Patient: Keller, Anna (F)   12.03.1984", "Patient: Anna Keller   F   42 Y", "Patient name: Keller, Anna   Sex: F", "Name: Keller Anna", "Re: Anna Keller", "Results for Anna Keller",
			"KELLER^ANNA   19840312", "KELLER Anna   *12.03.1984   Page 2 of 2", "Keller Anna, geb. 12.03.1984", "Anna Keller 1984-03-12 female", "Keller, Anna   MRN 88213", "First name: Anna\nLast name: Keller",
			"Anna Keller, 42 Y / F", "Patient: Keller,\nAnna", "Keller, Anna M   *12.03.1984", "Keller, Anna M.   1984-03-12", "Patient: Anna Keller   Sex: Unknown",
		}},
		{paged, []string{"Patient: Keller, Anna   Page 2 of 2", "Patient: Keller, Anna   DOB: 1984-03-12   Page 2 of 2", "Patient: Anna Keller   Room 3   DOB: 1984-03-12"}},
		{annaMaria, []string{"Patient: Anna Keller", "Patient: Keller, Anna M.", "Patient: A. M. Keller", "KELLER ANNA MARIA   *12.03.1984"}},
		{zoe, []string{"Patient: MUELLER-OBRIEN ZOE", "Patient: Zoe Muller O'Brien", "Patient: Zoe Müller   DOB: 1984-03-12   Sex: F", "MULLER-O'BRIEN^ZOE^^^"}},
		{anna, []string{
			"Ordering physician: Marco Rossi", "Ordering physician: Dr. Marco Rossi, MD", "Referring doctor: ROSSI^MARCO", "Re: your request", "Re: Your Request of 2026-11-19", "Re: Lab Results", "Re: Vitamin D",
			"cc: Dr. Rossi", "cc: Marco Rossi", "Electronically signed by Marco Rossi 2026-11-21", "Marco Rossi, MD 2026-11-21", "Dr. Marco Rossi   2020-01-15", "Marco Rossi   2026-11-21",
			"Physician\nName: Marco Rossi", "Reviewed by:\nName: Marco Rossi", "Approved by Marco Rossi, pathologist", "Laboratory director: Marco Rossi, PhD",
			"Northwind Medical Laboratory   2020-01-15", "Performed at Northwind Laboratory, Zurich", "Lab name: Northwind Labs", "Name: Northwind Diagnostics", "Accredited since 2001-05-04",
			"Name of test", "Test name: Zonulin Family Peptide", "Name: Zonulin Antibody", "Name: Sodium", "Previous Result   2024-05-06", "Last Visit 2024-05-06", "Effective Date 2020-01-01",
			"Patient: see page 1", "Patient: See Page 1", "Patient: Fasting", "Patient: fasting since 8 pm", "Patient: Not Fasting", "Patient: same as above", "Patient: Outpatient", "Patient information",
			"Patient ID: 88213", "Patient status: Final", "Patient instructions: Repeat In Two Weeks", "Page 2 of 2", "Mother: Ada Keller", "Patient: Your Results Explained",
			"Patient                     Ordering physician\nAnna Keller                 Marco Rossi\n12.03.1984                  Alpine Practice",
			"PATIENT INFORMATION         PHYSICIAN\nName: Anna Keller           Name: Marco Rossi\nDOB: 1984-03-12             NPI: 1234567890",
			"PHYSICIAN                   PATIENT\nName: Marco Rossi           Name: Anna Keller", "Keller, Anna      Patient ID: 88213      Accession: 20261120",
			"Name : Mrs. Anna Keller        Ref. By : Dr. Marco Rossi\nAge/Sex : 42 Y / F             Collected : 20/11/2026", "Patient: Anna Keller   Physician: Marco Rossi   DOB: 1984-03-12",
			"Physician: Marco Rossi   Patient: Anna Keller", "Patient          DOB            Sex\nAnna Keller      1984-03-12     F", "Phone: 555 1234   Director: Marco Rossi, MD   CLIA 20201122",
			"Name: Marco Rossi   Title: Laboratory Director   Date: 2026-11-21", "Results for Alpine Practice", "Reference ranges for Adult Female 2020-01-01", "Patient: 42 Y / F", "Patient: Pregnant", "Patient: Room Air", "Patient age 42 Y F",
			"Staphylococcus Aureus   2024-05-06", "Influenza Vaccine 2019-10-05", "Client: Alpine Practice\nMarco Rossi, MD\n12 Main Street", "Patient Care Center", "Patient Result     Control", "Dear Mr. Rossi", "Patient Name, Address",
			"Patient            MRN\nAnna Keller        88213", "Policy holder: Marco Rossi", "Emergency contact: Marco Rossi   MRN 88213", "Glucose Tolerance 2024-05-06", "Account: Alpine Practice   88213",
		}},
	} {
		for _, lines := range c.lines {
			for _, samePage := range []bool{false, true} {
				result := readWithLines(t, FromText, c.head, lines, samePage)
				if m := result.Metadata; m.SeveralPatients {
					t.Errorf("%q, one page %v: %+v", lines, samePage, m.Others)
				}
				if slices.ContainsFunc(result.Rows, func(row Row) bool { return strings.Contains(row.Name, "Keller") }) {
					t.Errorf("%q, one page %v: a name is a result", lines, samePage)
				}
			}
		}
	}
}

// A wrong letter in an image makes no other person. In a text it does.
func TestMisreadLettersOfNames(t *testing.T) {
	for source, want := range map[Source]bool{FromText: true, FromOCR: false} {
		if m := readWithLines(t, source, annasHead, "Patient: Anna Kcller", false).Metadata; m.SeveralPatients != want {
			t.Errorf("%s: %+v", source, m.Others)
		}
	}
}

// Of two readings of an image, one is enough to see another person. A second reading with
// wrong letters is not.
func TestPersonInOneReading(t *testing.T) {
	for name, want := range map[string]bool{"Patient: Marco Rossi": true, "Patient: Arnrna Kelkr": false} {
		for _, isFirst := range []bool{true, false} {
			pages := []Page{printedPage(FromOCR, slices.Concat(annasHead, tableAbove)...), printedPage(FromOCR, tableBelow...)}
			other := printedPage(FromOCR, append([]string{name}, tableBelow[1:]...)...)
			pages[0].Second, pages[1].Second, pages[1].Number = pages[0].Words, other.Words, 2
			if isFirst {
				pages[1].Words, pages[1].Second = other.Words, pages[1].Words
			}
			result, err := Read(Document{Pages: pages})
			if err != nil {
				t.Fatal(err)
			}
			if got := result.Metadata.SeveralPatients; got != (want || isFirst) {
				t.Errorf("%s, first reading %v: %+v", name, isFirst, result.Metadata)
			}
		}
	}
}

// A table with a column of patients is a report of several persons, unless all rows name
// one.
func TestColumnOfPatients(t *testing.T) {
	for _, header := range []string{"Patient", "Patient name", "Name"} {
		for _, withHead := range []bool{false, true} {
			for names, want := range map[string]bool{
				"Anna Keller|Marco Rossi|Lina Weber": true, "Keller, Anna|Keller, Anna|Weber, Lina": true,
				"Anna Keller|Anna Keller|Anna Keller": false, "Anna Keller|KELLER Anna|A. Keller": false,
			} {
				lines := []string{annasHead[0], "Collected: 2026-11-20", ""}
				if withHead {
					lines = slices.Clone(annasHead)
				}
				lines = append(lines, fmt.Sprintf("%-18s %-14s %-14s %-8s %-8s %s", header, "DOB", "Test", "Result", "Unit", "Reference"))
				for i, name := range strings.Split(names, "|") {
					row := [][2]string{{"1984-03-12", "Potassium      4.1      mmol/L   3.5-5.1"}, {"1951-07-30", "Sodium         118      mmol/L   136-145"}, {"1990-01-05", "Glucose        19.1     mmol/L   3.9-5.6"}}[i]
					if !want {
						row[0] = "1984-03-12"
					}
					lines = append(lines, fmt.Sprintf("%-18s %-14s %s", name, row[0], row[1]))
				}
				result, err := Read(Document{Pages: []Page{printedPage(FromText, lines...)}})
				if err != nil {
					t.Fatal(err)
				}
				if m := result.Metadata; m.SeveralPatients != want {
					t.Errorf("%s, %s, head %v: %+v", header, names, withHead, m)
				}
			}
		}
	}
}

// The name of a report whose first pages have none is the first one behind a label.
func TestNameOnALaterPage(t *testing.T) {
	pages := []Page{
		printedPage(FromText, append(slices.Clone(annasHead[2:]), tableAbove...)...), printedPage(FromText, tableBelow...),
		printedPage(FromText, append([]string{"Patient: Marco Rossi"}, tableBelow...)...),
	}
	for i := range pages {
		pages[i].Number = i + 1
	}
	result, err := Read(Document{Pages: pages})
	if err != nil {
		t.Fatal(err)
	}
	if m := result.Metadata; m.FirstName != "Marco" || m.LastName != "Rossi" {
		t.Errorf("%+v", m)
	}
}
