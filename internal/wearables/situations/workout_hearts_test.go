package situations

import (
	"fmt"
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables/zones"
)

// The hour of the run, with a heart rate of each minute.
var runStart = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// pushPulse pushes a heart rate for each of the 60 minutes of the run: first, first+1 and so
// on.
func pushPulse(first int) step { return pushMinutes(0, 60, first) }

// pushMinutes pushes heart rates for some minutes of the run.
func pushMinutes(from, to, first int) step {
	var all []string
	for i := from; i < to; i++ {
		at := runStart.Add(time.Duration(i) * time.Minute).Format(time.RFC3339)
		all = append(all, fmt.Sprintf(`{"timestamp":%q,"value":%d,"source_type":"watch","source_app_id":"com.w"}`, at, first+i))
	}
	return push("heartrate", apple, "UTC", all...)
}

// pushWorkout pushes the run with an id, between two minutes.
func pushWorkout(from, to int, more string) step {
	return pushSummaries("workouts", apple, "UTC", fmt.Sprintf(`{"id":"x1","time_start":%q,"time_end":%q,"source_type":"watch","source_app_id":"com.w"%s}`,
		runStart.Add(time.Duration(from)*time.Minute).Format(time.RFC3339), runStart.Add(time.Duration(to)*time.Minute).Format(time.RFC3339), more))
}

// renewWorkouts runs the end of the job of a deletion, or of pushed samples.
func renewWorkouts() step {
	return func(b *bed) {
		if err := zones.Renew(store.WithTeam(b.t.Context(), b.team.ID.UUID()), b.db, b.user, apple, []civil.Date{civil.DateOf(runStart)}, time.Time{}); err != nil {
			b.t.Fatal(err)
		}
	}
}

// exportedPulse returns records of the run's heart rate in an export: first, first+1 and so
// on.
func exportedPulse(first int) (all []string) {
	for i := range 60 {
		at := runStart.Add(time.Duration(i) * time.Minute).Format("2006-01-02 15:04:05 -0700")
		all = append(all, fmt.Sprintf(`<Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Watch" device="&lt;&lt;HKDevice: 0x1&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:10&gt;" unit="count/min" startDate="%s" endDate="%s" value="%d"/>`, at, at, first+i))
	}
	return all
}

const exportedHour = ` <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="60" durationUnit="min" sourceName="Watch" device="&lt;&lt;HKDevice: 0x1&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:10&gt;" creationDate="2026-03-02 10:00:01 +0000" startDate="2026-03-02 09:00:00 +0000" endDate="2026-03-02 10:00:00 +0000"><WorkoutStatistics type="HKQuantityTypeIdentifierDistanceWalkingRunning" sum="10" unit="km"/></Workout>`

// streamOfWorkout reads the number of elements of the only workout's stream, with its first
// and last heart rate.
func streamOfWorkout(row string) truth {
	return truth{name: "workout stream", fields: []string{"n", "first", "last"}, rows: []string{row}, read: func(b *bed) []map[string]any {
		var page struct{ Workouts []struct{ ID string } }
		b.decode(b.want("GET", "/v2/summary/workouts/*?"+span, ""), &page)
		var stream struct {
			Time      []float64
			Heartrate []float64
		}
		b.decode(b.want("GET", "/v2/timeseries/workouts/"+page.Workouts[0].ID+"/stream", ""), &stream)
		one := map[string]any{"n": float64(len(stream.Time))}
		if n := len(stream.Heartrate); n > 0 {
			one["first"], one["last"] = stream.Heartrate[0], stream.Heartrate[n-1]
		}
		return []map[string]any{one}
	}}
}

// workoutEvents counts the events that change the workout and its stream.
func workoutEvents(workouts, streamsChanged, streamsDeleted int) []truth {
	return []truth{
		countEvents("daily.data.workouts.updated", workouts), countEvents("daily.data.workout_stream.updated", streamsChanged),
		countEvents("daily.data.workout_stream.deleted", streamsDeleted),
	}
}

