package extract

import (
	"slices"
	"strings"
	"testing"
)

// wrappedPage places lines as printedPage does. A line that begins with "~" is nearer to the
// line above it: it is the second line of a cell.
func wrappedPage(lines ...string) Page {
	p := Page{Number: 1, Width: 600, Height: 800, Source: FromText}
	y := 20.0
	for _, line := range lines {
		y += 14
		if after, isSecond := strings.CutPrefix(line, "~"); isSecond {
			line, y = after, y-3
		}
		for _, w := range printedPage(FromText, line).Words {
			w.Box.Y = y
			p.Words = append(p.Words, w)
		}
	}
	return p
}

// The second line of a name belongs to the name. It changes the analyte, and it is no
// heading of the rows below it.
func TestSecondLineOfName(t *testing.T) {
	for _, c := range []struct {
		first, second, cells string
		name, code, specimen string
	}{
		{"Immunoglobulin G", "subclass 4", "201                4-86                mg/dL", "Immunoglobulin G subclass 4", "", "unknown"},
		{"Glucose", "CSF", "1.1                2.2-4.4             mmol/L", "Glucose CSF", "", "other"},
		{"Sodium", "sweat", "88                 <40                 mmol/L", "Sodium sweat", "", "other"},
		{"Cortisol", "8 am", "22.1               6.2-19.4            ug/dL", "Cortisol 8 am", "", "unknown"},
		{"Glucose,", "fasting 8 h", "143                70-99               mg/dL", "Glucose, fasting 8 h", "", "unknown"},
		{"Glucose", "2 h post load", "210                <140                mg/dL", "Glucose 2 h post load", "", "unknown"},
		{"Lipoprotein", "(a)", "201                <30                 mg/dL", "Lipoprotein (a)", "10835-7", "serum_plasma_blood"},
		{"Ferritin", "level 2", "201                15-150              ng/mL", "Ferritin level 2", "", "unknown"},
		{"Vancomycin", "trough", "21                 10-20               ug/mL", "Vancomycin trough", "4092-3", "serum_plasma_blood"},
		{"Creatinine", "urine", "45                 20-275              mg/dL", "Creatinine urine", "2161-8", "urine"},
		{"Glucose", "Hexokinase", "95                 70-99               mg/dL", "Glucose", "2345-7", "serum_plasma_blood"},
		{"HbA1c", "Prediabetes 5.7 - 6.4 % Diabetes >6.4 %", "5.4                <5.7                %", "HbA1c", "4548-4", "serum_plasma_blood"},
		{"Vitamin D", "Low <20 Sufficient 30-100", "31                 30-100              ng/mL", "Vitamin D", "62292-8", "serum_plasma_blood"},
		{"eGFR", "Stage 3a 45-59, Stage 3b 30-44", "88                 >60                 mL/min/1.73m2", "eGFR", "98979-8", "serum_plasma_blood"},
		{"Urea", "repeat 9.9", "5.1                2.5-6.7             mmol/L", "Urea", "22664-7", "serum_plasma_blood"},
		{"Cholesterol", "", "180                <200                mg/dL", "Cholesterol", "2093-3", "serum_plasma_blood"},
	} {
		for _, isLast := range []bool{false, true} {
			lines := append(slices.Clone(head), "Chloride                   101                98-107              mmol/L", pad(c.first, 27)+c.cells)
			if c.second != "" {
				lines = append(lines, "~"+c.second)
			}
			if !isLast {
				lines = append(lines, "Ferritin                   99                 15-150              ng/mL")
			}
			result, err := Read(Document{Pages: []Page{wrappedPage(lines...)}})
			if err != nil {
				t.Fatal(err)
			}
			row := find(t, result, c.name)
			code := ""
			if len(row.Matches) > 0 {
				code = row.Matches[0].Code
			}
			if code != c.code || row.SampleType != c.specimen || row.NeedsReview {
				t.Errorf("%s: %s of %s, %v", c.name, code, row.SampleType, row.Reasons)
			}
			if isLast {
				continue
			}
			if row := find(t, result, "Ferritin"); row.Panel != head[0][:20] || row.Status != AutoMatch {
				t.Errorf("%s: the next row is %+v", c.name, row)
			}
		}
	}
}

// If all lines have the same distance, a second line may be a heading. The row above
// it needs a review.
func TestSecondLineAtTheSameDistance(t *testing.T) {
	for second, name := range map[string]string{"subclass 4": "Immunoglobulin G subclass 4", "CSF": "Immunoglobulin G"} {
		result := read(t, FromText,
			"Immunoglobulin G           201                4-86                mg/dL     ",
			second,
			"Ferritin                   99                 15-150              ng/mL     ",
		)
		if row := find(t, result, name); !slices.Contains(row.Reasons, NameUncertain) {
			t.Errorf("%s: %+v", second, row)
		}
	}
}

// A value in the middle of two lines has the name of both.
func TestValueBetweenTwoLines(t *testing.T) {
	p := wrappedPage(append(slices.Clone(head), "Chloride                   101                98-107              mmol/L", "Glucose", "~CSF", "Ferritin                   99                 15-150              ng/mL")...)
	middle := 0.0
	for _, w := range p.Words {
		if w.Text == "Glucose" {
			middle = w.Box.Y + 5.5
		}
	}
	for _, w := range printedPage(FromText, pad("", 27)+"1.1                2.2-4.4             mmol/L").Words {
		w.Box.Y = middle
		p.Words = append(p.Words, w)
	}
	result, err := Read(Document{Pages: []Page{p}})
	if err != nil {
		t.Fatal(err)
	}
	if row := find(t, result, "Glucose CSF"); row.Value != "1.1" || len(row.Matches) > 0 {
		t.Errorf("%+v", row)
	}
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-len(text)))
}
