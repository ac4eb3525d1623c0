package wearables_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"hale/internal/civil"
	"hale/internal/store"
	"hale/internal/wearables"
)

// A final chunk that comes again opens no block: those here can not be.
func TestARepeatedAnnouncementCountsNothing(t *testing.T) {
	each(t, func(f fixture) {
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

// What is refused is of no time; what is there already is.
func TestRangesOfWhatIsAccepted(t *testing.T) {
	each(t, func(f fixture) {
		first := civil.MustParse("2026-03-01")
		f.user.IngestionStart = &first
		steps := wearables.Samples{
			Resource: "steps", Source: watch(), Value: []float64{10, 10, 10},
			Time: []int64{day.AddDate(-10, 0, 0).UnixMicro(), day.Add(time.Hour).UnixMicro(), day.Add(2 * time.Hour).UnixMicro()},
			End:  []int64{day.AddDate(-10, 0, 0).UnixMicro(), day.Add(5 * time.Hour).UnixMicro(), day.Add(3 * time.Hour).UnixMicro()},
		}
		old := beats(day.AddDate(-1, 0, 0), 61)
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
				{WorkoutKey: "of nobody", Time: []int64{0, 1e6}, Power: []float64{200, 210}},
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
