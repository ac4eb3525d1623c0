package extract

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// testdata/ranges.csv lists notations that laboratories print, with their meaning.
func TestNotations(t *testing.T) {
	f, err := os.Open("testdata/ranges.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		notation, kind, low, high, lowIncluded, highIncluded, text := row[0], row[1], row[2], row[3], row[4], row[5], row[6]
		r := ParseRange(notation, false, Patient{Age: -1})
		if string(r.Kind) != kind {
			t.Errorf("%q is %s, want %s", notation, r.Kind, kind)
			continue
		}
		if kind == "sexed" {
			man, woman := ParseRange(notation, false, Patient{Gender: "male", Age: -1}), ParseRange(notation, false, Patient{Gender: "female", Age: -1})
			if got := "M=" + span(man) + ";F=" + span(woman); got != text || r.Min != nil || r.Max != nil {
				t.Errorf("%q is %s, want %s", notation, got, text)
			}
			continue
		}
		bound := func(got *float64, exclusive bool, want, included string) bool {
			if want == "" {
				return got == nil
			}
			v, _ := strconv.ParseFloat(want, 64)
			return got != nil && *got == v && (included == "1") == !exclusive
		}
		if !bound(r.Min, r.MinExclusive, low, lowIncluded) || !bound(r.Max, r.MaxExclusive, high, highIncluded) {
			t.Errorf("%q is %s %+v, want %s to %s", notation, span(r), r, low, high)
		}
		if kind == "text" && r.Expected != text || kind == "titer" && strings.ReplaceAll(r.Expected, " ", "") != strings.ReplaceAll(text, " ", "") {
			t.Errorf("%q expects %q, want %q", notation, r.Expected, text)
		}
	}
}

func span(r Range) string {
	text := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'f', -1, 64)
	}
	return text(r.Min) + ".." + text(r.Max)
}

