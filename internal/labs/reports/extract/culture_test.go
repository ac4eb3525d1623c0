package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// cultureRows returns the rows of a report in words.
func cultureRows(t *testing.T, lines ...string) string {
	t.Helper()
	var got []string
	for _, row := range readText(t, lines...).Rows {
		text := fmt.Sprintf("%s|%s|%s|%s|%s|%s|%s", row.Panel, row.Name, row.Value, row.Unit, row.Flag, row.Interpretation, row.Note)
		if row.NeedsReview {
			text += "|review"
		}
		got = append(got, text)
	}
	return strings.Join(got, "\n")
}

// A culture has its organisms in words, and its drugs with concentration and S, I or R.
func TestCultures(t *testing.T) {
	got := cultureRows(t,
		"MICROBIOLOGY - URINE CULTURE",
		"Gram stain: Gram negative rods, many WBCs",
		"Organism 1: Escherichia coli      >100,000 CFU/mL",
		"",
		"Antibiotic                 MIC (µg/mL)     Interpretation",
		"Ampicillin                 >=32            R",
		"Amoxicillin/Clavulanate    8/4             S",
		"Ceftriaxone                <= 1            S",
		"Cefoperazone               2               I",
		"Nitrofurantoin             <=16            S  see comment",
		"Organism 2: Enterococcus faecalis",
		"Vancomycin       Sensitive",
	)
	want := `|Gram stain|Gram negative rods, many WBCs||||
|Organism 1|Escherichia coli|||abnormal|>100,000 CFU/mL
Escherichia coli|Ampicillin|>=32|µg/mL|R|abnormal|
Escherichia coli|Amoxicillin/Clavulanate|8/4|µg/mL|S|normal|
Escherichia coli|Ceftriaxone|<=1|µg/mL|S|normal|
Escherichia coli|Cefoperazone|2|µg/mL|I|abnormal|
Escherichia coli|Nitrofurantoin|<=16|µg/mL|S|normal|see comment|review
|Organism 2|Enterococcus faecalis|||abnormal|
Enterococcus faecalis|Vancomycin|Sensitive||Sensitive|normal|`
	want = strings.Replace(want, "WBCs||||", "WBCs|||unknown|", 1)
	if got != want {
		t.Errorf("rows are\n%s\nwant\n%s", got, want)
	}
}

// Two organisms side by side need review: a value may be of either.
func TestCultureOfTwoOrganisms(t *testing.T) {
	got := cultureRows(t,
		"Wound culture",
		"Organism 1: Klebsiella pneumoniae",
		"Organism 2: Enterococcus faecalis",
		"Drug            MIC   Interp      MIC   Interp",
		"Ampicillin      >16   R           <=2   S",
		"Gentamicin      <=1   S",
	)
	want := `|Organism 1|Klebsiella pneumoniae|||abnormal|
|Organism 2|Enterococcus faecalis|||abnormal|
Klebsiella pneumoniae|Ampicillin|>16||R|abnormal||review
Enterococcus faecalis|Ampicillin|<=2||S|normal||review
Klebsiella pneumoniae, Enterococcus faecalis|Gentamicin|<=1||S|normal||review`
	if got != want {
		t.Errorf("rows are\n%s\nwant\n%s", got, want)
	}
}

// Levels of drugs and serology are no cultures.
func TestDrugLevelsAreNoCultures(t *testing.T) {
	result := read(t, FromText,
		"Urine culture              No growth (2 days)",
		"Bacteria                   None seen          None seen                     ",
		"Vancomycin                 15.1               10-20               ug/mL     ",
		"Neisseria gonorrhoeae DNA  Not detected       Not detected                  ",
	)
	if row := find(t, result, "Urine culture"); row.Value != "No growth" || row.Note != "2 days" {
		t.Errorf("%+v", row)
	}
	if row := find(t, result, "Vancomycin"); row.Unit != "ug/mL" || row.Range.Text != "10-20" || row.culture {
		t.Errorf("%+v", row)
	}
	if slices.ContainsFunc(result.Rows, func(r Row) bool { return r.culture }) {
		t.Errorf("%+v", result.Rows)
	}
}
