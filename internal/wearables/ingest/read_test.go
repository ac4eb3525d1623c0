package ingest_test

import (
	"slices"
	"testing"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// TestPagesCoverEverySampleOnce, also when samples come in between pages.
func TestPagesCoverEverySampleOnce(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		values := make([]float64, 5000)
		for i := range values {
			values[i] = float64(40 + i%100)
		}
		phone := heartRates(day, values[:700]...)
		phone.Source.Type = "phone"
		f.ingest(wearables.Batch{Stage: wearables.Historical, Samples: []wearables.Samples{heartRates(day, values...), phone}})
		f.ingest(wearables.Batch{Stage: wearables.Historical, Provider: "fitbit", Samples: []wearables.Samples{heartRates(day, values[:3]...)}})

		seen := map[string][]int64{}
		var after *storage.Place
		pages := 0
		for {
			groups, next := f.page(storage.SamplesQuery{Resource: "heartrate", From: day.UnixMicro(), To: clock().UnixMicro(), After: after, Most: 999})
			pages++
			n := 0
			for _, g := range groups {
				key := g.Source.Provider + " " + g.Source.Type
				seen[key] = append(seen[key], g.Time...)
				n += g.Len()
			}
			if n > 999 {
				t.Fatalf("a page of %d samples", n)
			}
			if next == nil {
				break
			}
			after = next
			// A sample before the place is not seen, and moves nothing.
			early := heartRates(day.Add(30*time.Second+time.Duration(pages)*time.Minute), 99)
			f.ingest(wearables.Batch{Stage: wearables.Historical, Samples: []wearables.Samples{early}})
		}
		for key, want := range map[string]int{"apple_health_kit phone": 700, "apple_health_kit watch": 5000, "fitbit watch": 3} {
			if got := seen[key]; len(got) < want || len(got) > want+pages || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
				t.Errorf("%s: %d samples in pages, want %d", key, len(got), want)
			}
		}
	})
}

func (f fixture) page(q storage.SamplesQuery) (groups []wearables.Samples, next *storage.Place) {
	f.t.Helper()
	err := f.db.Read(f.ctx, func(tx *store.Tx) (err error) {
		groups, next, err = storage.ListSamples(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(), q)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return groups, next
}

func TestRangesAreHalfOpen(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		f.ingest(wearables.Batch{Samples: []wearables.Samples{heartRates(day.Add(-2*time.Minute), 60, 61, 62, 63, 64)}})
		groups, _ := f.page(storage.SamplesQuery{Resource: "heartrate", From: day.Add(-time.Minute).UnixMicro(), To: day.Add(2 * time.Minute).UnixMicro()})
		if len(groups) != 1 || !slices.Equal(groups[0].Value, []float64{61, 62, 63}) {
			t.Errorf("got %+v", groups)
		}
		groups, _ = f.page(storage.SamplesQuery{Resource: "heartrate", From: day.UnixMicro(), To: day.UnixMicro()})
		if len(groups) != 0 {
			t.Errorf("an empty range gave %+v", groups)
		}
		err := f.db.Read(f.ctx, func(tx *store.Tx) error {
			all, err := storage.SeriesOf(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(), "")
			if err != nil || len(all) != 1 {
				t.Fatalf("series %+v, %v", all, err)
			}
			var got wearables.Samples
			for range 2 { // appended behind what is there
				if err := storage.ReadSeries(f.ctx, tx, all[0], day.UnixMicro(), day.UnixMicro()+1, &got); err != nil {
					return err
				}
			}
			if !slices.Equal(got.Value, []float64{62, 62}) || len(got.Offset) != 2 || got.Resource != "heartrate" {
				t.Errorf("read %+v", got)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// A position in another user's series ends the page.
func TestAPlaceOfAnotherUserIsRefused(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		f.ingest(wearables.Batch{Samples: []wearables.Samples{heartRates(day, 60, 61)}})
		q := storage.SamplesQuery{Resource: "heartrate", To: clock().UnixMicro(), After: &storage.Place{Series: 1, Time: day.UnixMicro()}}
		if groups, next := f.page(q); len(groups) != 1 || groups[0].Len() != 1 || next != nil {
			t.Errorf("%+v, %v", groups, next)
		}
		q.From = clock().UnixMicro() - 1
		if groups, next := f.page(q); len(groups) != 0 || next != nil {
			t.Errorf("of a later time: %+v, %v", groups, next)
		}
		q.After.Series = 2
		err := f.db.Read(f.ctx, func(tx *store.Tx) error {
			_, _, err := storage.ListSamples(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(), q)
			return err
		})
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%v", err)
		}
	})
}

// A list of series says when their samples begin and end.
func TestSeriesHaveTheirExtent(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		phone := heartRates(day, 60)
		phone.Source.Type = "phone"
		f.ingest(wearables.Batch{Samples: []wearables.Samples{phone, heartRates(day.AddDate(0, 0, -40), 61, 62), heartRates(day.AddDate(0, 0, 3), 63)}})
		err := f.db.Read(f.ctx, func(tx *store.Tx) error {
			for _, resource := range []string{"", "heartrate"} {
				all, err := storage.SeriesOf(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(), resource)
				if err != nil || len(all) != 2 {
					t.Fatalf("series %+v, %v", all, err)
				}
				if s := all[0]; s.Source.Type != "phone" || s.Oldest != day.UnixMicro() || s.Newest != s.Oldest {
					t.Errorf("%+v", s)
				}
				from, to := day.AddDate(0, 0, -40).UnixMicro(), day.AddDate(0, 0, 3).UnixMicro()
				if s := all[1]; s.Oldest != from || s.Newest != to {
					t.Errorf("%+v", s)
				}
				if s := all[1]; !s.Within(from, from+1) || !s.Within(to, to+1) || s.Within(from-1, from) || s.Within(to+1, to+2) {
					t.Error("in a wrong time")
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestAnotherTeamSeesNothing(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		f.ingest(wearables.Batch{Samples: []wearables.Samples{heartRates(day, 60)}, Summaries: []wearables.Summary{activity("2026-03-01", `{"steps":1}`)}})
		other := otherTeam(f)
		err := f.db.Read(other.ctx, func(tx *store.Tx) error {
			team := other.user.Team.UUID()
			groups, _, err := storage.ListSamples(other.ctx, tx, team, f.user.ID.UUID(), storage.SamplesQuery{Resource: "heartrate", To: clock().UnixMicro()})
			if len(groups) != 0 {
				t.Error("another team reads the samples")
			}
			if err != nil {
				return err
			}
			summaries, err := storage.ListSummaries(other.ctx, tx, team, f.user.ID.UUID(), storage.SummaryQuery{Resource: "activity"})
			if len(summaries) != 0 {
				t.Error("another team reads the summaries")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
