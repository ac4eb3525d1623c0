package extract

import (
	"slices"
	"strings"
	"testing"
)

// A file with pages of two persons says so. Repeated heads, another order of the name,
// and pages without a head do not.
func TestPagesOfTwoPersons(t *testing.T) {
	body := []string{
		"Test                       Result      Flag   Reference range     Units     ",
		"Troponin I                 850         HH     0-14                ng/L      ",
		"Sodium                     141                135-145             mmol/L    ",
	}
	for name, c := range map[string]struct {
		second string
		want   bool
	}{
		"another person":             {"Patient: Charles Babbage        DOB: 1979-12-26     Sex: M", true},
		"another birth date":         {"Patient: Mara Quillfeather      DOB: 1981-03-04     Sex: F", true},
		"another name, no birth":     {"Patient: Charles Babbage        Sex: M", true},
		"the same head":              {"Patient: Mara Quillfeather      DOB: 1980-03-04     Sex: F", false},
		"last name first":            {"Patient: QUILLFEATHER, MARA     DOB: 1980-03-04     Sex: F", false},
		"no head":                    {"Page 2 of 2", false},
		"a name without other facts": {"Patient: see page one", false},
	} {
		pages := []Page{printedPage(FromText, append(slices.Clone(head), body[1:]...)...), printedPage(FromText, append([]string{c.second, ""}, body...)...)}
		pages[1].Number = 2
		result, err := Read(Document{Pages: pages})
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Metadata.SeveralPatients; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if others := result.Metadata.Others; c.want && (len(others) != 1 || others[0].LastName == "" || others[0].Gender == "") {
			t.Errorf("%s: the other persons are %+v", name, others)
		}
	}
}

// A number without a range is not normal, even if the report flags other values: the
// reader may have lost the range.
func TestNumbersWithoutARange(t *testing.T) {
	for _, flag := range []string{" ", "H"} {
		result := read(t, FromText,
			"Sodium                     151         "+flag+"      135-145             mmol/L    ",
			"Potassium                  7.9                                    mmol/L    ",
			"Glucose                    91                 70-99               mg/dL     ",
		)
		if row := find(t, result, "Potassium"); row.Interpretation != "unknown" {
			t.Errorf("with the flag %q on another value: %s", flag, row.Interpretation)
		}
	}
}

// A cell with two numbers may have one that is struck out. A specimen in words is no
// number of a sample.
func TestCellsThatAPersonMustRead(t *testing.T) {
	result := read(t, FromText,
		"Sample: Serum",
		"Sodium                     142                135-145             mmol/L    ",
		"Glucose                    402 102            70-99               mg/dL     ",
		"Calcium                    9.4                8.7-10.2            mg/dL     ",
	)
	if row := find(t, result, "Glucose"); !row.NeedsReview {
		t.Errorf("two numbers in a cell: %+v", row)
	}
	if row := find(t, result, "Calcium"); row.Kind == "calculated" || row.NeedsReview {
		t.Errorf("calcium: %+v", row)
	}
	if result.Metadata.Specimen != "" {
		t.Errorf("the specimen number is %q", result.Metadata.Specimen)
	}
}

// Birth dates and names of others are never the patient's.
func TestBirthDatesOfOthers(t *testing.T) {
	for _, c := range []struct {
		lines              string
		first, last, birth string
		isOther            bool
	}{
		{lines: "Patient: Byron, Anna\nMother DOB: 12/10/1984", first: "Anna", last: "Byron", isOther: true},
		{lines: "Patient: Byron, Anna\nMother: Byron, Ada, DOB 12/10/1984\nSex: F", first: "Anna", last: "Byron", isOther: true},
		{lines: "Patient: Byron, Anna    Mother's date of birth: 12/10/1984", first: "Anna", last: "Byron", isOther: true},
		{lines: "Baby girl of Byron, Ada\nMother DOB: 12/10/1984", isOther: true},
		{lines: "Patient: Baby girl of Byron, Ada    Mother DOB: 12/10/1984", isOther: true},
		{lines: "Newborn of: Ada Byron\nMaternal DOB: 12/10/1984   Infant DOB: 10/20/2026", birth: "2026-10-20"},
		{lines: "Patient: Byron, Anna\nPatient DOB: 10/20/2026    Mother DOB: 12/10/1984", first: "Anna", last: "Byron", birth: "2026-10-20"},
		{lines: "Mother DOB: 12/10/1984    Child DOB: 10/20/2026", birth: "2026-10-20"},
		{lines: "Patient: Byron, Anna\nPolicy holder: Ada Byron    DOB: 12/10/1984    Sex: F", first: "Anna", last: "Byron", isOther: true},
		{lines: "Patient: Byron, Anna\nInsured DOB: 12/10/1984", first: "Anna", last: "Byron", isOther: true},
		{lines: "Patient: Byron, Anna\nSubscriber date of birth 12/10/1984", first: "Anna", last: "Byron", isOther: true},
		{lines: "Patient: Byron, Anna\nGuarantor: Ada Byron, born 12/10/1984", first: "Anna", last: "Byron", isOther: true},
		{lines: "Patient: Byron, Anna\nPartner's DOB: 12/10/1984", first: "Anna", last: "Byron", isOther: true},
		{lines: "Patient: Byron, Anna\nFather DOB: 12/10/1984\nSpouse DOB: 11/10/1984", first: "Anna", last: "Byron", isOther: true},
		{lines: "Patient: Byron, Anna    DOB: 10/20/2026    Mother's name: Ada Byron", first: "Anna", last: "Byron", birth: "2026-10-20"},
	} {
		lines := append([]string{head[0]}, strings.Split(c.lines, "\n")...)
		result, err := Read(Document{Pages: []Page{printedPage(FromText, append(lines, "Collected: 10/21/2026", "", head[4],
			"Bilirubin, Total           12.8        H      1.0-12.0            mg/dL",
			"Glucose                    58                 50-80               mg/dL")...)}})
		if err != nil {
			t.Fatal(err)
		}
		if m := result.Metadata; m.FirstName != c.first || m.LastName != c.last || m.BirthDate != c.birth || m.BirthText != "" && c.birth == "" || m.BirthOfOther != c.isOther || m.SeveralPatients {
			t.Errorf("%q: %+v", c.lines, m)
		}
	}
}

// A head between two tables can name a second person. A head of the same person does not.
// Below the last table only the label of a patient counts.
func TestSecondPersonOnAPage(t *testing.T) {
	for line, want := range map[string]bool{
		"Partner: Charles Byron    DOB: 03/03/1980    Sex: M":   true,
		"Partner: Charles Quillfeather    Sex: M":               true,
		"Patient: Charles Babbage    DOB: 03/03/1980    Sex: M": true,
		"DOB: 03/03/1980": true,
		"Patient: Mara Quillfeather    DOB: 1980-03-04    Sex: F": false,
		"Performed at Northwind":                                  false,
	} {
		table := []string{"Glucose                    92                 70-99               mg/dL", "Sodium                     141                135-145             mmol/L"}
		below := []string{"", head[4], "PSA                        1.1                0.0-4.0             ng/mL"}
		for _, lines := range [][]string{append(slices.Concat(table, []string{"", line}), below...), append(slices.Concat(table, below), "", line)} {
			isLast := lines[len(lines)-1] == line && !strings.HasPrefix(line, "Patient:")
			if m := read(t, FromText, lines...).Metadata; m.SeveralPatients != (want && !isLast) || m.LastName != "Quillfeather" || m.BirthDate != "1980-03-04" {
				t.Errorf("%s, below the tables %v: %+v", line, isLast, m)
			}
		}
	}
}