// workoutHeartRows returns the situations about the heart rate of workouts, which follows
// its samples.
func workoutHeartRows() []situation {
	const fields = "average_hr max_hr hr_zones"
	hearts := call("DELETE", "/v2/user/*/data?resource=heartrate", "")
	worked := []step{pushPulse(100), pushWorkout(0, 60, ""), runZones()}
	with := func(more ...step) []step { return append(append([]step{}, worked...), more...) }
	// The maximum is 190, so a minute counts for half a minute in its zone.
	right := []truth{summaries("workouts", fields, "130 159 [0,420,570,570,240,0]"), streamOfWorkout("60 100 159")}
	none := []truth{summaries("workouts", fields, "null null null"), streamOfWorkout("0 null null")}
	return []situation{
		{"a workout has the heart rate of its time", with(renewWorkouts(), renewWorkouts()), append(right, workoutEvents(1, 0, 0)...)},
		{"the heart rate of a workout is deleted", with(hearts, renewWorkouts(), renewWorkouts()), append(none, workoutEvents(2, 0, 1)...)},
		{"the heart rate of a workout is deleted and pushed again", with(hearts, renewWorkouts(), pushPulse(110), runDerive(apple)), []truth{
			summaries("workouts", "average_hr max_hr", "140 169"), streamOfWorkout("60 110 169"),
		}},
		{"half of the heart rate of a workout is deleted", with(call("DELETE", "/v2/user/*/data?resource=heartrate&start=2026-03-02T09:30:00Z", ""), renewWorkouts()), []truth{
			summaries("workouts", "average_hr max_hr", "115 129"), streamOfWorkout("30 100 129"),
		}},
		{"the heart rate of a workout is corrected", with(pushPulse(120), runDerive(apple), runDerive(apple)), append([]truth{
			summaries("workouts", "average_hr max_hr", "150 179"), streamOfWorkout("60 120 179"),
		}, workoutEvents(2, 1, 0)...)},
		{"stated heart rate stays when samples are deleted", []step{
			pushPulse(100), pushWorkout(0, 60, `,"average_hr":140,"max_hr":170`), runZones(), hearts, renewWorkouts(),
		}, []truth{summaries("workouts", fields, "140 170 null"), streamOfWorkout("0 null null")}},
		{"the import of a pushed workout's heart rate is undone", []step{
			undoable("a", exportedPulse(100)...), pushWorkout(0, 60, ""), runZones(), undo("a"), renewWorkouts(),
		}, none},
		{"the import of a pushed workout's heart rate is undone, and the right one is pushed", []step{
			undoable("a", exportedPulse(60)...), pushWorkout(0, 60, ""), runZones(), undo("a"), renewWorkouts(), pushPulse(100), runDerive(apple),
		}, right},
		{"the heart rate of an imported workout is deleted", []step{
			export(append(exportedPulse(100), exportedHour)...), hearts, renewWorkouts(),
		}, append(none, workoutEvents(1, 0, 1)...)},
		{"the heart rate of an imported workout is undone, then the workout", []step{
			undoable("a", exportedPulse(100)...), undoable("b", exportedHour), undo("a"), renewWorkouts(), undo("b"),
		}, []truth{summaries("workouts", fields), countEvents("daily.data.workout_stream.deleted", 1)}},
		{"an import corrects the heart rate of an imported workout", []step{
			undoable("a", append(exportedPulse(100), exportedHour)...), undoable("b", exportedPulse(110)...),
		}, []truth{summaries("workouts", "average_hr max_hr", "140 169"), streamOfWorkout("60 110 169")}},
		{"an import corrected the heart rate of an imported workout, and is undone", []step{
			undoable("a", append(exportedPulse(100), exportedHour)...), undoable("b", exportedPulse(110)...), undo("b"), renewWorkouts(),
		}, right},
		{"an earlier version of a workout is restored after its heart rate was deleted", []step{
			pushPulse(100), pushWorkout(0, 60, ""), runZones(), undoable("a", exportedHour), hearts, renewWorkouts(), undo("a"), renewWorkouts(),
		}, none},
		{"a workout is cropped", with(pushWorkout(30, 45, ""), runZones()), append([]truth{
			summaries("workouts", "average_hr max_hr", "138 145"), streamOfWorkout("16 130 145"),
		}, workoutEvents(3, 1, 0)...)},
		{"a workout grows", []step{pushPulse(100), pushWorkout(30, 60, ""), runZones(), pushWorkout(0, 60, ""), runZones()}, right},
		{"a cropped workout states its heart rate", with(pushWorkout(30, 45, `,"average_hr":120,"max_hr":150,"hr_zones":[1,2,3,4,5,6]`), runZones()), []truth{
			summaries("workouts", fields, "120 150 [1,2,3,4,5,6]"), streamOfWorkout("16 130 145"),
		}},
		{"a heart rate at the end of a workout is part of it", []step{pushMinutes(0, 61, 100), pushWorkout(0, 60, ""), runZones()}, []truth{
			summaries("workouts", fields, "130 160 [0,420,570,570,240,0]"), streamOfWorkout("61 100 160"),
		}},
		{"a deleted stream does not come back with other heart rate", with(call("DELETE", "/v2/user/*/data?resource=workout_stream", ""), pushPulse(120), runDerive(apple)), []truth{
			summaries("workouts", "average_hr", "150"), streamOfWorkout("0 null null"),
		}},
		{"absent heart rate of a later version is cleared", []step{pushWorkout(0, 60, `,"average_hr":140,"max_hr":160,"hr_zones":[1,2,3,4,5,6]`), pushWorkout(0, 60, `,"average_hr":165`)}, []truth{
			summaries("workouts", fields, "165 null null"),
		}},
		{"a later version states one of the computed values", with(pushWorkout(0, 60, `,"average_hr":165`), runZones()), []truth{
			summaries("workouts", fields, "165 null [0,420,570,570,240,0]"),
		}},
		{"a later version states no heart rate any more", []step{pushPulse(100), pushWorkout(0, 60, `,"average_hr":140,"max_hr":160`), runZones(), pushWorkout(0, 60, ""), runZones()}, right},
		{"a later version states null for computed values", with(pushWorkout(0, 60, `,"average_hr":null,"hr_zones":null`)), append(right, workoutEvents(1, 0, 0)...)},
		{"a sender cannot mark a value as computed", []step{pushWorkout(0, 60, `,"average_hr":140,"max_hr":160,"computed":["average_hr","max_hr"]`), renewWorkouts()}, []truth{
			summaries("workouts", fields, "140 160 null"),
		}},
	}
}

