package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/wearables"
)

// profile returns a profile as a file states it; year 0 states no time.
func profile(height, year int) wearables.Summary {
	s := wearables.Summary{
		Resource: "profile", Key: "profile", Source: wearables.Source{Provider: "withings"},
		Body: fmt.Appendf(nil, `{"height":%d,"sex":"female"}`, height),
	}
	if year > 0 {
		s.Measured = time.Date(year, 5, 1, 7, 0, 0, 0, time.UTC)
	}
	return s
}

func (f fixture) withHeight(want int) {
	f.t.Helper()
	all := f.summaries("profile")
	if len(all) != 1 || !strings.Contains(all[0], fmt.Sprintf(`"height":%d,`, want)) || !strings.Contains(all[0], `"sex":"female"`) {
		f.t.Errorf("%s, want a height of %d", all, want)
	}
}

func (f fixture) newUser() fixture {
	f.user = userstest.New(f.t, f.db, f.user.Team, users.NewUser{})
	return f
}

// The height that was measured last counts, in any order of arrival and after
// repetition.
func TestTheLastHeightCounts(t *testing.T) {
	heights := []wearables.Summary{profile(170, 2020), profile(168, 2022), profile(170, 2024)}
	forEachEngine(t, func(f fixture) {
		for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			f = f.newUser()
			for _, i := range order {
				f.ingest(wearables.Batch{Summaries: heights[i : i+1]})
			}
			f.withHeight(170)
			for _, i := range order {
				if r := f.ingest(wearables.Batch{Summaries: heights[i : i+1]}); r.Unchanged != 1 || r.Created+r.Updated != 0 {
					t.Errorf("%v and %d again: %+v", order, i, r.Counts)
				}
			}
		}
	})
}

// A height of no moment is that of today.
func TestAHeightOfNoMoment(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		put := func(s wearables.Summary, want wearables.Counts) {
			t.Helper()
			if r := f.ingest(wearables.Batch{Summaries: []wearables.Summary{s}}); r.Counts != want {
				t.Errorf("%s: %+v, want %+v", s.Body, r.Counts, want)
			}
		}
		put(profile(170, 2020), wearables.Counts{Created: 1})
		put(profile(172, 0), wearables.Counts{Updated: 1})
		put(profile(170, 2020), wearables.Counts{Unchanged: 1})
		put(profile(171, 2025), wearables.Counts{Unchanged: 1})
		f.withHeight(172)
		put(profile(173, 0), wearables.Counts{Updated: 1})
		put(profile(174, 2031), wearables.Counts{Updated: 1}) // by a clock that is ahead
		put(profile(174, 2031), wearables.Counts{Unchanged: 1})
		f.withHeight(174)
	})
}

// One that is read again is that of the day on which it came first.
func TestAHeightThatIsReadAgain(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for _, one := range []struct{ height, measured, came, want int }{
			{180, 2024, 0, 180}, {172, 0, 2023, 180}, {171, 0, 2025, 171}, {170, 2030, 2024, 171}, {169, 2026, 2026, 169},
		} {
			s := profile(one.height, one.measured)
			if one.came > 0 {
				s.Came = time.Date(one.came, 6, 1, 7, 0, 0, 0, time.UTC)
			}
			f.ingest(wearables.Batch{Summaries: []wearables.Summary{s}})
			f.withHeight(one.want)
		}
	})
}
