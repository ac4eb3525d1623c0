package refrange

import (
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"

	"hale/internal/testdata"
)

// The table has the notations that were seen on reports, each with its meaning. Parse
// returns that meaning.
func TestNotations(t *testing.T) {
	file, err := os.Open(testdata.Shared(t, "labs/refrange_notations.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 65 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows[1:] {
		got := tableRow(Parse(row[0]))
		if want := [...]string{row[1], row[2], row[3], row[4], row[5], strings.TrimPrefix(row[6], "normal band = ")}; got != want {
			t.Errorf("%q is %q, want %q", row[0], got, want)
		}
	}
}

// tableRow returns a range in the columns of the table.
func tableRow(r Range) (row [6]string) {
	row[0], row[5] = string(r.Kind), r.Text
	for i, b := range []*Bound{r.Low, r.High} {
		if b == nil {
			continue
		}
		row[1+i] = plainNumber(b.Value)
		row[3+i] = map[bool]string{true: "1", false: "0"}[b.Inclusive]
	}
	if r.Kind == Sexed {
		row[5] = "M=" + endsOf(r.Male) + ";F=" + endsOf(r.Female)
	}
	return row
}

func endsOf(r *Range) string {
	if r == nil {
		return "none"
	}
	text := ".."
	if r.Low != nil {
		text = plainNumber(r.Low.Value) + text
	}
	if r.High != nil {
		text += plainNumber(r.High.Value)
	}
	return text
}

func plainNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Notations beyond the table, in the columns of the table.
func TestMoreNotations(t *testing.T) {
	for text, want := range map[string][6]string{
		"3.5-5.1 mmol/L":            {"interval", "3.5", "5.1", "1", "1", ""},
		"<5.7 %":                    {"upper", "", "5.7", "", "0", ""},
		"0.4 mg/dL or less":         {"upper", "", "0.4", "", "1", ""},
		"−2 - 2":                    {"interval", "-2", "2", "1", "1", ""},
		"1,000 or higher":           {"lower", "1000", "", "1", "", ""},
		"less than or equal to 9":   {"upper", "", "9", "", "1", ""},
		"Normal: <5.7":              {"bands", "", "5.7", "", "0", "Normal"},
		"F: 12-15":                  {"sexed", "", "", "", "", "M=none;F=12..15"},
		"99-70":                     {"other"},
		"2023-01-02":                {"other"},
		"3.5-5.1 weeks ago":         {"other"},
		"Low: <20 High: >30":        {"other"},
		"Normal: <5 Normal: >9":     {"other"},
		"Male: 1-2 Male: 3-4":       {"other"},
		"100-129 borderline":        {"other"},
		"Ask the physician of duty": {"other"},
		"":                          {"none"},
		"([70-99])":                 {"interval", "70", "99", "1", "1", ""},
		"3,5-5,1":                   {"interval", "3.5", "5.1", "1", "1", ""},
		"3,5 - 5,1 mmol/L":          {"interval", "3.5", "5.1", "1", "1", ""},
		"0,400-4,000":               {"interval", "0.4", "4", "1", "1", ""},
		"4,500-11,000":              {"interval", "4500", "11000", "1", "1", ""},
		"<0,5":                      {"upper", "", "0.5", "", "0", ""},
		"M: 13,5-17,5 F: 12,0-15,5": {"sexed", "", "", "", "", "M=13.5..17.5;F=12..15.5"},
		"3,5-5.1":                   {"other"},
		"1.000,5-2.000,5":           {"other"},
		"1,000,0-2":                 {"other"},
	} {
		if got := tableRow(Parse(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestFor(t *testing.T) {
	r := Parse("M: 13.5-17.5 F: 12.0-15.5")
	for sex, low := range map[string]float64{"male": 13.5, "female": 12} {
		if got := r.For(sex); got.Low == nil || got.Low.Value != low {
			t.Errorf("%s: %+v", sex, got)
		}
	}
	if got := r.For("other"); got.Bounded() {
		t.Errorf("a range without a sex: %+v", got)
	}
	if got := Parse("1-2").For(""); !got.Bounded() {
		t.Error("a range for all lacks a bound without a sex")
	}
}

// For any text, a range has its ends in order and of its kind.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"70-99", "< OR = 5.6", "M: 13.5-17.5 F: 12.0-15.5", "Normal: <5.7 High: >=5.7", "<1:80", "Negative", "-5.0 - +2.0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := Parse(text)
		if r.Low != nil && r.High != nil && r.Low.Value > r.High.Value {
			t.Errorf("%q: %v to %v", text, r.Low, r.High)
		}
		if bounded := r.Kind == Interval || r.Kind == Upper || r.Kind == Lower || r.Kind == Bands; bounded != r.Bounded() {
			t.Errorf("%q of kind %s has bounds: %v", text, r.Kind, r.Bounded())
		}
		if again := Parse(text); tableRow(again) != tableRow(r) {
			t.Errorf("%q reads differently twice", text)
		}
	})
}
