package files_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/sheet/sheettest"
	"hale/internal/wearables/sports"
)

// A device's own file and the reply of its maker are one workout, in either
// order of import. Two devices, two kinds of source, or two starts are two
// workouts.
func TestSameWorkout(t *testing.T) {
	start := time.Date(2025, 3, 2, 10, 0, 0, 0, time.UTC)
	recording := func(device *uuid.UUID, kind, id string, after, length time.Duration) files.Recording {
		return files.Recording{Workout: derive.Workout{
			ID: id, Sport: sports.NamedSport("Running"), Source: wearables.Source{Provider: "garmin", Type: kind, DeviceID: device},
			Start: start.Add(after).UnixMicro(), End: start.Add(after + length).UnixMicro(), Offset: wearables.NoOffset,
		}}
	}
	reply := recording(nil, "watch", "4711", 0, 50*time.Minute)   // without its pauses
	bicycle := recording(nil, "exercise_machine", "4712", 0, 600) // begun together
	later := recording(nil, "watch", "4713", time.Second, time.Minute)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for name, test := range map[string]struct {
			order func(file, second files.Recording) []files.Recording
			want  int
		}{
			"file, reply": {func(file, _ files.Recording) []files.Recording {
				return []files.Recording{file, reply, reply, file}
			}, 1},
			"reply, file": {func(file, _ files.Recording) []files.Recording {
				return []files.Recording{reply, file, reply, file}
			}, 1},
			"file, reply, another watch": {func(file, second files.Recording) []files.Recording {
				return []files.Recording{file, reply, second}
			}, 2},
			"file, machine, later": {func(file, _ files.Recording) []files.Recording {
				return []files.Recording{file, bicycle, later}
			}, 3},
		} {
			user := sheettest.User(t, db, "")
			ctx := filestest.Context(user)
			device, other := newDevice(t, db, user, "Left"), newDevice(t, db, user, "Right")
			file := recording(&device, "watch", "", 0, time.Hour)
			second := recording(&other, "watch", "", 0, 70*time.Minute)
			var last wearables.Counts
			for _, one := range test.order(file, second) {
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

// newDevice stores a device of the user, and returns its id.
func newDevice(t *testing.T, db *store.DB, user users.User, model string) (id uuid.UUID) {
	t.Helper()
	ctx := filestest.Context(user)
	err := db.Write(ctx, func(tx *store.Tx) error {
		device, err := connections.EnsureDevice(ctx, tx, user, connections.Device{Provider: "garmin", Model: model})
		id = device.UUID()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A recording was stored when the reader did not know the source type of its
// maker. Today's reading of the recording, with its source type and heart
// rates, is the same workout.
func TestSameWorkoutOfAnEarlierReading(t *testing.T) {
	start := time.Date(2025, 3, 2, 10, 0, 0, 0, time.UTC)
	beat := files.MomentAt(start.UnixMicro())
	beat.HeartRate = 120
	recordingOf := func(kind string, device *uuid.UUID) files.Recording {
		return files.Recording{
			Workout: derive.Workout{
				Sport: sports.NamedSport("Running"), Source: wearables.Source{Type: kind, DeviceID: device},
				Start: start.UnixMicro(), End: start.Add(time.Hour).UnixMicro(), Offset: wearables.NoOffset,
			},
			Course: files.Course{beat},
		}
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for _, test := range []struct {
			provider, was, is string
			known             bool // the device
			workouts, new     int
		}{
			{"garmin", "unknown", "watch", false, 1, 0},
			{"strava", "phone", "app", false, 1, 0},
			{"garmin", "unknown", "watch", true, 1, 1},  // the heart rate of the device
			{"manual", "unknown", "watch", false, 2, 3}, // of any maker
		} {
			user := sheettest.User(t, db, "")
			ctx := filestest.Context(user)
			var device *uuid.UUID
			if test.known {
				id := newDevice(t, db, user, "Forerunner")
				device = &id
			}
			created := 0
			for i, one := range []files.Recording{recordingOf(test.was, nil), recordingOf(test.is, device), recordingOf(test.is, nil), recordingOf(test.is, device)} {
				outcome := files.NewOutcome()
				s, err := sheettest.Input(db, user, "").Store(ctx, test.provider, outcome)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Recordings(ctx, []files.Recording{one}); err != nil {
					t.Fatal(err)
				}
				if i > 0 {
					created += outcome.Created
				}
			}
			if all := filestest.Summaries(t, db, user, "workouts"); len(all) != test.workouts || created != test.new {
				t.Errorf("%s, %s and %s: %d workouts, %d new values", test.provider, test.was, test.is, len(all), created)
			}
		}
	})
}

// The search looks only at workouts of one start. It does not even open another
// workout of the day, so each workout costs the same in a file of thousands.
func TestSameComparesWorkoutsOfOneStart(t *testing.T) {
	start := time.Date(2025, 3, 2, 10, 0, 0, 0, time.UTC)
	recordingOf := func(after time.Duration) files.Recording {
		return files.Recording{Workout: derive.Workout{
			Sport: sports.NamedSport("Running"), Source: wearables.Source{Provider: "garmin", Type: "watch"},
			Start: start.Add(after).UnixMicro(), End: start.Add(after + time.Minute).UnixMicro(), Offset: wearables.NoOffset,
		}}
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		ctx := filestest.Context(user)
		s, err := sheettest.Input(db, user, "").Store(ctx, "garmin", files.NewOutcome())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Recordings(ctx, []files.Recording{recordingOf(0)}); err != nil {
			t.Fatal(err)
		}
		if err := db.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE summaries SET body = $1 WHERE team_id = $2`, []byte("no key opens this"), user.Team)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := s.Recordings(ctx, []files.Recording{recordingOf(2 * time.Minute)}); err != nil {
			t.Error(err)
		}
		if err := s.Recordings(ctx, []files.Recording{recordingOf(0)}); err == nil {
			t.Error("the workout that began then was not looked at")
		}
	})
}

func TestRecordingsOfAFileAreBounded(t *testing.T) {
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	ctx := filestest.Context(user)
	outcome := files.NewOutcome()
	s, err := sheettest.Input(db, user, "").Store(ctx, "garmin", outcome)
	if err != nil {
		t.Fatal(err)
	}
	outcome.Fill()
	if err := s.Recordings(ctx, make([]files.Recording, 3)); err != nil {
		t.Fatal(err)
	}
	filestest.Types(t, outcome, map[string]files.TypeCount{"recordings": {Read: 3, TooMany: 3}})
	if all := filestest.Summaries(t, db, user, "workouts"); len(all) != 0 {
		t.Error(all)
	}
}
