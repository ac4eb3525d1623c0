package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A row with a value only under the earlier date is kept for a person, without a number,
// and keeps its range.
func TestRowWithOnlyAnOlderValue(t *testing.T) {
	lines := append(slices.Clone(head[:4]),
		"Test                  11/20/2024     03/02/2024     Units        Reference Range",
		"Glucose               92             131            mg/dL        70-99          ",
		"Ferritin                             8              ng/mL        15-150         ",
		"Potassium             4.2            7.1            mmol/L       3.5-5.1        ",
	)
	result, err := Read(Document{Pages: []Page{printedPage(FromText, lines...)}})
	if err != nil {
		t.Fatal(err)
	}
	if row := find(t, result, "Ferritin"); row.Value != "8" || row.Number != nil || row.Interpretation != "unknown" || row.Range.Text != "15-150" || !slices.Contains(row.Reasons, OlderResult) {
		t.Errorf("the older value: %+v", row)
	}
	if row := find(t, result, "Potassium"); row.Value != "4.2" || row.Range.Text != "3.5-5.1" || row.NeedsReview {
		t.Errorf("the next row: %+v", row)
	}
}

// In a report with decimal commas, 1,250 may be a thousand or one: its number is not
// certain, unless the range has three decimals too.
func TestAmbiguousComma(t *testing.T) {
	result := read(t, FromText,
		"Glucose                    5,2                3,9-5,5             mmol/L    ",
		"Potassium                  4,2                3,5-5,1             mmol/L    ",
		"Hemoglobin                 9,8         L      11,1-15,9           g/dL      ",
		"Platelets                  1,250       H      150-400             10^3/uL   ",
		"Specific Gravity           1,015              1,005-1,030                   ",
	)
	if row := find(t, result, "Platelets"); row.Number != nil || row.Value != "1,250" || row.Interpretation != "abnormal" || !slices.Contains(row.Reasons, NumberUncertain) {
		t.Errorf("1,250: %+v", row)
	}
	if row := find(t, result, "Specific Gravity"); row.Number == nil || *row.Number != 1.015 {
		t.Errorf("1,015: %+v", row)
	}
}

// A row without a current value is kept without a number, and lends its range to no other
// row.
func TestRowsWithoutACurrentValue(t *testing.T) {
	result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]),
		"Test                       Result      Previous    Reference range     Units     ",
		"Glucose                    91          88          70-99               mg/dL     ",
		"Ferritin                               8           15-150              ng/mL     ",
		"Potassium                  pending     7.1         3.5-5.1             mmol/L    ",
		"Zonulin Peptide            awaited     7.1         3-5                 ng/mL     ",
		"Calcium                    9.4                                         mg/dL     ",
		"Magnesium                                          1.5-2.5             mg/dL     ",
		"Chloride                   101         99          98-107              mmol/L    ",
	)...)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		name, value, rng string
		reason           Reason
	}{
		{"Glucose", "91", "70-99", ""},
		{"Ferritin", "8", "15-150", OlderResult},
		{"Potassium", "pending", "3.5-5.1", ""},
		{"Zonulin Peptide", "awaited", "3-5", ""},
		{"Calcium", "9.4", "", ""},
		{"Magnesium", "", "1.5-2.5", ValueMissing},
		{"Chloride", "101", "98-107", ""},
	} {
		row := find(t, result, want.name)
		if row.Value != want.value || row.Range.Text != want.rng || want.reason != "" && (row.Number != nil || !slices.Contains(row.Reasons, want.reason)) {
			t.Errorf("%+v: %+v", want, row)
		}
	}
}

// Results under a heading of earlier results are not current ones.
func TestSectionOfEarlierResults(t *testing.T) {
	result := read(t, FromText,
		"Glucose                    91                 70-99               mg/dL     ",
		"",
		"PREVIOUS RESULTS",
		head[4],
		"Potassium                  7.1         H      3.5-5.1             mmol/L    ",
		"CURRENT RESULTS",
		"Sodium                     139                135-145             mmol/L    ",
		"Previous Hemoglobin        9.1                12-16               g/dL      ",
		"Target INR                 2.5                2.0-3.0                       ",
	)
	if row := find(t, result, "Potassium"); row.Number != nil || !slices.Contains(row.Reasons, OlderResult) {
		t.Errorf("under the heading: %+v", row)
	}
	if row := find(t, result, "Sodium"); row.Number == nil || row.NeedsReview {
		t.Errorf("under the next heading: %+v", row)
	}
	if row := find(t, result, "Previous Hemoglobin"); row.Number != nil || !row.NeedsReview {
		t.Errorf("a name that says so: %+v", row)
	}
	if len(result.Rows) != 4 {
		t.Errorf("%d rows", len(result.Rows))
	}
}

