package results_test

import (
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// collected stores a report with a time of collection, or without one.
func (b *fixture) collected(hours int, at time.Time, set networks.ResultSet) {
	b.t.Helper()
	a := b.arrival(hours, set)
	a.Set.Specimen.Collected = networks.Moment{Time: at}
	b.take(a)
}

// amend changes the order outside of the test's copy.
func (b *fixture) amend(change func(o *orders.Order)) {
	b.t.Helper()
	b.read(func(tx *store.Tx) error {
		o, err := orders.Get(b.t.Context(), tx, b.team.ID, b.order.ID)
		if err != nil {
			return err
		}
		return orders.Amend(b.t.Context(), tx, &o, change)
	})
}

// wantCollected fails unless the order was collected then.
func (b *fixture) wantCollected(what string, want time.Time) {
	b.t.Helper()
	if at := b.order.CollectedAt; at == nil || !at.Equal(want) {
		b.t.Errorf("%s: collected at %v, want %v", what, at, want)
	}
	if b.order.ExpectedBy == nil || b.order.WorstBy == nil {
		b.t.Errorf("%s: results by %v, by %v at the latest", what, b.order.ExpectedBy, b.order.WorstBy)
	}
}

// The lab's time replaces the time of the draw, follows its corrections, and
// is known from a document alone.
func TestCollectionTimeOfTheLab(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.OnSite)
		b.amend(func(o *orders.Order) { o.SetDrawn(morning.Add(90*time.Minute), nil, nil) })
		b.collected(3, morning, networks.ResultSet{Partial: true, Results: b.all("P")[:1]})
		b.wantCollected("partial", morning)
		b.collected(4, morning.Add(-time.Hour), networks.ResultSet{Results: b.all("F")})
		b.wantCollected("final", morning.Add(-time.Hour))

		b.orderAgain(catalogue.WalkIn)
		b.collected(3, morning, networks.ResultSet{PDF: []byte("%PDF-1.7 one")})
		b.wantCollected("a document alone", morning)
	})
}

func offsetOf(zone *time.Location, at time.Time) int {
	_, offset := at.In(zone).Zone()
	return offset
}

// Results whose lab gives no time of collection have the order's, in the zone of the
// patient's address.
func TestResultsWithoutATimeOfCollection(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.WalkIn)
		shown := func(what string, want time.Time) {
			t.Helper()
			b.read(func(tx *store.Tx) error {
				r, err := results.Get(t.Context(), tx, &b.order, 0)
				if err != nil {
					return err
				}
				stated, err := results.StatedCollection(t.Context(), tx, &b.order)
				if err != nil {
					return err
				}
				if ofLab := what == "the lab says"; ofLab && !stated.Time.Equal(want) || !ofLab && !stated.Time.IsZero() {
					t.Errorf("%s: the lab stated %v", what, stated)
				}
				together, err := results.ForTransaction(t.Context(), tx, b.team.ID, b.order.Transaction)
				for _, v := range []results.Version{r.Version, together.Version} {
					if len(v.Samples) != 1 || !v.Samples[0].Specimen.Collected.Time.Equal(want) {
						t.Errorf("%s: %+v", what, v.Samples)
					} else if at := v.Samples[0].Specimen.Collected; what == "the order says" && (at.Offset == nil || *at.Offset != offsetOf(b.order.HomeZone(), want)) {
						t.Errorf("%s: the offset is %v", what, at.Offset)
					}
				}
				return err
			})
		}
		b.collected(3, time.Time{}, networks.ResultSet{Partial: true, Results: b.all("F")[:1]})
		shown("not stated", time.Time{})
		b.amend(func(o *orders.Order) { o.SetDrawn(morning, nil, nil) })
		b.collected(4, time.Time{}, networks.ResultSet{Results: b.all("F")})
		shown("the order says", morning)
		b.collected(5, morning.Add(-time.Hour), networks.ResultSet{Corrected: true, Results: b.all("C")})
		shown("the lab says", morning.Add(-time.Hour))
		if n := len(b.history()); n != 3 {
			t.Errorf("%d revisions", n)
		}
	})
}
