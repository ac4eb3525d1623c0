package situations

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/applehealth"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/gpx"
	pushes "hale/internal/wearables/push"
)

// recordingSink has the changes of an import recorded, as an uploaded file has.
type recordingSink struct {
	files.Sink
	id uuid.UUID
}

func (r recordingSink) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	b.Import = r.id
	return r.Sink.Ingest(ctx, user, b)
}

// undoable imports an Apple Health export of these records, as the import with a name.
func undoable(name string, records ...string) step {
	return undoableFile(name, applehealth.Kind, export(records...))
}

// undoableTrack imports a GPX file with these points, as the import with a name.
func undoableTrack(name string, points ...string) step {
	return undoableFile(name, gpx.Kind, file(gpx.Kind, "run.gpx", `<?xml version="1.0"?><gpx version="1.1" creator="StravaGPX" xmlns="http://www.topografix.com/GPX/1/1"><trk><type>running</type><trkseg>`+
		strings.Join(points, "")+`</trkseg></trk></gpx>`))
}

// trackPoint returns a point of a track with a heart rate, at a minute of the second of March.
func trackPoint(minute, rate int) string {
	return fmt.Sprintf(`<trkpt lat="46.0%02d" lon="14"><ele>300</ele><time>2026-03-02T10:%02d:00Z</time><extensions><hr>%d</hr></extensions></trkpt>`, minute, minute, rate)
}

