package extract

import (
	"slices"
	"testing"
)

// specimensOf reads a table below a header and returns the sample type of each row. A
// question mark follows if the row needs a review of its name.
func specimensOf(t *testing.T, header string, lines ...string) []string {
	t.Helper()
	return specimensOn(t, printedPage(FromText, append(append(slices.Clone(head[:4]), header), lines...)...))
}

func specimensOn(t *testing.T, pages ...Page) []string {
	t.Helper()
	result, err := Read(Document{Pages: pages})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, row := range result.Rows {
		specimen := row.SampleType
		if slices.Contains(row.Reasons, NameUncertain) {
			specimen += "?"
		}
		all = append(all, specimen)
	}
	return all
}

const (
	blood           = "serum_plasma_blood"
	specimenColumns = "Specimen    Test                Result      Units       Reference range     "
)

// A blank cell of a column of specimens has the specimen of the cell above it.
func TestBlankSpecimen(t *testing.T) {
	got := specimensOf(t, specimenColumns,
		"Urine       Sodium              61          mmol/L      40-220              ",
		"            Chloride            99          mmol/L      60-250              ",
		"            Potassium           45          mmol/L      25-125              ",
		"Serum       Sodium              139         mmol/L      135-145             ",
		"            Chloride            104         mmol/L      98-107              ")
	if want := []string{"urine", "urine", "urine", blood, blood}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	got = specimensOf(t, "Panel       Test                Result      Units       Reference range     ",
		"Renal       Potassium           4.1         mmol/L      3.5-5.1             ",
		"            Chloride            101         mmol/L      98-107              ",
		"Urine       Sodium              61          mmol/L      40-220              ",
		"            Chloride            99          mmol/L      60-250              ")
	if want := []string{blood, blood, "urine", "urine"}; !slices.Equal(got, want) {
		t.Errorf("panels: %v, want %v", got, want)
	}
}

// A heading ends the rows of a cell.
func TestHeadingEndsSpecimen(t *testing.T) {
	got := specimensOf(t, specimenColumns,
		"Urine       Sodium              61          mmol/L      40-220              ",
		"            Chloride            99          mmol/L      60-250              ",
		"SERUM CHEMISTRY                                                             ",
		"            Potassium           4.1         mmol/L      3.5-5.1             ")
	if want := []string{"urine", "urine", blood}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The word of a merged cell can be beside the first or the middle one of its rows. If both
// are possible, the rows that differ need a review.
func TestMergedSpecimen(t *testing.T) {
	got := specimensOf(t, specimenColumns,
		"            Sodium              61          mmol/L      40-220              ",
		"Urine       Chloride            99          mmol/L      60-250              ",
		"            Potassium           45          mmol/L      25-125              ",
		"            Sodium              139         mmol/L      135-145             ",
		"Serum       Chloride            104         mmol/L      98-107              ",
		"            Potassium           4.4         mmol/L      3.5-5.1             ")
	if want := []string{"urine", "urine", "urine", blood, blood, blood}; !slices.Equal(got, want) {
		t.Errorf("middle: %v, want %v", got, want)
	}
	got = specimensOf(t, specimenColumns,
		"Urine,      Sodium              61          mmol/L      40-220              ",
		"random                                                                      ",
		"Serum or    Chloride            101         mmol/L      98-107              ",
		"plasma                                                                      ",
		"Urine,      Potassium           45          mmol/L      25-125              ",
		"random                                                                      ")
	if want := []string{"urine", blood, "urine"}; !slices.Equal(got, want) {
		t.Errorf("two lines: %v, want %v", got, want)
	}
	p := printedPage(FromText, append(slices.Clone(head[:4]), specimenColumns,
		"            Sodium              61          mmol/L      40-220              ",
		"Urine       Chloride            99          mmol/L      60-250              ",
		"            Sodium              139         mmol/L      135-145             ",
		"Serum       Chloride            104         mmol/L      98-107              ")...)
	for i := range p.Words {
		if w := &p.Words[i]; w.Text == "Urine" || w.Text == "Serum" {
			w.Box.Y -= 6
		}
	}
	if got, want := specimensOn(t, p), []string{"urine", "urine", blood, blood}; !slices.Equal(got, want) {
		t.Errorf("between two rows: %v, want %v", got, want)
	}
	got = specimensOf(t, specimenColumns,
		"Urine       Sodium              61          mmol/L      40-220              ",
		"            Chloride            99          mmol/L      60-250              ",
		"Serum       Potassium           4.1         mmol/L      3.5-5.1             ",
		"            Calcium             2.3         mmol/L      2.15-2.55           ")
	if want := []string{"urine", "urine?", blood, blood}; !slices.Equal(got, want) {
		t.Errorf("both: %v, want %v", got, want)
	}
	got = specimensOf(t, specimenColumns,
		"            Potassium           4.1         mmol/L      3.5-5.1             ",
		"            Calcium             2.3         mmol/L      2.15-2.55           ",
		"Urine       Sodium              61          mmol/L      40-220              ")
	if len(got) != 3 || got[0] != blood+"?" || got[2] != "urine" {
		t.Errorf("nothing above: %v", got)
	}
}

// Blank cells on the next page of a table may belong to the last cell of the page before.
func TestSpecimenOfPageBefore(t *testing.T) {
	first := printedPage(FromText, append(slices.Clone(head[:4]), specimenColumns,
		"Serum       Sodium              139         mmol/L      135-145             ",
		"Urine       Sodium              61          mmol/L      40-220              ")...)
	second := printedPage(FromText, specimenColumns,
		"            Potassium           45          mmol/L      25-125              ",
		"            Chloride            99          mmol/L      60-250              ")
	second.Number = 2
	if got, want := specimensOn(t, first, second), []string{blood, "urine", "urine?", "urine?"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