// The newest of two dated columns is the current one, also if its date is on the same line as the
// words. Columns whose words are not known need a review in all rows.
func TestCurrentColumn(t *testing.T) {
	for _, c := range []struct {
		older, newer string
		onRight      bool // the older column
		uncertain    bool
	}{
		{older: "Prior result (03/04/2026)", newer: "Result (10/17/2026)"},
		{older: "Previous (03/04/2026)", newer: "Current (10/17/2026)"},
		{older: "Previous, 04 Mar 2026", newer: "Current, 17 Oct 2026"},
		{older: "Prior 03/04/26", newer: "Result"},
		{older: "Prior result", newer: "Result (10/17/2026)"},
		{older: "Prior result (03/04/2026)", newer: "Result (10/17/2026)", onRight: true},
		{older: "Previous 03/04/2026", newer: "Visit 10/17/2026"},
		{older: "03/04/2026", newer: "10/17/2026"},
		{older: "Current (03/04/2026)", newer: "Previous (10/17/2026)", uncertain: true},
		{older: "Baseline", newer: "Follow-up", uncertain: true},
		{older: "Before treatment", newer: "After treatment", uncertain: true},
		{older: "Before treatment", newer: "After treatment", onRight: true, uncertain: true},
		{older: "Specimen 1", newer: "Specimen 2", uncertain: true},
		{older: "Result 03/04/2026", newer: "Result 04/03/2026", uncertain: true},
		{older: "First result", newer: "Second result", uncertain: true},
	} {
		line := func(name, older, newer, unit, rng string) string {
			if c.onRight {
				older, newer = newer, older
			}
			return fmt.Sprintf("%-16s%-30s%-30s%-10s%s", name, older, newer, unit, rng)
		}
		result, err := Read(Document{Pages: []Page{printedPage(FromText, head[0], "Patient: Mara Quillfeather      DOB: 1980-03-04     Sex: F", "",
			line("Test", c.older, c.newer, "Units", "Reference range"),
			line("Glucose", "101", "92", "mg/dL", "70-99"), line("Potassium", "5.9", "4.1", "mmol/L", "3.5-5.1"), line("Creatinine", "2.4", "", "mg/dL", "0.5-1.1"))}})
		if err != nil {
			t.Fatal(err)
		}
		glucose, potassium, creatinine := find(t, result, "Glucose"), find(t, result, "Potassium"), find(t, result, "Creatinine")
		if c.older == "First result" {
			if !glucose.NeedsReview || !potassium.NeedsReview || !creatinine.NeedsReview {
				t.Errorf("%+v: %+v", c, result.Rows)
			}
			continue
		}
		if glucose.Value != "92" || potassium.Value != "4.1" || glucose.NeedsReview != c.uncertain || potassium.NeedsReview != c.uncertain {
			t.Errorf("%+v: %s %v, %s %v", c, glucose.Value, glucose.Reasons, potassium.Value, potassium.Reasons)
		}
		if !slices.Contains(creatinine.Reasons, OlderResult) || creatinine.Number != nil {
			t.Errorf("%+v: without a current value: %+v", c, creatinine)
		}
	}
}