// undoableFile runs the import of a file of a kind, as the import with a name.
func undoableFile(name string, kind files.Kind, run step) step {
	return func(b *bed) {
		id := uuid.New()
		userstest.Write(b.t, b.db, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO imports (team_id, user_id, id, kind, size, sha256, history_only, status, stage, spool,
					step, done, total, records, skipped, error, attempts, created_at)
				VALUES ($1, $2, $3, $4, 1, $5, FALSE, 'succeeded', '', '', '', 0, 0, 0, 0, '', 1, $6)`,
				b.team.ID, b.user.ID, id, kind.Name, []byte(id.String()), store.Micros(tx.Now()))
			return err
		})
		if b.imported == nil {
			b.imported = map[string]uuid.UUID{}
		}
		b.imported[name] = id
		b.importing = id
		run(b)
		b.importing = uuid.Nil
	}
}

// undo undoes an import.
func undo(name string) step {
	return func(b *bed) { b.want("DELETE", "/v2/user/*/data?import_id="+b.imported[name].String(), "") }
}

// pushRun pushes the run of exportedRun with a distance.
func pushRun(distance int) step {
	return pushApple("workouts", fmt.Sprintf(`{"time_start":"2026-03-01T10:00:00.211Z","time_end":"2026-03-01T11:00:00.840Z","distance":%d`, distance))
}

// exportedRun is the record of a run of 10 km in an export.
const exportedRun = ` <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="60" durationUnit="min" sourceName="Watch" device="&lt;&lt;HKDevice: 0x1&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:10&gt;" creationDate="2026-03-01 13:00:01 +0200" startDate="2026-03-01 12:00:00 +0200" endDate="2026-03-01 13:00:00 +0200"><WorkoutStatistics type="HKQuantityTypeIdentifierDistanceWalkingRunning" sum="10" unit="km"/></Workout>`

// undoneImportRows returns the situations about imports that are undone.
func undoneImportRows() []situation {
	partOne := pushApple("sleep", `{"bedtime_start":"2026-02-28T20:00:00Z","bedtime_stop":"2026-02-28T23:00:00Z","total":10000`)
	partTwo := pushApple("sleep", `{"bedtime_start":"2026-02-28T23:30:00Z","bedtime_stop":"2026-03-01T04:00:00Z","total":16000`)
	cycleTwo := pushApple("sleep_cycle", `{"session_start":"2026-02-28T23:30:00Z","session_end":"2026-03-01T04:00:00Z","stage_start_offset_second":[0],"stage_end_offset_second":[16000],"stage_type":[2]`)
	const walked = `<Record type="HKQuantityTypeIdentifierStepCount" sourceName="Sam's iPhone" device="&lt;hardware:iPhone17,2&gt;" unit="count" startDate="2026-03-02 08:00:00 +0000" endDate="2026-03-02 08:09:59 +0000" value="1000"/>`
	steps := push("steps", apple, "UTC", `{"timestamp":"2026-03-02T08:00:00.532Z","end":"2026-03-02T08:09:59.120Z","value":1000,"source_type":"phone","source_app_id":"com.acme.health"}`)
	return []situation{
		{"an import of a pushed night is undone", []step{pushNight(), undoable("a", exportedNight()), undo("a")}, []truth{
			summaries("sleep", "bedtime_start total", "2026-02-28T20:00:00.532000+00:00 28000"), summaries("sleep_cycle", "session_start"),
		}},
		{"an import that joined two pushed nights is undone", []step{partOne, partTwo, undoable("a", exportedNight()), undo("a")}, []truth{
			summaries("sleep", "bedtime_start total", "2026-02-28T20:00:00+00:00 10000", "2026-02-28T23:30:00+00:00 16000"),
		}},
		{"an import that joined two pushed nights with stages is undone", []step{partOne, partTwo, pushStages(), cycleTwo, undoable("a", exportedNight()), undo("a"), partTwo, partOne}, []truth{
			summaries("sleep", "bedtime_start total", "2026-02-28T20:00:00+00:00 10000", "2026-02-28T23:30:00+00:00 16000"),
			summaries("sleep_cycle", "session_start stage_end_offset_second", "2026-02-28T20:00:00+00:00 [10000]", "2026-02-28T23:30:00+00:00 [16000]"),
		}},
		{"an import that joined two pushed nights is undone, and one was joined since", []step{
			partOne, partTwo, undoable("a", exportedNight()), pushNight(), undo("a"),
		}, []truth{summaries("sleep", "total", "28000")}},
		{"an import of a pushed workout is undone", []step{pushRun(9500), undoable("a", exportedRun), undo("a")}, []truth{summaries("workouts", "time_start distance", "2026-03-01T10:00:00.211000+00:00 9500")}},
		{"an import of pushed steps is undone", []step{steps, undoable("a", walked), undo("a")}, []truth{daily("steps", "date total", "2026-03-02 1000")}},
		{"two imports of a pushed workout are undone", []step{pushRun(9500), undoable("a", exportedRun), undoable("b", strings.Replace(exportedRun, `"10"`, `"11"`, 1)), undo("b"), undo("a")}, []truth{
			summaries("workouts", "distance", "9500"),
		}},
	}
}

// undoneOrderRows returns the situations about imports that are undone in another order than
// they were made.
func undoneOrderRows() []situation {
	run := func(kilometres string) string { return strings.Replace(exportedRun, `"10"`, `"`+kilometres+`"`, 1) }
	walked := func(value string) string {
		return `<Record type="HKQuantityTypeIdentifierStepCount" sourceName="Sam's iPhone" device="&lt;hardware:iPhone17,2&gt;" unit="count" startDate="2026-03-02 08:00:00 +0000" endDate="2026-03-02 08:09:59 +0000" value="` + value + `"/>`
	}
	shift := func(provider string) step {
		return call("POST", "/v2/user/*/data/shifts", `{"provider":"`+provider+`","start":"2026-03-01","end":"2026-03-03","seconds":3600}`)
	}
	full := []string{trackPoint(0, 100), trackPoint(10, 120), trackPoint(20, 140), trackPoint(30, 150)}
	noRun, noSteps := []truth{summaries("workouts", "distance")}, []truth{samples("steps", "value")}
	half, whole := sleepRecord("2026-02-28 22:00:00", "2026-03-01 01:30:00"), exportedNight()
	parts := []string{sleepRecord("2026-02-28 22:00:00", "2026-03-01 02:00:00"), sleepRecord("2026-03-01 04:30:00", "2026-03-01 06:30:00")}
	return []situation{
		{"two imports of a workout are undone, the oldest first", []step{undoable("a", run("10")), undoable("b", run("11")), undo("a"), undo("b")}, noRun},
		{"two imports of steps are undone, the oldest first", []step{undoable("a", walked("1000")), undoable("b", walked("1100")), undo("a"), undo("b")}, noSteps},
		{"the older of two imports is undone", []step{undoable("a", walked("1000"), run("10")), undoable("b", walked("1100"), run("11")), undo("a")}, []truth{
			samples("steps", "value", "1100"), summaries("workouts", "distance", "11000"),
		}},
		{"two imports of pushed values are undone, the oldest first", []step{
			pushRun(9500), undoable("a", run("10")), undoable("b", run("11")), undo("a"), undo("b"),
		}, []truth{summaries("workouts", "distance", "9500")}},
		{"three imports are undone, the second first", []step{
			undoable("a", run("10"), walked("1000")), undoable("b", run("11"), walked("1100")), undoable("c", run("12"), walked("1200")), undo("b"), undo("c"), undo("a"),
		}, append(noRun, noSteps...)},
		{"of three imports the second and third are undone", []step{
			undoable("a", run("10"), walked("1000")), undoable("b", run("11"), walked("1100")), undoable("c", run("12"), walked("1200")), undo("b"), undo("c"),
		}, []truth{summaries("workouts", "distance", "10000"), samples("steps", "value", "1000")}},
		{"of three imports the second and first are undone", []step{
			undoable("a", run("10"), walked("1000")), undoable("b", run("11"), walked("1100")), undoable("c", run("12"), walked("1200")), undo("b"), undo("a"),
		}, []truth{summaries("workouts", "distance", "12000"), samples("steps", "value", "1200")}},
		{"an import is undone again after its successor", []step{undoable("a", run("10"), walked("1000")), undoable("b", run("11"), walked("1100")), undo("a"), undo("b"), undo("a")}, append(noRun, noSteps...)},
		{"imports of a half night, its parts and the whole are undone in their order", []step{
			undoable("a", half), undoable("b", parts...), undoable("c", whole), undo("a"), undo("b"), undo("c"),
		}, []truth{summaries("sleep", "bedtime_start"), summaries("sleep_cycle", "session_start")}},
		{"tracks of a full, a cropped and a full run are undone, the second first", []step{
			undoableTrack("a", full...), undoableTrack("b", full[:3]...), undoableTrack("c", full...), undo("b"), undo("a"), undo("c"),
		}, []truth{summaries("workouts", "distance"), samples("heartrate", "value")}},
		{"two imports with a shift between them are undone, the oldest first", []step{
			undoable("a", run("10"), walked("1000")), shift(apple), undoable("b", strings.Replace(run("11"), "2026-03-01 12:", "2026-03-01 13:", 1), strings.ReplaceAll(walked("1100"), " 08:", " 09:")), undo("a"), undo("b"),
		}, append(noRun, noSteps...)},
		{"an import that joined two parts is undone after a phone deleted one", []step{
			pushApple("sleep", `{"id":"p1","bedtime_start":"2026-02-28T20:00:00Z","bedtime_stop":"2026-02-28T23:00:00Z","total":10000`),
			pushApple("sleep", `{"id":"p2","bedtime_start":"2026-02-28T23:30:00Z","bedtime_stop":"2026-03-01T04:00:00Z","total":16000`),
			undoable("a", exportedNight()), reported("/v2/summary/sleep/*", apple, `"p1"`), undo("a"),
		}, []truth{summaries("sleep", "total", "16000")}},
		{"an import is undone after the data of its successor was deleted", []step{
			undoable("a", run("10"), walked("1000")), undoable("b", run("11"), walked("1100")), call("DELETE", "/v2/user/*/data?provider="+apple, ""), undo("b"), undo("a"),
		}, append(noRun, noSteps...)},
	}
}

// undoableValues imports values as if they were pushed, as the import with a name: samples
// or summaries of a resource, as JSON objects.
func undoableValues(name, resource string, values ...string) step {
	return undoableFile(name, applehealth.Kind, func(b *bed) {
		body := []byte(pushBody(android, "UTC", values))
		var batch wearables.Batch
		if d, known := wearables.DocumentNamed(resource); known {
			all, err := pushes.ParseSummaries(body, d)
			if err != nil {
				b.t.Fatal(err)
			}
			batch = wearables.Batch{Provider: android, Stage: wearables.Daily, Summaries: all.Summaries}
		} else {
			r, _ := wearables.ResourceNamed(resource)
			all, err := pushes.Parse(body, r)
			if err != nil {
				b.t.Fatal(err)
			}
			batch, _ = all.Batch(r)
			for i := range batch.Samples { // a file has no ids of samples
				batch.Samples[i].Record = nil
			}
		}
		batch.Imported = true
		ctx := store.WithTeam(b.t.Context(), b.team.ID.UUID())
		if _, err := (recordingSink{b.sink, b.importing}).Ingest(ctx, b.user, batch); err != nil {
			b.t.Fatal(err)
		}
	})
}

// confirmedImportRows returns the situations about imported values that a phone pushes, too.
func confirmedImportRows() []situation {
	beat := func(minute, value int, id string) string {
		return fmt.Sprintf(`{"timestamp":"2026-03-02T08:%02d:00Z","value":%d,"source_type":"watch","source_app_id":"x"%s}`, minute, value, id)
	}
	imported := func(name string, values ...string) step { return undoableValues(name, "heartrate", values...) }
	pushed := func(values ...string) step { return push("heartrate", android, "UTC", values...) }
	beats := func(rows ...string) truth { return samples("heartrate", "value", rows...) }
	const (
		id    = `,"id":"h"`
		run   = `{"time_start":"2026-03-02T10:00:00Z","time_end":"2026-03-02T11:00:00Z","distance":%d,"source_type":"watch"%s}`
		night = `{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z","total":27000,"source_type":"watch"}`
		meal  = `{"name":"Lunch","timestamp":"2026-03-02T12:00:00Z","calories":600,"source_type":"app"}`
	)
	workout := func(distance int, id string) string { return fmt.Sprintf(run, distance, id) }
	push10 := pushSummaries("workouts", android, "UTC", workout(10000, ""))
	deleteImport := func(b *bed) { b.want("DELETE", "/v2/user/*/imports/"+b.imported["a"].String()+"/data", "") }
	return []situation{
		{"a phone pushes imported samples", []step{imported("a", beat(0, 60, ""), beat(1, 70, "")), pushed(beat(0, 60, ""), beat(1, 70, "")), undo("a")}, []truth{beats("60", "70")}},
		{"a phone pushes imported samples, and their data is deleted by the id of the import", []step{
			imported("a", beat(0, 60, "")), pushed(beat(0, 60, "")), undo("a"), pushed(beat(0, 60, "")),
		}, []truth{beats("60")}},
		{"a phone pushes imported samples, and the import is undone", []step{imported("a", beat(0, 60, "")), pushed(beat(0, 60, "")), deleteImport}, []truth{beats("60")}},
		{"a phone pushes an imported sample with an id", []step{imported("a", beat(0, 60, "")), pushed(beat(0, 60, id)), undo("a"), pushed(beat(0, 60, id))}, []truth{beats("60")}},
		{"a phone pushes and deletes an imported sample with an id", []step{imported("a", beat(0, 60, "")), pushed(beat(0, 60, id)), undo("a"), reported("/v2/timeseries/*/heartrate", android, `"h"`)}, []truth{beats()}},
		{"a phone pushes one of several imported samples", []step{imported("a", beat(0, 60, ""), beat(1, 70, ""), beat(2, 75, "")), pushed(beat(1, 70, "")), undo("a")}, []truth{beats("70")}},
		{"a phone pushes imported samples and new ones", []step{
			imported("a", beat(0, 60, ""), beat(1, 70, "")), pushed(beat(0, 60, ""), beat(1, 71, ""), beat(2, 72, "")), undo("a"),
		}, []truth{beats("60", "71", "72")}},
		{"a phone pushes imported samples twice", []step{imported("a", beat(0, 60, "")), pushed(beat(0, 60, "")), pushed(beat(0, 60, "")), undo("a")}, []truth{
			beats("60"), countEvents("daily.data.heartrate.created", 1), countEvents("daily.data.heartrate.updated", 0), countEvents("daily.data.heartrate.deleted", 0),
		}},
		{"a phone pushes samples of an import whose successor is undone, too", []step{
			imported("a", beat(0, 60, "")), pushed(beat(0, 60, "")), imported("b", beat(0, 61, "")), undo("a"), undo("b"),
		}, []truth{beats("60")}},
		{"a phone pushes samples of two imports", []step{
			imported("a", beat(0, 60, "")), imported("b", beat(1, 61, "")), pushed(beat(0, 60, ""), beat(1, 61, "")), undo("a"), undo("b"),
		}, []truth{beats("60", "61")}},
		{"a phone pushes imported samples in a body of several series", []step{
			imported("a", beat(0, 60, "")), call("POST", "/v2/timeseries/*", `{"stage":"daily","provider":"health_connect","series":{"heartrate":[`+beat(0, 60, "")+`]}}`), undo("a"),
		}, []truth{beats("60")}},
		{"a hub pushes imported samples of a person", []step{imported("a", beat(0, 60, "")), func(b *bed) {
			b.want("POST", "/v2/timeseries", `{"stage":"daily","provider":"health_connect","users":[{"user_id":"`+b.user.ID.String()+`","series":{"heartrate":[`+beat(0, 60, "")+`]}}]}`)
		}, undo("a")}, []truth{beats("60")}},
		{"a phone pushes an imported workout", []step{undoableValues("a", "workouts", workout(10000, "")), push10, undo("a")}, []truth{summaries("workouts", "distance", "10000")}},
		{"a phone pushes an imported workout twice", []step{undoableValues("a", "workouts", workout(10000, "")), push10, push10, undo("a"), push10}, []truth{
			summaries("workouts", "distance", "10000"), countEvents("daily.data.workouts.created", 1), countEvents("daily.data.workouts.deleted", 0),
		}},
		{"a phone pushes an imported workout with an id", []step{
			undoableValues("a", "workouts", workout(10000, "")), pushSummaries("workouts", android, "UTC", workout(10000, `,"metadata":{"id":"r"}`)), undo("a"),
		}, []truth{summaries("workouts", "distance", "10000")}},
		{"a phone pushes a workout of an import whose successor is undone, too", []step{
			undoableValues("a", "workouts", workout(10000, "")), push10, undoableValues("b", "workouts", workout(11000, "")), undo("a"), undo("b"),
		}, []truth{summaries("workouts", "distance", "10000")}},
		{"a phone pushes an exported workout", []step{undoable("a", exportedRun), pushRun(10000), undo("a")}, []truth{summaries("workouts", "distance", "10000")}},
		{"a phone pushes an imported night", []step{undoableValues("a", "sleep", night), pushSummaries("sleep", android, "UTC", night), undo("a")}, []truth{summaries("sleep", "total", "27000")}},
		{"a phone pushes an imported meal", []step{undoableValues("a", "meal", meal), pushSummaries("meal", android, "UTC", meal), undo("a")}, []truth{summaries("meal", "name", "Lunch")}},
		{"a correction of a workout that a phone confirmed stays when its export is imported again", []step{
			undoableValues("a", "workouts", workout(10000, "")), push10, pushSummaries("workouts", android, "UTC", workout(9500, "")), undoableValues("b", "workouts", workout(10000, "")),
		}, []truth{summaries("workouts", "distance", "9500")}},
	}
}
