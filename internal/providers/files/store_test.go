package files_test

import (
	"context"
	"testing"
	"time"

	"hale/internal/civil"
	"hale/internal/providers/files"
	"hale/internal/providers/files/filestest"
	"hale/internal/providers/sheet/sheettest"
	"hale/internal/store"
	"hale/internal/store/storetest"
	"hale/internal/users"
	"hale/internal/users/userstest"
	"hale/internal/wearables"
)

// announced hears of histories that are complete.
type announced struct {
	files.Sink
	ranges map[string]wearables.Range
}

func (a *announced) HistoricalDone(_ context.Context, _ users.User, _ string, ranges map[string]wearables.Range) error {
	a.ranges = ranges
	return nil
}

// The history that is announced is the one that was stored: neither the years
// that the user's bounds leave out, nor the date that a broken clock wrote, nor
// anything for somebody whose data is not collected any more.
func TestHistoryIsWhatWasAccepted(t *testing.T) {
	now := time.Date(2026, 3, 20, 0, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		weights := wearables.Samples{Resource: "body_weight", Source: wearables.Source{Type: "scale"}}
		for _, text := range []string{"2016-05-01", "2026-02-01", "2026-02-03", "2099-01-01"} {
			weights.Time = append(weights.Time, civil.MustParse(text).In(time.UTC).UnixMicro())
			weights.Value = append(weights.Value, 70)
		}
		fats := wearables.Samples{Resource: "body_fat", Source: weights.Source, Time: weights.Time[:1], Value: []float64{20}}
		history := func(n users.NewUser) map[string]wearables.Range {
			user := userstest.New(t, db, team, n)
			in := sheettest.Input(db, user, "")
			heard := &announced{Sink: in.Sink}
			in.Sink = heard
			ctx := filestest.Context(user)
			s, err := in.Store(ctx, "withings", files.NewOutcome())
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Samples(ctx, []wearables.Samples{weights, fats}); err != nil {
				t.Fatal(err)
			}
			if err := s.Finish(ctx); err != nil {
				t.Fatal(err)
			}
			return heard.ranges
		}
		start, end := civil.MustParse("2026-01-01"), civil.MustParse("2026-03-01")
		got := history(users.NewUser{IngestionStart: &start})
		want := wearables.Range{Start: civil.MustParse("2026-02-01").In(time.UTC), End: civil.MustParse("2026-02-03").In(time.UTC)}
		if _, fat := got["body_fat"]; got["body_weight"] != want || fat {
			t.Errorf("%v, want %v", got, want)
		}
		if got := history(users.NewUser{IngestionEnd: &end}); len(got) != 0 {
			t.Errorf("of a connection that is paused: %v", got)
		}
	})
}
