package extract

import (
	"fmt"
	"strings"
	"testing"
)

// shortRows returns the rows of a report in words: name, value, unit, range and review.
func shortRows(t *testing.T, lines ...string) string {
	t.Helper()
	var got []string
	for _, row := range readText(t, lines...).Rows {
		text := fmt.Sprintf("%s|%s|%s|%s", row.Name, row.Value, row.Unit, row.Range.Text)
		if row.NeedsReview {
			text += "|review"
		}
		got = append(got, text)
	}
	return strings.Join(got, "\n")
}

func TestLayoutsOfSeveralColumns(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"two tables": {[]string{
			"Test        Result  Units   Reference      Test        Result  Units    Reference ",
			"Sodium      139     mmol/L  135-145        WBC         6.1     10^9/L   4.0-10.0  ",
			"Potassium   7.1 H   mmol/L  3.5-5.1        Hemoglobin  8.2 L   g/dL     12.0-16.0 ",
			"Calcium     9.4     mg/dL   8.6-10.3                                              ",
			"",
			"Test        Result  Units   Reference  ",
			"Glucose     91      mg/dL   70-99      ",
		}, "Sodium|139|mmol/L|135-145\nPotassium|7.1|mmol/L|3.5-5.1\nCalcium|9.4|mg/dL|8.6-10.3\nGlucose|91|mg/dL|70-99\nWBC|6.1|10^9/L|4.0-10.0\nHemoglobin|8.2|g/dL|12.0-16.0"},
		"cards": {[]string{
			"Sodium                 Potassium              Glucose          ",
			"139 mmol/L             7.1 mmol/L             91 mg/dL         ",
			"135-145                3.5-5.1                70-99            ",
			"",
			"Hemoglobin             Platelets              ",
			"8.2 g/dL               250 10^9/L             ",
		}, "Sodium|139|mmol/L|135-145\nPotassium|7.1|mmol/L|3.5-5.1\nGlucose|91|mg/dL|70-99\nHemoglobin|8.2|g/dL|\nPlatelets|250|10^9/L|"},
		"cards with words": {[]string{
			"Potassium                        Sodium                           ",
			"7.1 mmol/L HIGH                  139 mmol/L NORMAL                ",
			"Reference range: 3.5 - 5.1       Reference range: 135 - 145       ",
			"",
			"Zonulin                          ",
			"44 ng/mL                         ",
			"Reference range: < 45            ",
		}, "Potassium|7.1|mmol/L|3.5 - 5.1\nSodium|139|mmol/L|135 - 145\nZonulin|44|ng/mL|< 45"},
		"a turned table": {[]string{
			"Sodium                 Potassium              ",
			"139 mmol/L             7.1 mmol/L             ",
			"141 mmol/L             4.4 mmol/L             ",
		}, "Sodium|139|mmol/L||review\nPotassium|7.1|mmol/L||review"},
		"times": {[]string{
			"Test        Result  Units   Reference  ",
			"Glucose                                ",
			"  0 h       92      mg/dL   <95        ",
			"  1 h       185     mg/dL   <180       ",
			"Insulin     60      uIU/mL  2-90       ",
			"  2 h       160     mg/dL   <153       ",
		}, "Glucose 0 h|92|mg/dL|<95\nGlucose 1 h|185|mg/dL|<180\nInsulin|60|uIU/mL|2-90\n2 h|160|mg/dL|<153|review"},
		"wrapped names": {[]string{
			"Test                Result  Units   Reference  ",
			"Thyroid stimulating 2.1     mIU/L   0.4-4.0    ",
			"hormone, third                                 ",
			"generation                                     ",
			"Mean corpuscular    33      g/dL    32-36      ",
			"hemoglobin                                     ",
			"concentration                                  ",
			"Mean corpuscular    29      pg      27-33      ",
			"hemoglobin                                     ",
		}, "Thyroid stimulating hormone, third generation|2.1|mIU/L|0.4-4.0\nMean corpuscular hemoglobin concentration|33|g/dL|32-36\nMean corpuscular hemoglobin|29|pg|27-33"},
	} {
		if got := shortRows(t, c.lines...); got != c.want {
			t.Errorf("%s: rows are\n%s\nwant\n%s", name, got, c.want)
		}
	}
}
