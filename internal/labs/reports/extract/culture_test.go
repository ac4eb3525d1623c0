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

// Findings under the microscope are results, on pages with and without cultures. Words
// without a colon are not.
func TestMicroscopy(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"CSF Gram stain: Gram-negative diplococci", "|CSF Gram stain|Gram-negative diplococci|||unknown|"},
		{"AFB smear: 3+ acid fast bacilli seen", "|AFB smear|acid fast bacilli seen|||unknown|3+"},
		{"KOH prep: fungal elements seen", "|KOH prep|fungal elements seen|||unknown|"},
		{"Blood smear: schistocytes 3+", "|Blood smear|schistocytes|||unknown|3+"},
		{"Gram stain:  Gram positive cocci     None seen", "|Gram stain|Gram positive cocci|||abnormal|"},
		{"CSF Gram stain        Gram-negative diplococci     A", "|CSF Gram stain|Gram-negative diplococci||A|abnormal|"},
		{"Gram stain was performed on all samples", ""},
	} {
		for _, more := range [][]string{{"Sodium 139 mmol/L 135-145", "Chloride 101 mmol/L 98-107"}, {"Wound culture: No growth", "Urine culture: No growth"}} {
			got := cultureRows(t, more[0], c.line, more[1])
			if c.want != "" && !slices.Contains(strings.Split(got, "\n"), c.want) || c.want == "" && strings.Contains(got, "|Gram stain|") {
				t.Errorf("%s: rows are\n%s", c.line, got)
			}
		}
	}
}

// The flag and the expected result of a culture have cells of their own. An organism has
// its own row.
func TestCellsOfCultures(t *testing.T) {
	got := cultureRows(t,
		"Blood culture       Staphylococcus aureus in 2 of 2 bottles     No growth",
		"Wound culture       Pseudomonas aeruginosa, heavy growth     A",
		"CSF culture         Neisseria meningitidis     A",
		"Stool: No Salmonella, Shigella or Campylobacter isolated",
		"Culture result: 1) Klebsiella pneumoniae >10^5 CFU/mL  2) Proteus mirabilis 10^4 CFU/mL",
	)
	want := `|Blood culture|Staphylococcus aureus|||abnormal|in 2 of 2 bottles
|Wound culture|Pseudomonas aeruginosa||A|abnormal|heavy growth
|CSF culture|Neisseria meningitidis||A|abnormal|
|Stool|No Salmonella, Shigella or Campylobacter isolated|||unknown|
|Culture result|Klebsiella pneumoniae|||abnormal|>10^5 CFU/mL
|Culture result|Proteus mirabilis|||abnormal|10^4 CFU/mL`
	if got != want {
		t.Errorf("rows are\n%s\nwant\n%s", got, want)
	}
}

// The heading of a culture is not valid for the results below a culture of another sample.
func TestHeadingsOfCultures(t *testing.T) {
	result := readText(t, "Urine Culture", "  >100,000 CFU/mL Escherichia coli", "", "Blood culture: No growth after 5 days.", "SARS-CoV-2 PCR: DETECTED")
	if row := find(t, result, "SARS-CoV-2 PCR"); row.Panel != "" || row.SampleType == "urine" {
		t.Errorf("%+v", row)
	}
	if row := find(t, result, "Organism"); row.SampleType != "urine" {
		t.Errorf("%+v", row)
	}
}
