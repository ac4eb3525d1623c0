package sandboxlab

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/results/refrange"
)

// contractRange is the form of a result of type range (reference 2, results).
var contractRange = regexp.MustCompile(`^([<>]=?\d*(\.\d+)?|\d*(\.\d+)?-\d*(\.\d+)?)$`)

// A value of type range says which side of its reference range it is on: whoever
// reads the report finds an ordinary one within and an odd one beyond.
func TestIntervalsAreDecided(t *testing.T) {
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
		value := interval(r, decimals, rapid.Float64Range(0.2, 0.8).Draw(t, "where"), odd)
		if !contractRange.MatchString(value) {
			t.Fatalf("%s has not the form of a range", value)
		}
		verdict := refrange.Parse(printed(r, decimals)).Compare(lies(t, value))
		if verdict.Above == nil || verdict.Below == nil || (*verdict.Above || *verdict.Below) != odd {
			t.Fatalf("%s against %s: odd is %v, and read as %+v", value, printed(r, decimals), odd, verdict)
		}
	})
}

// lies reads an interval.
func lies(t *rapid.T, value string) refrange.Value {
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
