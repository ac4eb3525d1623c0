package wearables

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestStreamRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		s := Stream{HeartComputed: rapid.Bool().Draw(t, "computed")}
		for i := range n {
			s.Time = append(s.Time, int64(i)*1_000_000)
		}
		one := rapid.OneOf(rapid.Float64(), rapid.Just(math.NaN()), rapid.Map(rapid.IntRange(0, 500), func(i int) float64 { return float64(i) }))
		for _, c := range s.columns() {
			if rapid.Bool().Draw(t, c.name) {
				*c.values = rapid.SliceOfN(one, n, n).Draw(t, c.name+" values")
			}
		}
		packed, err := s.Pack()
		if err != nil {
			t.Fatal(err)
		}
		got, err := UnpackStream(packed)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range s.columns() {
			same := slices.EqualFunc(*c.values, *got.columns()[i].values, func(a, b float64) bool { return a == b || a != a && b != b })
			if !same {
				t.Fatalf("%s came back as %v", c.name, *got.columns()[i].values)
			}
		}
		if !slices.Equal(got.Time, s.Time) || got.HeartComputed != s.HeartComputed {
			t.Fatalf("times came back as %v, computed: %v", got.Time, got.HeartComputed)
		}
		for i := range packed {
			if _, err := UnpackStream(packed[:i]); err == nil {
				t.Fatalf("the first %d of %d bytes were taken for a stream", i, len(packed))
			}
		}
	})
}

func FuzzUnpackStream(f *testing.F) {
	s := Stream{Time: []int64{0, 1, 2}, HeartRate: []float64{60, math.NaN(), 61}, Lat: []float64{1.5, 1.25, 1.125}}
	packed, err := s.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := UnpackStream(data)
		if err != nil {
			return
		}
		for _, c := range got.columns() {
			if n := len(*c.values); n != 0 && n != len(got.Time) {
				t.Fatalf("%s has %d elements beside %d times", c.name, n, len(got.Time))
			}
		}
		AppendStream(nil, got)
	})
}
