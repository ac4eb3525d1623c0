package orders

import (
	"slices"
	"testing"

	"hale/internal/platform/civil"
)

// The newest orders of a status come from a pass that ends with the page, so the team's
// other orders do not count. The page and the total are those of a pass over all orders.
func TestNewestOfAStatusStopsWithThePage(t *testing.T) {
	for _, count := range []int{5000, 50_000} {
		m := filledIndex(count, 50)
		for page := range 3 {
			f := Filter{Statuses: []Status{Completed}, Page: 1 + page, Size: 20}
			got, total, passed := m.newestOfKinds(f)
			if !f.onlyKinds() || passed > 3000 {
				t.Errorf("page %d of %d orders passes %d", f.Page, count, passed)
			}
			matches := m.match(*m.buffer(), f, m.rows, nil, civil.MustParse("2026-03-01"))
			want, _, err := m.page(matches, f)
			if err != nil || !slices.Equal(got, want) || total != len(matches) {
				t.Errorf("page %d of %d orders is %v of %d, want %v of %d: %v", f.Page, count, got, total, want, len(matches), err)
			}
		}
	}
	if critical := true; (&Filter{Statuses: []Status{Completed}, Critical: &critical, Page: 1, Size: 20}).onlyKinds() {
		t.Error("a filter by criticality is ignored")
	}
}