func TestRangesThatDependOnThePatient(t *testing.T) {
	for _, c := range []struct {
		text   string
		commas bool
		who    Patient
		kind   RangeKind
		want   string
	}{
		{"0-1 years: 4.0-8.0 2-17 years: 5.0-9.0 Adult: 6.0-10.0", false, Patient{Age: 40}, RangeAges, "6..10"},
		{"0-1 years: 4.0-8.0 2-17 years: 5.0-9.0 Adult: 6.0-10.0", false, Patient{Age: 1}, RangeAges, "4..8"},
		{"0-1 years: 4.0-8.0 2-17 years: 5.0-9.0", false, Patient{Age: -1}, RangeAges, ".."},
		{"Follicular: 3.5-12.5 Ovulation: 4.7-21.5 Luteal: 1.7-7.7", false, Patient{Gender: "female", Age: 30}, RangePhases, ".."},
		{"Male 0-12 years: 11-13 Male >12 years: 13.5-17.5", false, Patient{Gender: "male", Age: 40}, RangeSexed, "13.5..17.5"},
		{"Male 0-12 years: 11-13 Male >12 years: 13.5-17.5", false, Patient{Gender: "male", Age: 6}, RangeSexed, "11..13"},
		{"Male 0-12 years: 11-13 Male >12 years: 13.5-17.5", false, Patient{Gender: "male", Age: -1}, RangeSexed, ".."},
		{"Male 0-12 years: 11-13 Male >12 years: 13.5-17.5", false, Patient{Gender: "female", Age: 40}, RangeSexed, ".."},
		{"Men >18 years: 13-17", false, Patient{Gender: "male", Age: 40}, RangeSexed, "13..17"},
		{"Men >18 years: 13-17", false, Patient{Gender: "male", Age: 6}, RangeSexed, ".."},
		{"Males 50+ years: 4-8 Females: 1-2", false, Patient{Gender: "male", Age: 70}, RangeSexed, "4..8"},
		{"Adults 18-60 years: 70-99 Adults >60 years: 80-115", false, Patient{Age: 40}, RangeAges, "70..99"},
		{"Adults 18-60 years: 70-99 Adults >60 years: 80-115", false, Patient{Age: 72}, RangeAges, "80..115"},
		{"Adults 18-60: 70-99", false, Patient{Age: 40}, RangeOther, ".."}, // 18-60 may be the range
		{"Adults: 70-99", false, Patient{Age: 40}, RangeAges, "70..99"},
		{"Adults: 70-99", false, Patient{Age: 6}, RangeAges, ".."},
		{"Adults: 70-99", false, Patient{Age: -1}, RangeAges, ".."},
		{"Adult: 6-10 Elderly: 5-9", false, Patient{Age: 70}, RangeAges, ".."},
		{"Boys: 11-14 Men: 13-17", false, Patient{Gender: "male", Age: 40}, RangeSexed, "13..17"},
		{"Adult male: 13-17 Adult female: 12-15", false, Patient{Gender: "male", Age: 6}, RangeSexed, ".."},
		{"Male: 13-17 Female: 12-15 Child: 11-14", false, Patient{Gender: "male", Age: 6}, RangeSexed, ".."},
		{"Male: 13-17 Female: 12-15 Child: 11-14", false, Patient{Gender: "male", Age: -1}, RangeSexed, ".."},
		{"Male: 13-17 Female: 12-15 Child: 11-14", false, Patient{Gender: "male", Age: 40}, RangeSexed, "13..17"},
		{"M: 13.5-17.5 F: 12.0-15.5", false, Patient{Gender: "other", Age: 40}, RangeSexed, ".."},
		{"M: 13.5-17.5 F: 12.0-15.5", false, Patient{Gender: "female", Age: -1}, RangeSexed, "12..15.5"},
		{"13.5-17.5 (M), 12.0-15.5 (F)", false, Patient{Gender: "female", Age: 40}, RangeSexed, "12..15.5"},
		{"70-99 (adults)", false, Patient{Age: -1}, RangeAges, ".."},
		{"70-99 (fasting)", false, Patient{Age: 40}, RangeOther, ".."},
		{"Male: <40 U/L Female: <32 U/L", false, Patient{Gender: "female", Age: 40}, RangeSexed, "..32"},
		{"Male/Female: 10-20", false, Patient{Age: -1}, RangeSexed, "10..20"},
		{"M: 13,5-17,5 F: 12,0-15,5", true, Patient{Gender: "female", Age: 40}, RangeSexed, "12..15.5"},
		{"3,5 - 5,1", true, Patient{}, RangeInterval, "3.5..5.1"},
		{"< 5,2", true, Patient{}, RangeUpper, "..5.2"},
		{"3,5 à 5,1", true, Patient{}, RangeInterval, "3.5..5.1"},
		{"3,5 bis 5,1", true, Patient{}, RangeInterval, "3.5..5.1"},
		{"inférieur à 5", true, Patient{}, RangeUpper, "..5"},
		{"sup. à 1,2", true, Patient{}, RangeLower, "1.2.."},
		{"1,500 - 7,800", false, Patient{}, RangeInterval, "1500..7800"},
		{"3.8 - 10.8 Thousand/uL", false, Patient{}, RangeInterval, "3.8..10.8"},
		{"Reference range: 3.5 - 5.1 mmol/L", false, Patient{}, RangeInterval, "3.5..5.1"},
		{"9 - 3", false, Patient{}, RangeOther, ".."},
		{"lot 42", false, Patient{}, RangeOther, ".."},
	} {
		if r := ParseRange(c.text, c.commas, c.who); r.Kind != c.kind || span(r) != c.want {
			t.Errorf("%q for %+v is %s %s, want %s %s", c.text, c.who, r.Kind, span(r), c.kind, c.want)
		}
	}
}

