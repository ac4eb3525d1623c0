package ingest_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// A final chunk that comes again opens no block: those here can not be.
func TestARepeatedAnnouncementCountsNothing(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		days := func() (n int64) {
			if err := f.db.Read(f.ctx, func(tx *store.Tx) error {
				return tx.QueryRow(f.ctx, `SELECT days FROM history_announced WHERE team_id = $1`, f.user.Team).Scan(&n)
			}); err != nil {
				t.Fatal(err)
			}
			return n
		}
		f.ingest(wearables.Batch{Samples: []wearables.Samples{{
			Resource: "body_weight", Source: watch(), Value: []float64{70, 71, 72},
			Time: []int64{day.UnixMicro(), day.Add(time.Hour).UnixMicro(), day.AddDate(0, 0, 2).UnixMicro()},
		}}})
		done := func() error {
			return f.in.HistoricalDone(f.ctx, f.user, "apple_health_kit", map[string]wearables.Range{"body_weight": {Start: day, End: clock()}})
		}
		if err := done(); err != nil || days() != 2 {
			t.Fatalf("%v, %d days", err, days())
		}
		if err := f.db.Write(f.ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(f.ctx, `UPDATE sample_blocks SET data = $2 WHERE team_id = $1`, f.user.Team, []byte("torn"))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := done(); err != nil || days() != 2 || len(f.types()) != 2 {
			t.Errorf("%v, %d days, %v", err, days(), f.types())
		}
	})
}

// An empty history connects the user and is announced once, whatever data follows.
func TestAnEmptyHistoryIsAnnouncedOnce(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		done := func(resources ...string) {
			ranges := map[string]wearables.Range{}
			for _, r := range resources {
				ranges[r] = wearables.Range{Start: day, End: clock()}
			}
			if err := f.in.HistoricalDone(f.ctx, f.user, "apple_health_kit", ranges); err != nil {
				t.Fatal(err)
			}
		}
		done() // an empty batch connects no user
		if got := f.types(); len(got) != 0 {
			t.Error(got)
		}
		done("glucose")
		f.ingest(wearables.Batch{Stage: wearables.Historical, Samples: []wearables.Samples{heartRates(day, 61)}})
		done("glucose", "heartrate")
		want := []string{"provider.connection.created", "historical.data.glucose.created", "provider.connection.updated", "historical.data.heartrate.created"}
		if got := f.allTypes(); !slices.Equal(got, want) {
			t.Errorf("announced %v, want %v", got, want)
		}
	})
}

// A batch that ends histories announces each change of them, in its transaction.
func TestBatchCompletesHistories(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for _, steps := range []string{"10", "10", "20"} {
			f.ingest(wearables.Batch{Stage: wearables.Historical, Ends: true, Summaries: []wearables.Summary{activity("2026-02-01", `{"steps":`+steps+`}`)}})
		}
		want := []string{"provider.connection.created", "historical.data.activity.created", "historical.data.activity.created"}
		if got := f.allTypes(); !slices.Equal(got, want) {
			t.Errorf("announced %v, want %v", got, want)
		}
	})
}

// A refused value does not extend the history's range; an unchanged one does.
func TestRangesOfAcceptedValues(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		first := civil.MustParse("2026-03-01")
		f.user.IngestionStart = &first
		steps := wearables.Samples{
			Resource: "steps", Source: watch(), Value: []float64{10, 10, 10},
			Time: []int64{day.AddDate(-10, 0, 0).UnixMicro(), day.Add(time.Hour).UnixMicro(), day.Add(2 * time.Hour).UnixMicro()},
			End:  []int64{day.AddDate(-10, 0, 0).UnixMicro(), day.Add(5 * time.Hour).UnixMicro(), day.Add(3 * time.Hour).UnixMicro()},
		}
		old := heartRates(day.AddDate(-1, 0, 0), 61)
		ride := wearables.Summary{
			Resource: "workouts", Key: "ride", Date: civil.MustParse("2026-03-02"), Start: day, End: day.Add(time.Hour), Body: []byte(`{}`),
		}
		b := wearables.Batch{
			Samples: []wearables.Samples{steps, old},
			Summaries: []wearables.Summary{
				ride,
				{Resource: "profile", Key: "profile", Body: []byte(`{"height":180}`)},
				activity("2016-03-01", `{"steps":1}`), activity("2026-03-03", `{"steps":1}`), activity("2026-03-05", `{"steps":1}`),
			},
			Streams: []wearables.Stream{
				{WorkoutKey: "ride", Time: []int64{day.UnixMicro(), day.Add(time.Minute).UnixMicro()}, Power: []float64{200, 210}},
				{WorkoutKey: "of no workout", Time: []int64{0, 1e6}, Power: []float64{200, 210}},
			},
		}
		want := map[string]wearables.Range{
			"steps":                 {Start: day.Add(time.Hour), End: day.Add(5 * time.Hour)},
			"workouts":              {Start: day.AddDate(0, 0, 1), End: day.AddDate(0, 0, 1)},
			"profile":               {Start: clock(), End: clock()},
			"activity":              {Start: day.AddDate(0, 0, 2), End: day.AddDate(0, 0, 4)},
			wearables.WorkoutStream: {Start: day, End: day.Add(time.Minute)},
		}
		for range 2 {
			got := f.ingest(b).Ranges
			if !maps.EqualFunc(got, want, func(a, b wearables.Range) bool { return a.Start.Equal(b.Start) && a.End.Equal(b.End) }) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		}
		over := civil.MustParse("2026-03-02")
		f.user.IngestionEnd = &over
		if r := f.ingest(b); !r.Paused || len(r.Ranges) != 0 {
			t.Errorf("paused: %v", slices.Collect(maps.Keys(r.Ranges)))
		}
	})
}

