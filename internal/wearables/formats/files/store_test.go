package files_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/sheet/sheettest"
	"hale/internal/wearables/sports"
)

// historyListener hears of histories that are complete.
type historyListener struct {
	files.Sink
	ranges map[string]wearables.Range
}

func (a *historyListener) HistoricalDone(_ context.Context, _ users.User, _ string, ranges map[string]wearables.Range) error {
	a.ranges = ranges
	return nil
}

// The announced history covers only the stored data. It covers no years outside the
// user's bounds, no date of a broken clock, and no data after the end of collection.
func TestHistoryCoversAcceptedValues(t *testing.T) {
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
			heard := &historyListener{Sink: in.Sink}
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

// Values that break a rule are counted by the rule, with a first example that has time
// and type, and no value.
func TestRefusedValuesHaveAnExample(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		ctx := filestest.Context(user)
		outcome := files.NewOutcome()
		s, err := sheettest.Input(db, user, "").Store(ctx, "withings", outcome)
		if err != nil {
			t.Fatal(err)
		}
		first := time.Date(2025, 5, 1, 8, 0, 0, 250_000, time.UTC)
		beats := wearables.Samples{Resource: "heartrate", Source: wearables.Source{Type: "watch"}, Value: []float64{61, 900, 901}}
		for i := range beats.Value {
			beats.Time = append(beats.Time, first.Add(time.Duration(i)*time.Minute).UnixMicro())
		}
		for range 2 {
			if err := s.Samples(ctx, []wearables.Samples{beats}); err != nil {
				t.Fatal(err)
			}
		}
		day := civil.MustParse("2025-05-02")
		err = s.Summaries(ctx, []wearables.Summary{
			{Resource: "activity", Key: "x", Source: wearables.Source{Type: "phone"}, Date: day, Body: []byte(`{"words":1}`)},
			{Resource: "profile", Key: "profile", Source: wearables.Source{Type: "app"}, Body: []byte(`[]`)},
		}, wearables.Stream{WorkoutKey: "of no workout", Time: beats.Time, HeartRate: []float64{60, 61, 62}})
		if err != nil {
			t.Fatal(err)
		}
		rejections := map[string]int{
			"heartrate: implausible_value": 4, "activity: bad_document": 1, "profile: bad_document": 1, "workout_stream: stream_without_workout": 1,
		}
		refused := map[string]files.Refused{
			"heartrate: implausible_value": {At: "2025-05-01T08:01:00.000250+00:00", SourceType: "watch"}, "activity: bad_document": {At: "2025-05-02", SourceType: "phone"},
			"profile: bad_document": {SourceType: "app"}, "workout_stream: stream_without_workout": {At: "2025-05-01T08:00:00.000250+00:00"},
		}
		if !maps.Equal(outcome.Rejections, rejections) || !maps.Equal(outcome.Refused, refused) {
			t.Errorf("%v\n%v", outcome.Rejections, outcome.Refused)
		}
	})
}

// A workout that states no offset is of the day that the fallback zone had
// when it began. One that is stored moves as little as its offset does.
func TestTheFallbackZoneGivesAWorkoutItsDay(t *testing.T) {
	start := time.Date(2026, 3, 6, 2, 0, 0, 0, time.UTC) // the evening before in Los Angeles
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for _, test := range []struct {
			name, provider string
			zones          []string // of each time that it is brought
			day            string
			offset         any
		}{
			{"a zone", "manual", []string{"America/Los_Angeles"}, "2026-03-05", -28800.0},
			{"no zone", "manual", []string{""}, "2026-03-06", nil},
			{"a zone that came later", "manual", []string{"", "America/Los_Angeles"}, "2026-03-06", nil},
			{"another zone later", "manual", []string{"America/Los_Angeles", "Asia/Tokyo"}, "2026-03-05", -28800.0},
			{"an instant that is left without one", "wahoo", []string{"America/Los_Angeles"}, "2026-03-06", nil},
		} {
			user := sheettest.User(t, db, "")
			ctx := filestest.Context(user)
			for _, zone := range test.zones {
				user.TimeZone = nil
				if zone != "" {
					user.TimeZone = &users.TimeZone{Name: zone}
				}
				s, err := sheettest.Input(db, user, "").Store(ctx, test.provider, files.NewOutcome())
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Workouts(ctx, []derive.Workout{{
					Sport: sports.NamedSport("Running"), Source: wearables.Source{Provider: test.provider, Type: "watch"},
					Start: start.UnixMicro(), End: start.Add(time.Hour).UnixMicro(), Offset: wearables.NoOffset,
				}}); err != nil {
					t.Fatal(err)
				}
			}
			all := filestest.Summaries(t, db, user, "workouts")
			if len(all) != 1 || all[0]["calendar_date"] != test.day || all[0]["timezone_offset"] != test.offset {
				t.Errorf("%s: %v, want %s and %v", test.name, all, test.day, test.offset)
			}
		}
	})
}

