package sandboxlab

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results/refrange"
)

// contractRange is the form of a result of type range (reference 2, results).
var contractRange = regexp.MustCompile(`^([<>]=?\d*(\.\d+)?|\d*(\.\d+)?-\d*(\.\d+)?)$`)

// A value of type range shows on which side of its reference range it is. A
// reader finds an ordinary value within the range and an odd one outside.
func TestIntervalValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		decimals := rapid.IntRange(0, 3).Draw(t, "decimals")
		bound := func(name string) *float64 {
			v := rapid.Float64Range(0, 500).Draw(t, name)
			rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', decimals, 64), 64)
			if err != nil {
				t.Fatal(err)
			}
			return &rounded
		}
		var r catalogue.Range
		switch rapid.SampledFrom([]string{"both", "low", "high"}).Draw(t, "ends") {
		case "both":
			r.Low, r.High = bound("low"), bound("high")
			if *r.Low > *r.High {
				r.Low, r.High = r.High, r.Low
			}
		case "low":
			r.Low = bound("low")
		case "high":
			r.High = bound("high")
		}
		odd := rapid.Bool().Draw(t, "odd")
		flag := ""
		if odd {
			flag = rapid.SampledFrom([]string{"H", "L"}).Draw(t, "flag")
		}
		value := intervalValue(r, decimals, rapid.Float64Range(0.1, 0.9).Draw(t, "where"), flag)
		if !contractRange.MatchString(value) {
			t.Fatalf("%s does not have the form of a range", value)
		}
		verdict := refrange.Parse(printRange(r, decimals)).Compare(parseInterval(t, value))
		if verdict.Above == nil || verdict.Below == nil || (*verdict.Above || *verdict.Below) != odd {
			t.Fatalf("%s against %s: odd is %v, and read as %+v", value, printRange(r, decimals), odd, verdict)
		}
	})
}

// parseInterval reads an interval.
func parseInterval(t *rapid.T, value string) refrange.Value {
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if rest, ok := strings.CutPrefix(value, "<"); ok {
		return refrange.NewBelow(refrange.Bound{Value: number(rest)})
	}
	if rest, ok := strings.CutPrefix(value, ">"); ok {
		return refrange.NewAbove(refrange.Bound{Value: number(rest)})
	}
	low, high, _ := strings.Cut(value, "-")
	return refrange.NewBetween(number(low), number(high))
}

// A simulation may ask for each interpretation. One result of any type then has
// it, and the others are ordinary. An unknown one is flagged as indeterminate.
//
// Reference 1.15, SimulationFlags.
func TestRequestedInterpretation(t *testing.T) {
	low, high, danger := 1.0, 5.0, 9.0
	assay := catalogue.Assay{Scale: catalogue.Quantity, Decimals: 1, Ranges: []catalogue.Range{{Low: &low, High: &high}}, CriticalHigh: &danger}
	for as, flags := range map[orders.Interpretation][]string{
		"": {""}, orders.Normal: {""}, orders.Unknown: {"IND"}, orders.Abnormal: {"A", "H", "L"}, orders.Critical: {"AA", "HH", "LL"},
	} {
		for _, kind := range []string{"numeric", "range", "comment"} {
			all := []row{{assay: assay, expected: networks.ExpectedResult{LOINC: "1-8"}}, {assay: assay, expected: networks.ExpectedResult{LOINC: "2-6"}}}
			all = invent(orders.ID{}, subject{"female", 40}, all, Outcome{Interpretation: as, Types: []string{kind}})
			found := 0
			for i := range all {
				switch {
				case all[i].flag != "" && slices.Contains(flags, all[i].flag):
					found++
				case all[i].flag != "":
					t.Errorf("%q, %s: a result is flagged %q", as, kind, all[i].flag)
				}
			}
			if plain := flags[0] == ""; plain == (found == 1) {
				t.Errorf("%q, %s: %d results are as asked", as, kind, found)
			}
		}
	}
}
