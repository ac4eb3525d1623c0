package extract

import (
	"fmt"
	"slices"
	"testing"
)

// Numbers that have one meaning, whatever the rest of the report says.
func TestNumbersOfOneMeaning(t *testing.T) {
	for text, want := range map[string]float64{
		"0,450": 0.45, "0.450": 0.45, "150'000": 150000, "150’000": 150000, "1'234.5": 1234.5, "1'234,5": 1234.5, "1.234,5": 1234.5, "1,234.5": 1234.5,
		"1.234.567": 1234567, "1,234,567": 1234567, "1,50,000": 150000, "1234,567": 1234.567, "12,5": 12.5, "150\u202f000": 150000, "-1.234,5": -1234.5,
	} {
		for _, commas := range []bool{false, true} {
			v, ok := ParseValue(text, commas)
			if !ok || v.Number == nil || *v.Number != want || v.Text != text || v.Rest != "" {
				t.Errorf("%s with decimal commas %v is %+v %v", text, commas, v, v.Number)
			}
			low, _, ok := parseNumber(text, commas)
			if !ok || low != want {
				t.Errorf("%s with decimal commas %v is %v", text, commas, low)
			}
		}
	}
	for text, want := range map[string]string{
		"150'000-400'000": "150000..400000", "150 000 - 400 000": "150000..400000", "4 000-11 000": "4000..11000", "0,450-0,900": "0.45..0.9", "1.234,5 - 2.000,0": "1234.5..2000",
		"< 1'500": "..1500", "<1 500": "..1500", "1,50,000 - 4,50,000": "150000..450000",
	} {
		if r := ParseRange(text, false, Patient{Age: -1}); span(r) != want {
			t.Errorf("%s is %s, want %s", text, span(r), want)
		}
	}
}

// A blank may separate thousands, or a value from the next one.
func TestBlankInNumbers(t *testing.T) {
	for _, c := range []struct{ text, value, rest string }{
		{"150 000", "150 000", ""},
		{"150 000 /uL", "150 000", "/uL"},
		{"250 150-400", "250", "150-400"},
		{"250 150 - 400", "250", "150 - 400"},
		{"5 12", "5", "12"},
		{"5 1234", "5", "1234"},
	} {
		if v, ok := ParseValue(c.text, false); !ok || v.Text != c.value || v.Rest != c.rest {
			t.Errorf("%q is %+v", c.text, v)
		}
	}
}

var (
	withPoints = []string{
		"Potassium                  4.1                3.5-5.1             mmol/L    ",
		"Calcium                    9.4                8.6-10.3            mg/dL     ",
	}
	withCommas = []string{
		"Potassium                  4,1                3,5-5,1             mmol/L    ",
		"Calcium                    9,4                8,6-10,3            mg/dL     ",
	}
	withoutDecimals = []string{
		"Sodium                     141                135-145             mmol/L    ",
		"Chloride                   101                98-107              mmol/L    ",
	}
	withPointGroups = append(slices.Clone(withCommas),
		"Zonulin                    1.234,5            <2.000,0            ng/mL     ")
)

