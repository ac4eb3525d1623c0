package refrange

import (
	"testing"

	"pgregory.net/rapid"
)

func TestCompare(t *testing.T) {
	verdict := func(b *bool) string {
		switch {
		case b == nil:
			return "?"
		case *b:
			return "yes"
		}
		return "no"
	}
	under, over := func(v float64) Value { return NewBelow(Bound{v, false}) }, func(v float64) Value { return NewAbove(Bound{v, false}) }
	for _, c := range []struct {
		rng          string
		value        Value
		above, below string
	}{
		{"70-99", NewExact(99), "no", "no"},
		{"70-99", NewExact(99.1), "yes", "no"},
		{"70-99", NewExact(69), "no", "yes"},
		{"<5.7", NewExact(5.7), "yes", "no"},
		{"<=5.7", NewExact(5.7), "no", "no"},
		{">59", NewExact(59), "no", "yes"},
		{">=60", NewExact(60), "no", "no"},
		{"200-1100", over(2000), "yes", "no"},
		{"200-1100", over(500), "?", "no"},
		{"200-1100", over(1100), "yes", "no"},
		{"200-1100", under(200), "no", "yes"},
		{"200-1100", under(500), "no", "?"},
		{"<0.5", under(0.5), "no", "no"},
		{"<=0.5", under(0.5), "no", "no"},
		{">60", over(60), "no", "no"},
		{"0-5", NewBetween(0, 2), "no", "no"},
		{"0-5", NewBetween(10, 20), "yes", "no"},
		{"0-5", NewBetween(4, 6), "?", "no"},
		{"Negative", NewExact(1), "?", "?"},
	} {
		got := Parse(c.rng).Compare(c.value)
		if verdict(got.Above) != c.above || verdict(got.Below) != c.below {
			t.Errorf("%+v in %s: above %s, below %s", c.value, c.rng, verdict(got.Above), verdict(got.Below))
		}
	}
}

// The comparison of an interval holds for every number in it.
func TestCompareAgreesWithNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) float64 { return float64(rapid.IntRange(0, 6).Draw(t, name)) }
		side := func(name string) *Bound {
			if !rapid.Bool().Draw(t, name+" bounded") {
				return nil
			}
			return &Bound{n(name), rapid.Bool().Draw(t, name+" inclusive")}
		}
		r := Range{Kind: Interval, Low: side("low"), High: side("high")}
		from := n("from")
		to := from + n("more")
		got := r.Compare(NewBetween(from, to))
		one := r.Compare(NewExact(rapid.Float64Range(from, to).Draw(t, "value")))
		if got.Above != nil && *got.Above != *one.Above || got.Below != nil && *got.Below != *one.Below {
			t.Fatalf("%+v of %v to %v", got, from, to)
		}
	})
}
