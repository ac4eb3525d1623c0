package appointments

import (
	"testing"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/labs/places"
	"hale/internal/platform/civil"
)

// Days are those of the place, also when the clocks change in the night. At
// both changes of a year no slot is lost, doubled or moved to another day.
func TestDaysWhenClocksChange(t *testing.T) {
	for _, start := range []string{"2027-03-08", "2027-11-01"} { // the changes are on 14 March and 7 November
		at := civil.MustParse(start).In(time.UTC).Add(12 * time.Hour)
		eachFixtureAt(t, at, func(r *fixture) {
			r.agency.hours = func(q networks.SlotQuery, day civil.Date, zone *time.Location) (all []networks.Slot) {
				for t := day.In(zone); civil.DateOf(t) == day; t = t.Add(time.Hour) {
					all = append(all, slotAt(q, t, time.Hour))
				}
				return all
			}
			first := civil.MustParse(start).AddDays(1)
			found, err := r.AtCenters(r.ctx, r.who, CenterQuery{Lab: "quest", Codes: []string{r.site().Code}, Start: &first})
			if err != nil {
				r.t.Fatal(err)
			}
			zone, _ := civil.Zone(sandboxZone)
			seen := map[time.Time]bool{}
			for n, day := range found.Days {
				want := 24
				switch day.Date {
				case civil.MustParse("2027-03-14"):
					want = 23
				case civil.MustParse("2027-11-07"):
					want = 25
				}
				if day.Date != first.AddDays(n) || len(day.Slots) != want {
					r.t.Errorf("%v has %d slots, want %d", day.Date, len(day.Slots), want)
				}
				for _, s := range day.Slots {
					if civil.DateOf(s.Start.In(zone)) != day.Date || seen[s.Start] {
						r.t.Errorf("%v is listed under %v, or twice", s.Start, day.Date)
					}
					seen[s.Start] = true
				}
			}
			if len(found.Days) != horizon {
				r.t.Errorf("%d days", len(found.Days))
			}
		})
	}
}

// A provider's days, hours and notice apply in the zone of the place.
func TestIsOffered(t *testing.T) {
	zone, err := civil.Zone("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	offer := places.Offer{Days: 1 << 6, Earliest: 7 * 60, Latest: 17 * 60, LeadHours: 24} // Sundays
	now := time.Date(2027, 3, 13, 6, 0, 0, 0, zone)
	slot := func(day, hour, minutes int) networks.Slot {
		at := time.Date(2027, 3, day, hour, 0, 0, 0, zone)
		return networks.Slot{Start: at.UTC(), End: at.Add(time.Duration(minutes) * time.Minute).UTC()}
	}
	for _, c := range []struct {
		name string
		slot networks.Slot
		want bool
	}{
		{"opening, on the day the clocks change", slot(14, 7, 60), true},
		{"before opening", slot(14, 6, 60), false},
		{"the last hour", slot(14, 16, 60), true},
		{"over closing time", slot(14, 16, 61), false},
		{"on a Monday", slot(15, 9, 60), false},
		{"on the next Sunday", slot(21, 9, 60), true},
		{"at short notice", networks.Slot{Start: now.Add(time.Hour), End: now.Add(2 * time.Hour)}, false},
	} {
		if got := isOffered(offer, c.slot, zone, now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Recent answers serve searches that allow it, while each of the 14 days is
// younger than 15 minutes and at most 21 days ahead.
func TestSiteCache(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		ask := func(start *civil.Date, stale bool) int {
			r.t.Helper()
			before := r.agency.asked
			if _, err := r.AtCenters(r.ctx, r.who, CenterQuery{Lab: "quest", Codes: []string{r.site().Code}, Start: start, AllowStale: stale}); err != nil {
				r.t.Fatal(err)
			}
			return r.agency.asked - before
		}
		today := civil.DateOf(noon)
		week, far := today.AddDays(7), today.AddDays(8)
		for i, c := range []struct {
			start *civil.Date
			stale bool
			turn  time.Duration
			want  int
		}{
			{nil, true, 0, 1}, {nil, true, 0, 0}, {nil, false, 0, 1}, // a live answer is cached, and not used by a search that refuses the cache
			{&week, true, 0, 1}, {&week, true, 0, 0}, {nil, true, 0, 0}, // together 21 days
			{&far, true, 0, 1}, {&far, true, 0, 1}, // beyond
			{nil, true, freshness, 1},
		} {
			r.clock.Advance(c.turn)
			if got := ask(c.start, c.stale); got != c.want {
				r.t.Errorf("search %d asked %d times, want %d", i, got, c.want)
			}
		}
		days := r.slots(AtCenter)
		if len(days) == 0 {
			r.t.Error("nothing is free")
		}
	})
}
