package ingest_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
)

func TestEnded(t *testing.T) {
	last := civil.MustParse("2026-03-10")
	for _, c := range []struct {
		now  string
		over bool
	}{
		{"2026-03-10T12:00:00Z", false},
		{"2026-03-17T23:59:59Z", false},
		{"2026-03-18T00:00:00Z", true},
		{"2027-01-01T00:00:00Z", true},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := wearables.HasIngestionEnded(now, &last); got != c.over {
			t.Errorf("at %s: %t", c.now, got)
		}
		if got := last.Before(wearables.IngestionEndedBefore(now)); got != c.over {
			t.Errorf("at %s the job would pause: %t", c.now, got)
		}
	}
	if wearables.HasIngestionEnded(clock(), nil) {
		t.Error("without an end it has ended")
	}
}

// The bounds are days where the person is, with a day to spare on both sides.
func TestIngestionBoundsAllowOneDay(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		start, end := civil.MustParse("2026-03-14"), civil.MustParse("2026-03-15")
		f.user.IngestionStart, f.user.IngestionEnd = &start, &end
		in := func(at string, offset int32) bool {
			when, err := time.Parse(time.RFC3339, at)
			if err != nil {
				t.Fatal(err)
			}
			s := heartRates(when, 61)
			s.Offset = []int32{offset}
			return f.ingest(wearables.Batch{Samples: []wearables.Samples{s}}).Created == 1
		}
		for _, c := range []struct {
			at     string
			offset int32
			in     bool
		}{
			{"2026-03-12T23:59:59Z", wearables.NoOffset, false},
			{"2026-03-13T00:00:00Z", wearables.NoOffset, true},
			{"2026-03-12T22:30:00Z", 7200, true},
			{"2026-03-13T03:00:00Z", -18000, false},
			{"2026-03-16T23:59:59Z", wearables.NoOffset, true},
			{"2026-03-17T00:00:00Z", wearables.NoOffset, false},
			{"2026-03-17T03:00:00Z", -18000, true},
		} {
			if got := in(c.at, c.offset); got != c.in {
				t.Errorf("%s at %d: taken %t", c.at, c.offset, got)
			}
		}
		days := wearables.Batch{Summaries: []wearables.Summary{
			{Resource: "activity", Key: "a", Date: civil.MustParse("2026-03-12"), Body: []byte(`{"steps":1}`)},
			{Resource: "activity", Key: "b", Date: civil.MustParse("2026-03-13"), Body: []byte(`{"steps":1}`)},
			{Resource: "activity", Key: "c", Date: civil.MustParse("2026-03-16"), Body: []byte(`{"steps":1}`)},
			{Resource: "activity", Key: "d", Date: civil.MustParse("2026-03-17"), Body: []byte(`{"steps":1}`)},
		}}
		if got := counts(f.ingest(days)); got != "2 created, 0 updated, 0 unchanged, 2 rejected" {
			t.Error(got)
		}
	})
}

func TestDataAfterTheCatchUpIsRefused(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		kept := civil.DateOf(clock().AddDate(0, 0, -7))
		f.user.IngestionEnd = &kept
		b := wearables.Batch{Samples: []wearables.Samples{heartRates(day, 61, 62)}, Summaries: []wearables.Summary{
			{Resource: "activity", Key: "a", Date: civil.DateOf(day), Body: []byte(`{"steps":1}`)},
		}}
		if got := counts(f.ingest(b)); got != "3 created, 0 updated, 0 unchanged, 0 rejected" {
			t.Errorf("within the catch-up %s", got)
		}
		over := kept.AddDays(-1)
		f.user.IngestionEnd = &over
		r := f.ingest(b)
		if got := counts(r); got != "0 created, 0 updated, 0 unchanged, 3 rejected" || !r.Paused {
			t.Errorf("after it %s", got)
		}
		want := []wearables.Rejection{
			{Resource: "heartrate", Reason: wearables.ReasonPaused, Count: 2}, {Resource: "activity", Reason: wearables.ReasonPaused, Count: 1},
		}
		if !slices.Equal(r.Rejections, want) {
			t.Errorf("rejections %+v", r.Rejections)
		}
	})
}

// A paused connection stores no data, also after the end was moved; a connection that
// is made again does.
func TestAPausedConnectionStoresNothing(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		b := wearables.Batch{Provider: "apple_health_kit", Stage: wearables.Daily, Samples: []wearables.Samples{heartRates(day, 61)}}
		f.ingest(b)
		f.setEnd(civil.DateOf(clock().AddDate(0, 0, -8)))
		if n := f.pause(); n != 1 {
			t.Errorf("paused %d connections", n)
		}
		if n := f.pause(); n != 0 {
			t.Errorf("paused %d again", n)
		}
		f.setEnd(civil.DateOf(clock()))
		b.Samples[0] = heartRates(day, 61, 62)
		before := len(f.events())
		for range 2 {
			r := f.ingest(b)
			if got := counts(r); got != "0 created, 0 updated, 0 unchanged, 2 rejected" || !r.Paused {
				t.Error(got)
			}
			if _, r, err := f.in.Push(f.ctx, f.user.Team, f.user.ID, b); err != nil || !r.Paused {
				t.Errorf("a small batch: %+v, %v", r, err)
			}
		}
		if n := len(f.events()); n != before {
			t.Errorf("%d events about nothing", n-before)
		}
		if err := f.db.Write(f.ctx, func(tx *store.Tx) error {
			return connections.Deregister(f.ctx, tx, f.user.Team, f.user.ID, "apple_health_kit")
		}); err != nil {
			t.Fatal(err)
		}
		if got := counts(f.ingest(b)); got != "1 created, 0 updated, 1 unchanged, 0 rejected" {
			t.Errorf("connected again %s", got)
		}
	})
}

func (f *fixture) setEnd(day civil.Date) {
	f.t.Helper()
	f.user.IngestionEnd = &day
	if err := f.db.Write(f.ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(f.ctx, `UPDATE users SET ingestion_end = $1 WHERE team_id = $2 AND user_id = $3`, day, f.user.Team, f.user.ID)
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) pause() (n int64) {
	f.t.Helper()
	ctx := store.AsSystem(context.Background())
	if err := f.db.Write(ctx, func(tx *store.Tx) (err error) {
		n, err = connections.PauseEnded(ctx, tx)
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
	return n
}
