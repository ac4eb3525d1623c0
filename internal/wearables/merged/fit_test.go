package merged_test

import (
	"math"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/merged"
)

// A person types a heart rate once a day for years. Then a device has one
// sample a second. The years make the stretch long, and fit cuts it before the
// read.
func TestReadIsLimitedBeforeItStarts(t *testing.T) {
	device := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return device.AddDate(0, 1, 0) }, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		ctx := store.WithTeam(t.Context(), user.Team.UUID())
		s := wearables.Samples{Resource: "heartrate"}
		put := func(at time.Time) {
			s.Time, s.Value = append(s.Time, at.UnixMicro()), append(s.Value, 60)
		}
		for day := -1000; day < 0; day++ {
			put(device.AddDate(0, 0, day))
		}
		for second := range 6 * 86_400 {
			put(device.Add(time.Duration(second) * time.Second))
		}
		in := ingest.New(db)
		if _, err := in.Ingest(ctx, user, wearables.Batch{Provider: "manual", Stage: wearables.Historical, Samples: []wearables.Samples{s}}); err != nil {
			t.Fatal(err)
		}
		resource, _ := wearables.ResourceNamed("heartrate")
		q := merged.Query{Team: user.Team.UUID(), User: user.ID.UUID(), Resource: resource}
		err := db.Read(ctx, func(tx *store.Tx) error {
			from := device.AddDate(0, 0, -100).UnixMicro()
			end, n, err := merged.Fit(ctx, tx, q, from, from+merged.WidestStretch)
			if err != nil || n > merged.MaxStretchSamples || end <= from {
				t.Errorf("%d samples at once, to %v, %v", n, time.UnixMicro(end).UTC(), err)
			}
			kept, most := 0, 0
			err = merged.Walk(ctx, tx, q, 0, 0, device.AddDate(0, 1, 0).UnixMicro(), func(pieces []merged.Piece) {
				kept, most = kept+len(pieces), max(most, len(pieces))
			})
			if kept != len(s.Time) || most > merged.MaxStretchSamples {
				t.Errorf("%d pieces of %d samples, %d at once", kept, len(s.Time), most)
			}
			if err != nil {
				return err
			}
			// A stretch that cannot be cut to so few is not read.
			err = merged.Walk(ctx, tx, q, 100_000, 0, device.AddDate(0, 1, 0).UnixMicro(), func([]merged.Piece) {})
			if !fault.Is(err, fault.Unprocessable) {
				t.Errorf("crowded days: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// Intervals of an hour beside intervals of seconds cut each other into many
// parts. Whether the limit refuses them does not depend on the range of the read.
func TestTooManyPartsDoesNotDependOnTheRange(t *testing.T) {
	first := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return first.AddDate(0, 1, 0) }, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		ctx := store.WithTeam(t.Context(), user.Team.UUID())
		// every is an interval that comes again for eight days.
		every := func(kind string, length, lasts time.Duration) wearables.Samples {
			s := wearables.Samples{Resource: "steps", Source: wearables.Source{Type: kind}}
			for at := first; at.Before(first.AddDate(0, 0, 8)); at = at.Add(length) {
				s.Time, s.End, s.Value = append(s.Time, at.UnixMicro()), append(s.End, at.Add(lasts).UnixMicro()), append(s.Value, 1)
			}
			return s
		}
		in := ingest.New(db)
		if _, err := in.Ingest(ctx, user, wearables.Batch{Provider: "apple_health_kit", Stage: wearables.Historical, Samples: []wearables.Samples{
			every("watch", time.Minute, 30*time.Second), every("phone", time.Hour, time.Hour),
		}}); err != nil {
			t.Fatal(err)
		}
		resource, _ := wearables.ResourceNamed("steps")
		q := merged.Query{Team: user.Team.UUID(), User: user.ID.UUID(), Resource: resource}
		// Three days have 3 × 24 × 60 samples of the watch, and twice as many parts of
		// the phone's.
		for most, crowded := range map[int]bool{3*1440*3 + 200: false, 3*1440*3 - 200: true, 3*1440 - 200: true} {
			for _, of := range []struct{ from, to time.Duration }{
				{0, 192}, {72, 96}, {72, 168}, {24, 120}, {75, 76}, {90, 100}, {-4000, 4000},
			} {
				err := db.Read(ctx, func(tx *store.Tx) error {
					sum := 0.0
					from, to := first.Add(of.from*time.Hour), first.Add(of.to*time.Hour)
					err := merged.Walk(ctx, tx, q, most, from.UnixMicro(), to.UnixMicro(), func(pieces []merged.Piece) {
						for _, p := range pieces {
							sum += p.Value
						}
					})
					if want := min(of.to, 192) - max(of.from, 0); err == nil && math.Abs(sum-60.5*float64(want)) > 1 {
						t.Errorf("%d parts, hours %d to %d: %v steps, not %v", most, of.from, of.to, sum, 60.5*float64(want))
					}
					return err
				})
				if fault.Is(err, fault.Unprocessable) != crowded || err != nil && !crowded {
					t.Errorf("%d parts, hours %d to %d: %v", most, of.from, of.to, err)
				}
			}
		}
	})
}