// So is a night of the day that its sleeper woke up on.
func TestTheFallbackZoneGivesANightItsDay(t *testing.T) {
	start := time.Date(2026, 3, 5, 13, 0, 0, 0, time.UTC) // ten in the evening in Tokyo
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for _, test := range []struct {
			name   string
			zones  []string
			day    string
			offset any
		}{
			{"a zone", []string{"Asia/Tokyo"}, "2026-03-06", 32400.0},
			{"no zone", []string{""}, "2026-03-05", nil},
			{"a zone that came later", []string{"", "Asia/Tokyo"}, "2026-03-05", nil},
			{"another zone later", []string{"Asia/Tokyo", "America/Los_Angeles"}, "2026-03-06", 32400.0},
		} {
			user := sheettest.User(t, db, "")
			ctx := filestest.Context(user)
			for hours, zone := range test.zones { // the night grows
				user.TimeZone = nil
				if zone != "" {
					user.TimeZone = &users.TimeZone{Name: zone}
				}
				s, err := sheettest.Input(db, user, "").Store(ctx, "manual", files.NewOutcome())
				if err != nil {
					t.Fatal(err)
				}
				end := start.Add(time.Duration(8+hours) * time.Hour)
				s.Sleep(&derive.Sleeper{Source: wearables.Source{Provider: "manual", Type: "watch"}, Segments: []derive.Segment{
					{Start: start.UnixMicro(), End: end.UnixMicro(), Offset: wearables.NoOffset, Stage: derive.Light},
				}})
				if err := s.Finish(ctx); err != nil {
					t.Fatal(err)
				}
			}
			all := filestest.Summaries(t, db, user, "sleep")
			if len(all) != 1 || all[0]["calendar_date"] != test.day || all[0]["timezone_offset"] != test.offset || all[0]["duration"] != float64(7+len(test.zones))*3600 {
				t.Errorf("%s: %v, want %s and %v", test.name, all, test.day, test.offset)
			}
		}
	})
}

// shortBatches remembers the largest batch.
type shortBatches struct {
	files.Sink
	most int
}

func (f *shortBatches) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	f.most = max(f.most, len(b.Summaries), len(b.Streams))
	return f.Sink.Ingest(ctx, user, b)
}

// Many workouts are never in memory together with their heart rate.
func TestWorkoutsAreDerivedFewAtATime(t *testing.T) {
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	in := sheettest.Input(db, user, "")
	counted := &shortBatches{Sink: in.Sink}
	in.Sink = counted
	ctx := filestest.Context(user)
	s, err := in.Store(ctx, "manual", files.NewOutcome())
	if err != nil {
		t.Fatal(err)
	}
	all := make([]derive.Workout, 40)
	for i := range all {
		start := time.Date(2026, 3, 1, 10, i, 0, 0, time.UTC).UnixMicro()
		all[i] = derive.Workout{
			Sport: sports.NamedSport("Running"), Source: wearables.Source{Provider: "manual", Type: "watch"},
			Start: start, End: start + 30e6, Offset: wearables.NoOffset,
		}
	}
	if err := s.Workouts(ctx, all); err != nil {
		t.Fatal(err)
	}
	if n := len(filestest.Summaries(t, db, user, "workouts")); n != len(all) || counted.most > 16 {
		t.Errorf("%d workouts, %d of them at once", n, counted.most)
	}
}