// pulled returns the introspection of the user's heart rates.
func (f fixture) pulled() (p storage.Pull) {
	f.t.Helper()
	if err := f.db.Read(f.ctx, func(tx *store.Tx) error {
		team, all := f.user.Team.UUID(), storage.UserRange{First: f.user.ID.UUID(), Last: f.user.ID.UUID()}
		heard, err := storage.StatisticsOf(f.ctx, tx, team, all)
		if err != nil {
			return err
		}
		pulls, err := storage.PullsOf(f.ctx, tx, team, all, heard, func(uuid.UUID, string) time.Time { return time.Time{} })
		p = pulls[f.user.ID.UUID()]["apple_health_kit"]["heartrate"]
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
	return p
}

// A history without a stated range has the range of its values, whether they arrived
// with it or after it. A stated side stays, also if all values are beyond it.
func TestTheRangeOfAHistory(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		now, first, last := clock(), day, day.AddDate(0, 0, 9)
		ends := func(stated wearables.Range, start, end time.Time, days int64) {
			t.Helper()
			if err := f.in.HistoricalDone(f.ctx, f.user, "apple_health_kit", map[string]wearables.Range{"heartrate": stated}); err != nil {
				t.Fatal(err)
			}
			if p := f.pulled(); !p.RangeStart.Equal(start) || !p.RangeEnd.Equal(end) || p.Days != days {
				t.Errorf("%v: from %v to %v with %d days, want %v to %v with %d", stated, p.RangeStart, p.RangeEnd, p.Days, start, end, days)
			}
		}
		ends(wearables.Range{}, now, now, 0)
		f = f.newUser()
		f.ingest(wearables.Batch{Samples: []wearables.Samples{heartRates(first, 61)}})
		ends(wearables.Range{}, now, now, 0) // an empty history beside what came by itself
		for _, c := range []struct{ stated, want wearables.Range }{
			{wearables.Range{}, wearables.Range{Start: first, End: last}},
			{wearables.Range{Start: first.AddDate(0, 0, 1)}, wearables.Range{Start: first.AddDate(0, 0, 1), End: last}},
			{wearables.Range{Start: last.AddDate(0, 0, 1)}, wearables.Range{Start: last.AddDate(0, 0, 1), End: last.AddDate(0, 0, 1)}},
			{wearables.Range{End: last.Add(time.Hour)}, wearables.Range{Start: first, End: last.Add(time.Hour)}},
			{wearables.Range{End: first.Add(-time.Hour)}, wearables.Range{Start: first.Add(-time.Hour), End: first.Add(-time.Hour)}},
		} {
			f = f.newUser()
			f.ingest(wearables.Batch{Stage: wearables.Historical, Samples: []wearables.Samples{heartRates(last, 61)}})
			f.ingest(wearables.Batch{Stage: wearables.Historical, Samples: []wearables.Samples{heartRates(first, 61)}})
			days := int64(0)
			for _, at := range []time.Time{first, last} {
				if !at.Before(c.want.Start) && !at.After(c.want.End) {
					days++
				}
			}
			ends(c.stated, c.want.Start, c.want.End, days)
		}
	})
}

// Historical values that arrive after the end of a history count for it, whether the
// end is sent again or not. Daily values and known values do not count again.
func TestDaysOfAHistoryThatGrows(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		kept := func() (n *int64) {
			t.Helper()
			if err := f.db.Read(f.ctx, func(tx *store.Tx) error {
				return tx.QueryRow(f.ctx, `SELECT days FROM history_announced WHERE team_id = $1`, f.user.Team).Scan(&n)
			}); err != nil {
				t.Fatal(err)
			}
			return n
		}
		done := func() {
			t.Helper()
			if err := f.in.HistoricalDone(f.ctx, f.user, "apple_health_kit", map[string]wearables.Range{"heartrate": {Start: day, End: clock()}}); err != nil {
				t.Fatal(err)
			}
		}
		come := func(stage wearables.Stage, days ...int) {
			for _, n := range days {
				f.ingest(wearables.Batch{Stage: stage, Samples: []wearables.Samples{heartRates(day.AddDate(0, 0, n), 61)}})
			}
		}
		come(wearables.Historical, 0, 1)
		done()
		come(wearables.Historical, 0, 1)
		if n := kept(); n == nil || *n != 2 {
			t.Errorf("the same again: %v", n)
		}
		come(wearables.Historical, 2)
		if n, p := kept(), f.pulled(); n != nil || p.Days != 3 || p.Status != storage.PullSuccess {
			t.Errorf("a third chunk: %v kept, announced %+v", n, p)
		}
		done()
		if n := kept(); n == nil || *n != 3 || len(f.types()) != 2 {
			t.Errorf("the end once more: %v, %v", n, f.types())
		}
		come(wearables.Daily, 3)
		if n := kept(); n == nil || *n != 3 {
			t.Errorf("what came by itself: %v", n)
		}
	})
}
