package extract

import (
	"slices"
	"testing"
)

// readContinued reads a table whose second page has no header. All words of the second page
// are moved to the right.
func readContinued(t *testing.T, header, row string, moved float64, lines ...string) Result {
	t.Helper()
	first := printedPage(FromText, append(slices.Clone(head[:4]), header, row)...)
	second := printedPage(FromText, lines...)
	second.Number = 2
	for i := range second.Words {
		second.Words[i].Box.X += moved
	}
	result, err := Read(Document{Pages: []Page{first, second}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// Rows that have the order of the columns of the page before are read without a header,
// even if their columns are elsewhere.
func TestTableContinues(t *testing.T) {
	const (
		header = "Test                Previous    Result      Flag    Units       Reference range     "
		row    = "Sodium              139         134         L       mmol/L      135-145             "
	)
	for _, moved := range []float64{0, 20, 60} {
		result := readContinued(t, header, row, moved,
			"Urea            5.1      6.6            mmol/L     2.5-7.8             ",
			"Calcium         2.31     2.74      H    mmol/L     2.20-2.60           ",
			"ALT             21       29             U/L        0-34                ")
		if len(result.Rows) != 4 {
			t.Fatalf("moved by %v: %+v", moved, result.Rows)
		}
		for name, value := range map[string]string{"Urea": "6.6", "Calcium": "2.74", "ALT": "29"} {
			if row := find(t, result, name); row.Value != value || row.Unit == "" || !row.Range.hasBounds() || row.NeedsReview || (row.Flag == "H") != (name == "Calcium") {
				t.Errorf("moved by %v: %+v", moved, row)
			}
		}
	}
}

// Rows that do not show the places of the columns need a review, and none is lost.
func TestTableContinuesUnclear(t *testing.T) {
	const (
		header = "Test                Previous    Result      Units       Reference range     "
		row    = "Sodium              139         134         mmol/L      135-145             "
	)
	result := readContinued(t, header, row, 0,
		"Urea                        6.6                mmol/L     2.5-7.8             ",
		"ALT             21       29                               0-34                ")
	for _, name := range []string{"Urea", "ALT"} {
		if row := find(t, result, name); !slices.Contains(row.Reasons, ColumnUncertain) {
			t.Errorf("%+v", row)
		}
	}
}

// A complete row below a header is not lost if its columns are elsewhere.
func TestRowBesideItsColumns(t *testing.T) {
	result := read(t, FromText,
		"Sodium                     141                135-145             mmol/L    ",
		"",
		"Urea                                          6.6         mmol/L     2.5-7.8",
	)
	if row := find(t, result, "Urea"); row.Value != "6.6" || !slices.Contains(row.Reasons, ColumnUncertain) {
		t.Errorf("%+v", row)
	}
}
