package sheet

import (
	"context"
	"math"
	"slices"
	"testing"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
)

// Amounts of one moment are joined at any distance in the file. The number of waiting
// moments is bounded. Adjacent amounts are joined at the bound too.
func TestPortions(t *testing.T) {
	food, drink := Key{Resource: "carbohydrates"}, Key{Resource: "water"}
	for name, test := range map[string]struct {
		moments int64 // between the first and the last amount of moment 0
		want    []float64
	}{
		"apart":         {mostPortions - 10, []float64{6}},
		"at the bound":  {0, []float64{6}},
		"over the most": {mostPortions + 10, []float64{3, 3}},
	} {
		got := map[int64][]float64{}
		d := Document{Report: &files.Report{}, Keep: func(_ context.Context, all []wearables.Samples) error {
			for _, s := range all {
				for i, at := range s.Time {
					if s.Resource == food.Resource {
						got[at] = append(got[at], s.Value[i])
					}
				}
			}
			return nil
		}}
		if name == "at the bound" {
			for at := range int64(mostPortions - 1) {
				d.Portion(drink, at+1, 0, 1)
			}
		}
		d.Portion(food, 0, 0, 1)
		d.Portion(food, 0, 0, 2)
		d.Portion(food, 0, 0, 1)
		d.Portion(drink, 0, 0, 7)
		for at := range test.moments {
			d.Portion(food, at+1, 0, 5)
			if len(d.portions) > mostPortions || len(d.moments) != len(d.portions) {
				t.Fatalf("%s: %d moments wait", name, len(d.portions))
			}
		}
		d.Portion(food, 0, 0, 3)
		if err := d.Flush(t.Context(), 0, true); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got[0], test.want) || len(d.portions)+len(d.moments) != 0 {
			t.Errorf("%s: %v, want %v", name, got[0], test.want)
		}
	}
}

// If portions have different offsets, the same offset counts in any order of the rows.
// The sum is the same to the last digit.
func TestPortionsInAnyOrder(t *testing.T) {
	amounts := []float64{0.1, 0.2, 0.3, 1e9, -1e9}
	var sum float64
	for turn := range amounts {
		var d Document
		for i := range amounts {
			d.Portion(Key{}, 0, []int32{wearables.NoOffset, 3600}[(i+turn)%2], amounts[(i+turn)%len(amounts)])
		}
		d.portionsUp(math.MinInt64)
		s := d.Gather.Take()[0]
		if turn == 0 {
			sum = s.Value[0]
		}
		if s.Len() != 1 || s.Value[0] != sum || s.Offset[0] != 3600 {
			t.Errorf("%v, want %v; %v", s.Value, sum, s.Offset)
		}
	}
}