// The other numbers of a report decide about a separator before three digits. If they do
// not, the number is not certain: it is never a thousand times too large or too small.
func TestSeparatorBeforeThreeDigits(t *testing.T) {
	null := "null"
	for _, c := range []struct {
		others           []string
		value, rng, unit string
		number, bounds   string
	}{
		{withPoints, "1,234", "200-900", "pg/mL", "1234", "200..900"},
		{withPoints, "1.234", "0.5-2.0", "ng/mL", "1.234", "0.5..2"},
		{withPoints, "6,500", "4,000-11,000", "/uL", "6500", "4000..11000"},
		{withPoints, "0,450", "0.3-0.9", "ng/mL", "0.45", "0.3..0.9"},
		{withPoints, "150'000", "150'000-400'000", "/uL", "150000", "150000..400000"},
		{withPoints, "150 000", "150 000-400 000", "/uL", "150000", "150000..400000"},
		{withPoints, "139 141", "135-145", "ng/mL", null, "135..145"},
		{withCommas, "1,234", "0,9-1,4", "ng/mL", null, "0.9..1.4"},
		{withCommas, "1,234", "0,900-1,400", "ng/mL", "1.234", "0.9..1.4"},
		{withCommas, "1.234", "200-900", "pg/mL", null, "200..900"},
		{withCommas, "250.000", "150.000-400.000", "/uL", null, ".."},
		{withCommas, "250,000", "150,000-400,000", "/uL", null, ".."},
		{withCommas, "0,450", "0,3-0,9", "ng/mL", "0.45", "0.3..0.9"},
		{withCommas, "1.234,5", "<2.000,0", "ng/mL", "1234.5", "..2000"},
		{withCommas, "150'000", "150'000-400'000", "/uL", "150000", "150000..400000"},
		{withoutDecimals, "1,234", "200-900", "pg/mL", null, "200..900"},
		{withoutDecimals, "1,234", "<300", "pg/mL", null, "..300"},
		{withoutDecimals, ">1,234", "<300", "pg/mL", null, "..300"},
		{withoutDecimals, "1.234", "200-900", "pg/mL", null, "200..900"},
		{withoutDecimals, "1.015", "1.005-1.030", "", "1.015", "1.005..1.03"},
		{withoutDecimals, "6,500", "4,000-11,000", "/uL", null, ".."},
		{withoutDecimals, "6,500", "4000-11000", "/uL", "6500", "4000..11000"},
		{withoutDecimals, "0,450", "0,300-0,900", "ng/mL", "0.45", "0.3..0.9"},
		{withPointGroups, "1,234", "0,9-1,4", "ng/mL", null, "0.9..1.4"},
	} {
		line := fmt.Sprintf("%-27s%-19s%-20s%-10s", "Quxin", c.value, c.rng, c.unit)
		row := find(t, read(t, FromText, append(slices.Clone(c.others), line)...), "Quxin")
		got := null
		if row.Number != nil {
			got = fmt.Sprint(*row.Number)
		}
		uncertain := got == null || c.bounds == ".."
		if got != c.number || span(row.Range) != c.bounds || slices.Contains(row.Reasons, NumberUncertain) != uncertain || row.Value != c.value {
			t.Errorf("%+v is %s in %s: %v", c, got, span(row.Range), row.Reasons)
		}
		if uncertain && row.Interpretation != "unknown" {
			t.Errorf("%+v is %s", c, row.Interpretation)
		}
	}
}

// In a scan, the comma of 1,234 may be a point that was misread.
func TestCommaInAScan(t *testing.T) {
	for _, c := range []struct {
		value, rng string
		number     float64 // 0: not certain
	}{
		{"1,234", "<300", 0},
		{"1,234", "200-900", 1234},
		{"1,015", "1.005-1.030", 1.015},
	} {
		line := fmt.Sprintf("%-27s%-19s%-20s%-10s", "Ferritin", c.value, c.rng, "ng/mL")
		page := printedPage(FromOCR, slices.Concat(head, withPoints, []string{line})...)
		page.Second = page.Words
		result, err := Read(Document{Pages: []Page{page}})
		if err != nil {
			t.Fatal(err)
		}
		row := find(t, result, "Ferritin")
		if c.number == 0 && (row.Number != nil || !slices.Contains(row.Reasons, NumberUncertain)) || c.number != 0 && (row.Number == nil || *row.Number != c.number) {
			t.Errorf("%+v is %+v", c, row)
		}
	}
}

// Numbers with blanks stay whole in running text and in lists.
func TestBlanksInLines(t *testing.T) {
	result := readText(t,
		"Sodium was 139, 141 mmol/L in the repeat sample.",
		"",
		"Potassium 4.1 mmol/L 3.5-5.1",
		"Platelets 250 000 /uL 150 000-400 000",
		"",
		"Leukocytes were 6 500 /uL (4 000-11 000) today.",
	)
	for name, want := range map[string]float64{"Platelets": 250000, "Leukocytes": 6500} {
		if row := find(t, result, name); row.Number == nil || *row.Number != want || row.Interpretation != "normal" {
			t.Errorf("%+v", row)
		}
	}
	if at := slices.IndexFunc(result.Rows, func(row Row) bool { return row.Value == "139 141" }); at >= 0 {
		t.Errorf("two numbers became one: %+v", result.Rows[at])
	}
}