// Columns whose dates are all well before the day of collection hold earlier results.
func TestColumnsBeforeTheCollection(t *testing.T) {
	for header, want := range map[string]bool{
		"Test             03/01/2024     09/01/2023     Units     Reference":                     true,
		"Test             Result (03/01/2024)     Previous (09/01/2023)     Units     Reference": true,
		"Test             05/06/2024     09/01/2023     Units     Reference":                     false,
		"Test             05/05/2024     09/01/2023     Units     Reference":                     false,
	} {
		at := func(word string) int { return strings.Index(header, word) }
		row := func(name, value, older, unit, rng string) string {
			line := []byte(strings.Repeat(" ", 110))
			second := strings.LastIndex(header[:at("Units")], "     ")
			second = strings.LastIndex(strings.TrimRight(header[:second], " "), "     ") + 5
			for place, text := range map[int]string{0: name, 17: value, second: older, at("Units"): unit, at("Reference"): rng} {
				copy(line[place:], text)
			}
			return string(line)
		}
		result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]), header,
			row("Ferritin", "8", "12", "ng/mL", "15-150"), row("Iron", "31", "40", "ug/dL", "50-170"), row("Sodium", "139", "138", "mmol/L", "135-145"))...)}})
		if err != nil {
			t.Fatal(err)
		}
		for i, value := range []string{"8", "31", "139"} {
			if row := result.Rows[i]; row.Value != value || slices.Contains(row.Reasons, OlderResult) != want || (row.Number == nil) != want {
				t.Errorf("%s: %+v", header, row)
			}
		}
	}
}

// If a report states two days of collection, the result says so. It has the rows of
// both days, even if a test occurs on both.
func TestTwoCollections(t *testing.T) {
	first := append(slices.Clone(head), "Sodium                     139                135-145             mmol/L", "Glucose                    92                 70-99               mg/dL")
	for second, want := range map[string]bool{"Collected: 2024-05-18": true, "Collected: 2024-05-06 08:30": false, "Previous sample collected: 2024-05-01": false} {
		more := []string{"", second, "", head[4], "Sodium                     139                135-145             mmol/L", "Creatinine                 0.9                0.5-1.1             mg/dL"}
		pages := []Page{printedPage(FromText, first...), printedPage(FromText, more...)}
		pages[1].Number = 2
		for _, doc := range []Document{{Pages: pages}, {Pages: []Page{printedPage(FromText, slices.Concat(first, more)...)}}} {
			result, err := Read(doc)
			if err != nil {
				t.Fatal(err)
			}
			rows := 3
			if want {
				rows = 4
			}
			if m := result.Metadata; m.SeveralCollections != want || m.CollectedDate != "2024-05-06" || len(result.Rows) != rows {
				t.Errorf("%s: %+v, %d rows", second, m, len(result.Rows))
			}
		}
	}
}

// Dates of headers may take two lines. Without a header that is read, a second number in the
// row may be the current one.
func TestDatesOnTwoLines(t *testing.T) {
	for _, c := range []struct {
		header    []string
		value     string
		uncertain bool
	}{
		{[]string{"Test             16 Jul      14 Dec      14 Mar      Units      Range     ", "                 2022        2022        2023                              "}, "153", false},
		{[]string{"Test             visit A3    visit B7    visit C9    Units      Range     "}, "", true},
	} {
		result, err := Read(Document{Pages: []Page{printedPage(FromText, slices.Concat(head[:2], []string{"Collected: 2023-03-14", ""}, c.header, []string{
			"Sodium           142         139         153         mmol/L     135-146   ",
			"Zonulin          -           48          44          ng/mL      <45       ",
		})...)}})
		if err != nil {
			t.Fatal(err)
		}
		row := find(t, result, "Sodium")
		if c.value != "" && row.Value != c.value || slices.Contains(row.Reasons, ColumnUncertain) != c.uncertain {
			t.Errorf("%s: %s %v", c.header[0], row.Value, row.Reasons)
		}
	}
}

