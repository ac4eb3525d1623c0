package extract

import (
	"slices"
	"testing"
)

var undated = []string{
	"NORTHWIND LABORATORY                                                       ",
	"Patient: Mara Quillfeather      DOB: 1980-03-04     Sex: F                  ",
	"",
}

// A row with an older date of its own is an older result, whatever the order of the rows.
func TestRowDates(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		older []string // values
		day   string
	}{
		{"newest first", []string{
			"Date          Test                Result      Units       Reference range     ",
			"2024-05-06    Potassium           4.4         mmol/L      3.5-5.1             ",
			"2023-05-06    Potassium           6.4         mmol/L      3.5-5.1             ",
			"2023-05-06    Ferritin            8           ng/mL       15-150              ",
		}, []string{"6.4", "8"}, "2024-05-06"},
		{"oldest first", []string{
			"Test                Collected     Result      Units       Reference range     ",
			"Potassium           06-May-2023   6.4         mmol/L      3.5-5.1             ",
			"Potassium           05-May-2024   4.4         mmol/L      3.5-5.1             ",
			"Potassium           06-May-2024   4.4         mmol/L      3.5-5.1             ",
		}, []string{"6.4", "4.4"}, "2024-05-06"},
		{"merged cells", []string{
			"Date          Test                Result      Units       Reference range     ",
			"2024-05-06    Potassium           4.4         mmol/L      3.5-5.1             ",
			"              Sodium              141         mmol/L      135-145             ",
			"2023-05-06    Potassium           6.4         mmol/L      3.5-5.1             ",
			"              Sodium              129         mmol/L      135-145             ",
		}, []string{"6.4", "129"}, "2024-05-06"},
		{"one day", []string{
			"Date          Test                Result      Units       Reference range     ",
			"2024-05-06    Potassium           4.4         mmol/L      3.5-5.1             ",
			"2024-05-06    Sodium              141         mmol/L      135-145             ",
		}, nil, "2024-05-06"},
		{"no header", []string{
			"Results",
			"2024-05-06    Potassium     4.4     mmol/L      3.5-5.1             ",
			"2023-05-06    Potassium     6.4     mmol/L      3.5-5.1             ",
			"Sodium     2023-05-06       129     mmol/L      135-145             ",
		}, []string{"6.4", "129"}, "2024-05-06"},
		{"day and month in doubt", []string{
			"Date          Test                Result      Units       Reference range     ",
			"05/06/2024    Potassium           4.4         mmol/L      3.5-5.1             ",
			"04/05/2023    Potassium           6.4         mmol/L      3.5-5.1             ",
		}, []string{"6.4"}, ""},
	} {
		result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(undated), c.lines...)...)}})
		if err != nil {
			t.Fatal(err)
		}
		var older []string
		for _, row := range result.Rows {
			if slices.Contains(row.Reasons, OlderResult) {
				older = append(older, row.Value)
				if row.Number != nil || row.Interpretation != "unknown" {
					t.Errorf("%s: %+v", c.name, row)
				}
			} else if row.NeedsReview {
				t.Errorf("%s: %s %s needs review: %v", c.name, row.Name, row.Value, row.Reasons)
			}
		}
		if m := result.Metadata; !slices.Equal(older, c.older) || m.CollectedDate != c.day || m.SeveralCollections || len(result.Rows) != len(c.lines)-1 {
			t.Errorf("%s: %v are older, collected on %q, several: %v, %d rows", c.name, older, m.CollectedDate, m.SeveralCollections, len(result.Rows))
		}
	}
}

// Results are verified days after the collection.
func TestDatesOfLaterSteps(t *testing.T) {
	for _, first := range [][]string{undated, head[:4]} {
		result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(first),
			"Test                Result      Units       Range          Verified",
			"Potassium           4.4         mmol/L      3.5-5.1        2024-05-07",
			"Sodium              141         mmol/L      135-145        2024-05-19",
			"Ferritin            8           ng/mL       15-150         2023-05-01",
		)...)}})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range result.Rows {
			if slices.Contains(row.Reasons, OlderResult) != (row.Name == "Ferritin") {
				t.Errorf("%+v", row)
			}
		}
		if result.Metadata.SeveralCollections {
			t.Errorf("%+v", result.Metadata)
		}
	}
}

// Dates of two days that no rule orders, and two times of one day, need a review.
func TestUnclearRowDates(t *testing.T) {
	result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(undated),
		"Date          Test                Result      Units       Reference range     ",
		"05/06/2024    Potassium           4.4         mmol/L      3.5-5.1             ",
		"06/05/2024    Potassium           6.4         mmol/L      3.5-5.1             ",
	)...)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range result.Rows {
		if !slices.Contains(row.Reasons, ColumnUncertain) {
			t.Errorf("%+v", row)
		}
	}
	result, err = Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]),
		"Collected         Test                Result      Units       Reference range     ",
		"2024-05-06 08:00  Potassium           4.4         mmol/L      3.5-5.1             ",
		"2024-05-06 14:00  Potassium           6.4         mmol/L      3.5-5.1             ",
		"2024-05-07        Sodium              141         mmol/L      135-145             ",
	)...)}})
	if err != nil {
		t.Fatal(err)
	}
	times, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]),
		"Date          Time     Test                Result      Units       Reference range     ",
		"2024-05-06    08:00    Potassium           4.4         mmol/L      3.5-5.1             ",
		"2024-05-06    14:00    Potassium           6.4         mmol/L      3.5-5.1             ",
	)...)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range times.Rows {
		if !slices.Contains(row.Reasons, ColumnUncertain) {
			t.Errorf("%+v", row)
		}
	}
	for _, row := range result.Rows {
		if slices.Contains(row.Reasons, ColumnUncertain) != (row.Name == "Potassium") {
			t.Errorf("%+v", row)
		}
	}
	if len(result.Rows) != 3 || !result.Metadata.SeveralCollections {
		t.Errorf("%d rows, %+v", len(result.Rows), result.Metadata)
	}
}
