package files_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/providers/files"
	"hale/internal/providers/files/filestest"
	"hale/internal/providers/sheet/sheettest"
	"hale/internal/providers/sports"
	"hale/internal/store"
	"hale/internal/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
)

// A device's own file and the reply of its maker are one workout, whichever
// comes first; two devices, two kinds of source and two starts are not.
func TestSameWorkout(t *testing.T) {
	device, other := uuid.New(), uuid.New()
	start := time.Date(2025, 3, 2, 10, 0, 0, 0, time.UTC)
	told := func(device *uuid.UUID, kind, id string, after, length time.Duration) files.Recording {
		return files.Recording{Workout: derive.Workout{
			ID: id, Sport: sports.Named("Running"), Source: wearables.Source{Provider: "garmin", Type: kind, DeviceID: device},
			Start: start.Add(after).UnixMicro(), End: start.Add(after + length).UnixMicro(), Offset: wearables.NoOffset,
		}}
	}
	file := told(&device, "watch", "", 0, time.Hour)         // with its pauses
	reply := told(nil, "watch", "4711", 0, 50*time.Minute)   // without
	second := told(&other, "watch", "", 0, 70*time.Minute)   // on the other wrist
	bicycle := told(nil, "exercise_machine", "4712", 0, 600) // begun together
	later := told(nil, "watch", "4713", time.Second, time.Minute)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for name, test := range map[string]struct {
			order []files.Recording
			want  int
		}{
			"file, reply":                {[]files.Recording{file, reply, reply, file}, 1},
			"reply, file":                {[]files.Recording{reply, file, reply, file}, 1},
			"file, reply, another watch": {[]files.Recording{file, reply, second}, 2},
			"file, machine, later":       {[]files.Recording{file, bicycle, later}, 3},
		} {
			user := sheettest.User(t, db, "")
			ctx := filestest.Context(user)
			var last wearables.Counts
			for _, one := range test.order {
				outcome := files.NewOutcome()
				s, err := sheettest.Input(db, user, "").Store(ctx, "garmin", outcome)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Recordings(ctx, []files.Recording{one}); err != nil {
					t.Fatal(err)
				}
				last = outcome.Counts
			}
			all := filestest.Summaries(t, db, user, "workouts")
			if len(all) != test.want {
				t.Errorf("%s: %d workouts, want %d", name, len(all), test.want)
			}
			if test.want > 1 {
				continue
			}
			w := all[0]
			if w["source"].(map[string]any)["device_id"] != device.String() || w["provider_id"] != "4711" || w["time_end"] != "2025-03-02T11:00:00+00:00" {
				t.Errorf("%s: %v", name, w)
			}
			if last.Created != 0 {
				t.Errorf("%s: %+v", name, last)
			}
		}
	})
}
