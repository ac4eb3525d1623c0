package aggregate

import (
	"context"
	"errors"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/storage"
)

// Years of few samples make a stretch long. fit ends it where a device with one
// sample a second begins. A stretch is never shorter than one block.
func TestReadIsLimitedBeforeItStarts(t *testing.T) {
	device := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return device.AddDate(0, 1, 0) }, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		ctx := store.WithTeam(t.Context(), user.Team.UUID())
		typed := wearables.Samples{Resource: "heartrate"}
		for day := -1000; day < 0; day++ {
			typed.Time, typed.Value = append(typed.Time, device.AddDate(0, 0, day).UnixMicro()), append(typed.Value, 60)
		}
		dense := wearables.Samples{Resource: "heartrate"}
		for second := range 6 * 86_400 {
			dense.Time, dense.Value = append(dense.Time, device.Add(time.Duration(second)*time.Second).UnixMicro()), append(dense.Value, 60)
		}
		in := ingest.New(db)
		for _, s := range []wearables.Samples{typed, dense} {
			if _, err := in.Ingest(ctx, user, wearables.Batch{Provider: "manual", Stage: wearables.Historical, Samples: []wearables.Samples{s}}); err != nil {
				t.Fatal(err)
			}
		}
		err := db.Read(ctx, func(tx *store.Tx) error {
			all, err := storage.SeriesOf(ctx, tx, user.Team.UUID(), user.ID.UUID(), "heartrate")
			if err != nil || len(all) != 1 {
				t.Fatalf("%d series, %v", len(all), err)
			}
			from := device.AddDate(0, 0, -100).UnixMicro()
			end, err := fit(ctx, tx, &all[0], from, from+1000*dayUS, fewSamples)
			if err != nil {
				return err
			}
			var found wearables.Samples
			if err := storage.ReadSeries(ctx, tx, all[0], from, end, &found); err != nil {
				return err
			}
			if found.Len() > fewSamples || end <= from {
				t.Errorf("%d samples at once, to %v", found.Len(), time.UnixMicro(end).UTC())
			}
			all[0].Width = time.Hour
			if end, err = fit(ctx, tx, &all[0], device.UnixMicro(), device.UnixMicro()+dayUS, 10); end-device.UnixMicro() != 3600e6 || err != nil {
				t.Errorf("a day of many blocks is read to %v, %v", time.UnixMicro(end).UTC(), err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// Work on rows in memory ends when its context is canceled.
func TestWorkEndsWithItsContext(t *testing.T) {
	p := plan("day", "mean", true)
	where, _, err := query.DecodeQuery([]byte(`{"query":{"select":[{"timeseries":"heartrate","field":"value"}],"where":"value > 10"}}`), "query", "config")
	if err != nil {
		t.Fatal(err)
	}
	filtered, err := query.Compile(where)
	if err != nil {
		t.Fatal(err)
	}
	rows := []row{{at: 0, kind: "watch", value: 60}, {at: 1, kind: "phone", value: 70}}
	r := Request{Plan: p}
	f := frameOf(p, rows)
	g, err := group(t.Context(), p, f, MostResults)
	if err != nil {
		t.Fatal(err)
	}
	table, err := r.reduce(t.Context(), f, g, g.rows())
	if err != nil {
		t.Fatal(err)
	}
	p.Align = &query.Align{Mode: query.CarryForward}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, work := range map[string]func(context.Context) error{
		"filter": func(ctx context.Context) error { return frameOf(filtered, rows).filter(ctx, filtered.Where) },
		"group":  func(ctx context.Context) error { _, err := group(ctx, p, f, MostResults); return err },
		"reduce": func(ctx context.Context) error { _, err := r.reduce(ctx, f, g, g.rows()); return err },
		"align":  func(ctx context.Context) error { _, err := r.align(ctx, table); return err },
	} {
		if err := work(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := work(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%s continued: %v", name, err)
		}
	}
}