// sleepTotalRows returns the situations about totals of later versions of a night.
func sleepTotalRows() []situation {
	night := func(more string) step {
		return pushSummaries("sleep", android, "UTC", strings.Replace(`{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z","source_type":"watch"}`, "}", more+"}", 1))
	}
	stages := pushSummaries("sleep_cycle", android, "", `{"session_start":"2026-03-01T22:00:00Z","session_end":"2026-03-02T06:00:00Z","source_type":"watch",
		"stage_start_offset_second":[0,3600],"stage_end_offset_second":[3600,21600],"stage_type":[1,2]}`)
	const fields = "total deep light rem"
	return []situation{
		{"a stated total of an earlier version is cleared", []step{night(`,"total":20000`), night(`,"light":12000,"deep":6000,"rem":6000`)}, []truth{
			summaries("sleep", fields, "24000 6000 12000 6000"),
		}},
		{"computed totals stay in a later version without totals", []step{night(""), stages, runDerive(android), night(`,"score":80`)}, []truth{
			summaries("sleep", fields+" score", "21600 3600 18000 0 80"),
		}},
		{"a stated total replaces computed ones", []step{night(""), stages, runDerive(android), night(`,"total":20000`)}, []truth{
			summaries("sleep", fields, "20000 0 0 0"),
		}},
	}
}