// The sex and the age of the report choose between ranges. Without them, the text of the
// range is kept, and the value is not interpreted.
func TestRangesOfARow(t *testing.T) {
	for _, c := range []struct{ head, want, adults string }{
		{"Patient: Mara Quillfeather      DOB: 1980-03-04     Sex: F", "12..15.5", "70..99"},
		{"Patient: Mara Quillfeather      Age: 44 years       Sex: F", "12..15.5", "70..99"},
		{"Patient: Mara Quillfeather      Age/Sex: 44 Y / F         ", "12..15.5", "70..99"},
		{"Patient: Mara Quillfeather      Age: 6 years        Sex: F", "12..15.5", ".."},
		{"Patient: Mara Quillfeather      Sex: F                    ", "12..15.5", ".."},
		{"Patient: Mara Quillfeather      DOB: 1980-03-04           ", "..", "70..99"},
	} {
		result, err := Read(Document{Pages: []Page{printedPage(FromText, head[0], c.head, head[2], "",
			"Test                       Result      Flag   Reference range               Units     ",
			"Hemoglobin                 13.1               M: 13.5-17.5 F: 12.0-15.5     g/dL      ",
			"Glucose                    95                 Adults: 70-99                 mg/dL     ")}})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"Hemoglobin": c.want, "Glucose": c.adults} {
			row := find(t, result, name)
			interpretation := "normal"
			if want == ".." {
				interpretation = "unknown"
			}
			if span(row.Range) != want || row.Interpretation != interpretation || row.Range.Text == "" {
				t.Errorf("%s: %s is %s in %+v", c.head, name, row.Interpretation, row.Range)
			}
		}
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		text       string
		commas     bool
		want       string
		kind       Type
		number     float64
		comparator string
		flag, rest string
	}{
		{"5.4", false, "5.4", Numeric, 5.4, "", "", ""},
		{"5,4", true, "5,4", Numeric, 5.4, "", "", ""},
		{"1,234", false, "1,234", Numeric, 1234, "", "", ""},
		{"1,005", true, "1,005", Numeric, 1.005, "", "", ""},
		{".69", false, ".69", Numeric, 0.69, "", "", ""},
		{"< .01", false, "< .01", Ranged, 0.01, "<", "", ""},
		{">1,100 H", false, ">1,100", Ranged, 1100, ">", "H", ""},
		{"< OR = 5", false, "<= 5", Ranged, 5, "<=", "", ""},
		{"1.2 x 10^5", false, "1.2 x 10^5", Numeric, 120000, "", "", ""},
		{"2.5E3", false, "2.5E3", Numeric, 2500, "", "", ""},
		{"6.4 x10^9/L", false, "6.4", Numeric, 6.4, "", "", "x10^9/L"},
		{"8.7 High", false, "8.7", Numeric, 8.7, "", "High", ""},
		{"8.7 (H)", false, "8.7", Numeric, 8.7, "", "(H)", ""},
		{"H 8.7", false, "8.7", Numeric, 8.7, "", "H", ""},
		{"8.7 H mg/dL", false, "8.7", Numeric, 8.7, "", "H", "mg/dL"},
		{"12 %", false, "12", Percentage, 12, "", "", "%"},
		{"0-2", false, "0-2", Ranged, math.NaN(), "", "", ""},
		{"1:320", false, "1:320", Ratio, math.NaN(), "", "", ""},
		{"<1:40", false, "<1:40", Ratio, math.NaN(), "", "", ""},
		{"120/80", false, "120/80", Ratio, math.NaN(), "", "", ""},
		{"2+", false, "2+", Comment, math.NaN(), "", "", ""},
		{"++", false, "++", Comment, math.NaN(), "", "", ""},
		{"+ 6.4", false, "6.4", Numeric, 6.4, "", "+", ""},
		{"++ 22.4", false, "22.4", Numeric, 22.4, "", "++", ""},
		{"+ >88 U/L", false, ">88", Ranged, 88, ">", "+", "U/L"},
		{"+2.5", false, "+2.5", Numeric, 2.5, "", "", ""},
		{"Not Detected", false, "Not Detected", Boolean, math.NaN(), "", "", ""},
		{"NON-REACTIVE", false, "NON-REACTIVE", Boolean, math.NaN(), "", "", ""},
		{"Positive A", false, "Positive", Boolean, math.NaN(), "", "A", ""},
		{"Yellow", false, "Yellow", Comment, math.NaN(), "", "", ""},
		{"90 minutes", false, "90 minutes", Duration, math.NaN(), "", "", ""},
	} {
		v, ok := ParseValue(c.text, c.commas)
		number := math.NaN()
		if v.Number != nil {
			number = *v.Number
		}
		if !ok || v.Text != c.want || v.Type != c.kind || v.Comparator != c.comparator || v.Flag != c.flag || v.Rest != c.rest || number != c.number && !(math.IsNaN(number) && math.IsNaN(c.number)) {
			t.Errorf("%q is %+v with number %v", c.text, v, number)
		}
	}
	for _, text := range []string{"", "Hexokinase", "1,25-Dihydroxy", "mg/dL", "-", "H"} {
		if v, ok := ParseValue(text, false); ok {
			t.Errorf("%q is a value: %+v", text, v)
		}
	}
}

func FuzzParseRange(f *testing.F) {
	for _, s := range []string{"70-99", "< OR = 5.6", "M: 13.5-17.5 F: 12.0-15.5", "Normal: <5.7 Prediabetes: 5.7 - 6.4", "1:80", "", "0-1 years: 4.0-8.0"} {
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, text string, commas bool) {
		r := ParseRange(text, commas, Patient{Gender: "male", Age: 40})
		if r.Min != nil && r.Max != nil && *r.Min > *r.Max {
			t.Errorf("%q has the range %s", text, span(r))
		}
		for _, v := range []*float64{r.Min, r.Max} {
			if v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0)) {
				t.Errorf("%q has a bound %v", text, *v)
			}
		}
	})
}

func FuzzParseValue(f *testing.F) {
	for _, s := range []string{"5.4", "< .01", "1.2 x 10^5", "8.7 (H)", "0-2", "1:320", "Not Detected", "6.4 x10^9/L"} {
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, text string, commas bool) {
		v, ok := ParseValue(text, commas)
		if ok && v.Text == "" {
			t.Errorf("%q has an empty value", text)
		}
		if v.Number != nil && (math.IsNaN(*v.Number) || math.IsInf(*v.Number, 0)) {
			t.Errorf("%q is %v", text, *v.Number)
		}
	})
}
