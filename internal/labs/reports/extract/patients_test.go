package extract

import (
	"slices"
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
		pages := []Page{printed(FromText, append(slices.Clone(head), body[1:]...)...), printed(FromText, append([]string{c.second, ""}, body...)...)}
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
