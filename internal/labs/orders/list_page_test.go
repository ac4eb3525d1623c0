package orders

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A page that is found by walking through an order that is kept is the one that
// sorting gives.
func TestWalkingGivesWhatSortingGives(t *testing.T) {
	m := filled(4*few, 300)
	rng := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // the same each time
	for range 60 {
		matching := newBitmap(m.len())
		for at := range m.len() {
			if rng.IntN(3) > 0 {
				matching.set(int32(at))
			}
		}
		f := Filter{Key: append([]SortKey{""}, SortKeys...)[rng.IntN(4)], Ascending: rng.IntN(2) == 0, Page: 1 + rng.IntN(70), Size: 1 + rng.IntN(100)}
		want := slices.SortedFunc(matching.all(), m.comparing(f.Key))
		if !f.Ascending {
			slices.Reverse(want)
		}
		from := min((f.Page-1)*f.Size, len(want))
		want = want[from:min(from+f.Size, len(want))]
		if got := m.page(matching, matching.count(), f); !slices.Equal(got, want) {
			t.Fatalf("%+v\ngave %v\nwant %v", f, got, want)
		}
	}
}
