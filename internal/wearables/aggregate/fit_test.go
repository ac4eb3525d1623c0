package aggregate_test

import (
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate"
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
			end, err := aggregate.Fit(ctx, tx, &all[0], from, from+1000*aggregate.DayUS, aggregate.FewSamples)
			if err != nil {
				return err
			}
			var found wearables.Samples
			if err := storage.ReadSeries(ctx, tx, all[0], from, end, &found); err != nil {
				return err
			}
			if found.Len() > aggregate.FewSamples || end <= from {
				t.Errorf("%d samples at once, to %v", found.Len(), time.UnixMicro(end).UTC())
			}
			all[0].Width = time.Hour
			if end, err = aggregate.Fit(ctx, tx, &all[0], device.UnixMicro(), device.UnixMicro()+aggregate.DayUS, 10); end-device.UnixMicro() != 3600e6 || err != nil {
				t.Errorf("a day of many blocks is read to %v, %v", time.UnixMicro(end).UTC(), err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