// A header can name the earlier results by a span of time, a year or a time of the day. An
// empty current column does not make them current.
func TestColumnsOfEarlierTimes(t *testing.T) {
	for _, c := range []struct {
		older, newer []string // the lines of the headers
		sameDay      bool
	}{
		{older: []string{"3 months ago"}, newer: []string{"Today"}},
		{older: []string{"6 weeks ago"}, newer: []string{"Today"}},
		{older: []string{"Admission"}, newer: []string{"Today"}},
		{older: []string{"Yesterday"}, newer: []string{"Today"}},
		{older: []string{"1 year ago"}, newer: []string{"Now"}},
		{older: []string{"a year ago"}, newer: []string{"Result"}},
		{older: []string{"Last visit"}, newer: []string{"This visit"}},
		{older: []string{"2025"}, newer: []string{"2026"}},
		{older: []string{"Nov 2025"}, newer: []string{"Nov 2026"}},
		{older: []string{"11/2025"}, newer: []string{"02/2026"}},
		{older: []string{"20.11.2026", "08:15"}, newer: []string{"20.11.2026", "14:30"}, sameDay: true},
		{older: []string{"2026-11-20 08:15"}, newer: []string{"2026-11-20 14:30"}, sameDay: true},
	} {
		for _, onRight := range []bool{false, true} {
			line := func(name, older, newer, unit, rng string) string {
				if onRight {
					older, newer = newer, older
				}
				return fmt.Sprintf("%-16s%-30s%-30s%-10s%s", name, older, newer, unit, rng)
			}
			lines := []string{head[0], "Patient: Mara Quillfeather      DOB: 1980-03-04     Sex: F", "", line("Test", c.older[0], c.newer[0], "Unit", "Reference")}
			if len(c.older) > 1 {
				lines = append(lines, line("", c.older[1], c.newer[1], "", ""))
			}
			lines = append(lines, line("Sodium", "131", "139", "mmol/L", "135-145"), line("Potassium", "6.3 HH", "", "mmol/L", "3.5-5.1"), line("HIV 1/2 Ab", "Reactive", "", "", "Non-reactive"))
			result, err := Read(Document{Pages: []Page{printedPage(FromText, lines...)}})
			if err != nil {
				t.Fatal(err)
			}
			sodium, potassium := find(t, result, "Sodium"), find(t, result, "Potassium")
			if sodium.Value != "139" || slices.Contains(sodium.Reasons, ColumnUncertain) != c.sameDay || len(result.Rows) != 3 {
				t.Errorf("%+v: %+v", c, result.Rows)
			}
			if row := find(t, result, "HIV 1/2 Ab"); row.Interpretation != "unknown" || !slices.Contains(row.Reasons, OlderResult) {
				t.Errorf("%+v: an answer: %+v", c, row)
			}
			if potassium.Number != nil || potassium.Interpretation != "unknown" || !slices.Contains(potassium.Reasons, OlderResult) {
				t.Errorf("%+v: without a current value: %+v", c, potassium)
			}
		}
	}
}

// A value that is a year makes no header of its row. A value under words that are not known
// needs review.
func TestRowsThatLookLikeHeaders(t *testing.T) {
	result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]),
		"Test                       Sqx         Result      Unit        Reference     ",
		"BNP marker                 2020                    pg/mL       0-100         ",
		"Sodium                                 139         mmol/L      135-145       ",
		"Potassium                  6.3                     mmol/L      3.5-5.1       ",
	)...)}})
	if err != nil {
		t.Fatal(err)
	}
	if row := find(t, result, "Sodium"); row.Value != "139" || row.NeedsReview {
		t.Errorf("%+v", row)
	}
	for _, name := range []string{"BNP marker", "Potassium"} {
		if row := find(t, result, name); !slices.Contains(row.Reasons, ColumnUncertain) {
			t.Errorf("%+v", row)
		}
	}
}

// Headers of another language in a report in English do not exchange values and ranges.
func TestTranslatedHeaders(t *testing.T) {
	for _, header := range []string{
		"Test                       Résultat       Unité          Valeurs de référence     ",
		"Test                       Resultat       Einheit        Norm                     ",
		"Untersuchung               Ergebnis       Einheit        Referenzbereich          ",
		"Test                       Wert           Einheit        Normbereich              ",
	} {
		result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]), header,
			"Potassium                  6,9            mmol/l         3,5 à 5,1                ",
			"Sodium                     139            mmol/l         136 - 145                ",
			"Creatinine                 4,2            mg/dl          0,5 - 1,1                ",
			"CRP                        8 H            mg/l           inférieur à 5            ",
		)...)}})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"Potassium": "6,9 abnormal", "Sodium": "139 normal", "Creatinine": "4,2 abnormal", "CRP": "8 abnormal"} {
			if row := find(t, result, name); row.Value+" "+row.Interpretation != want || slices.Contains(row.Reasons, ColumnUncertain) {
				t.Errorf("%s: %+v", header, row)
			}
		}
	}
}
