package situations

import (
	"fmt"
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/healthconnect"
)

// records imports a file of Health Connect's records, as JSON.
func records(all ...string) step {
	return file(healthconnect.Kind, "records.json", "["+strings.Join(all, ",")+"]")
}

// hcRecord returns a record of an app. An id may be empty. Times are of 2 March 2026.
func hcRecord(kind, id, app, times, values string) string {
	if id != "" {
		id = `"id":"` + id + `",`
	}
	return fmt.Sprintf(`{"recordType":%q,"metadata":{%s"dataOrigin":%q,"recordingMethod":2,"device":{"type":1}},%s,%s}`, kind, id, app, times, values)
}

// during returns the times of a record between two times of a day, such as 09:00.
func during(from, to string) string {
	return fmt.Sprintf(`"startTime":"2026-03-02T%s:00Z","endTime":"2026-03-02T%s:00Z"`, from, to)
}

// moment returns the time of a record of one moment.
func moment(at string) string { return fmt.Sprintf(`"time":"2026-03-02T%s:00Z"`, at) }

// fileRecordRows returns the situations about the ids of records in files of Health Connect.
func fileRecordRows() []situation {
	const app = "com.acme.health"
	walk := func(id, from, to string, n int) string {
		return hcRecord("Steps", id, app, during(from, to), fmt.Sprintf(`"count":%d`, n))
	}
	weight := func(id, at string, kg int) string {
		return hcRecord("Weight", id, app, moment(at), fmt.Sprintf(`"weight":{"inKilograms":%d}`, kg))
	}
	run := func(id, from, to string) string {
		return hcRecord("ExerciseSession", id, app, during(from, to), `"exerciseType":56`)
	}
	night := func(id, from, to string) string {
		return hcRecord("SleepSession", id, app, during(from, to), `"stages":[]`)
	}
	pressure := func(id, at string) string {
		return hcRecord("BloodPressure", id, app, moment(at), `"systolic":{"inMillimetersOfMercury":120},"diastolic":{"inMillimetersOfMercury":80}`)
	}
	drink := func(id, from, to string, ml int) string {
		return hcRecord("Hydration", id, app, during(from, to), fmt.Sprintf(`"volume":{"inMilliliters":%d}`, ml))
	}
	pushed := func(resource, sample string) step { return push(resource, android, "UTC", sample) }
	pushedWalk := func(n int) step {
		return pushed("steps", fmt.Sprintf(`{"id":"s1","timestamp":"2026-03-02T09:05:00Z","end":"2026-03-02T09:10:00Z","value":%d,"source_type":"phone","source_app_id":"%s"}`, n, app))
	}
	pushedNight := pushSummaries("sleep", android, "UTC",
		`{"id":"n1","bedtime_start":"2026-03-02T05:00:00Z","bedtime_stop":"2026-03-02T08:00:00Z","source_type":"watch","source_app_id":"`+app+`"}`)
	const uuid = "6f1c1f6e-0001-4000-8000-000000000001"
	first := []string{walk("s1", "09:00", "09:10", 100), weight("w1", "07:00", 80), run("x1", "09:00", "10:00"), night("n1", "00:00", "08:00"), pressure("b1", "07:00"), drink("d1", "07:00", "07:01", 250)}
	plain := []string{walk("", "09:00", "09:10", 100), weight("", "07:00", 80), run("", "09:00", "10:00"), night("", "00:00", "08:00"), pressure("", "07:00"), drink("", "07:00", "07:01", 250)}
	edited := []string{walk("s1", "09:05", "09:10", 60), weight("w1", "07:02", 81), run("x1", "09:20", "09:40"), night("n1", "05:00", "08:00"), pressure("b1", "07:30"), drink("d1", "08:00", "08:01", 300)}
	one := []truth{
		samples("steps", "timestamp value", "2026-03-02T09:05:00+00:00 60"), daily("steps", "date total", "2026-03-02 60"),
		samples("body_weight", "timestamp value", "2026-03-02T07:02:00+00:00 81"),
		samples("blood_pressure", "timestamp", "2026-03-02T07:30:00+00:00"),
		samples("water", "timestamp value", "2026-03-02T08:00:00+00:00 300"),
		summaries("workouts", "time_start time_end", "2026-03-02T09:20:00+00:00 2026-03-02T09:40:00+00:00"),
		summaries("sleep", "bedtime_start bedtime_stop total", "2026-03-02T05:00:00+00:00 2026-03-02T08:00:00+00:00 10800"),
		summaries("sleep_cycle", "session_start", "2026-03-02T05:00:00+00:00"),
	}
	steps := func(rows ...string) []truth { return []truth{samples("steps", "timestamp value", rows...)} }
	gone := call("POST", "/v2/timeseries/*", `{"stage":"daily","provider":"health_connect","deleted":[{"id":"s1"},{"id":"w1"},{"id":"`+uuid+`"}]}`)
	return []situation{
		{"a file of edited records", []step{records(first...), records(edited...)}, one},
		{"a file of edited records, imported again", []step{records(first...), records(edited...), records(edited...)}, append(one, countEvents("daily.data.steps.updated", 0))},
		{"records stored without ids get them from the same file", []step{records(plain...), records(first...), records(edited...)}, one},
		{"a file imported again with the ids that it lacked", []step{records(plain...), records(first...)}, []truth{
			samples("steps", "timestamp value", "2026-03-02T09:00:00+00:00 100"), samples("body_weight", "value", "80"),
			summaries("workouts", "time_start", "2026-03-02T09:00:00+00:00"), summaries("sleep", "duration", "28800"),
			countEvents("daily.data.steps.updated", 0), countEvents("daily.data.sleep.updated", 0), countEvents("daily.data.workouts.created", 1),
			countEvents("daily.data.sleep.created", 1), countEvents("daily.data.steps.created", 1),
		}},
		{"a record moves in a push that is refused", []step{
			pushedWalk(60), call("PATCH", "/v2/user/*", `{"ingestion_start":"2026-03-01","ingestion_end":"2026-03-20"}`),
			pushed("steps", `{"id":"s1","timestamp":"2026-03-02T09:00:00Z","value":50,"source_type":"phone"}`), records(walk("s1", "09:02", "09:10", 40)),
		}, steps("2026-03-02T09:05:00+00:00 60")},
		{"an imported record is pushed with its id", []step{records(walk("s1", "09:00", "09:10", 100)), pushedWalk(60)}, steps("2026-03-02T09:05:00+00:00 60")},
		{"a pushed record is imported with its id", []step{pushedWalk(60), records(walk("s1", "09:00", "09:10", 100))}, steps("2026-03-02T09:00:00+00:00 100")},
		{"an imported night is pushed with its id", []step{records(night("n1", "00:00", "08:00")), pushedNight}, []truth{summaries("sleep", "duration", "10800")}},
		{"a pushed night is imported with its id", []step{pushedNight, records(night("n1", "00:00", "08:00"))}, []truth{summaries("sleep", "duration", "28800")}},
		{"imported records are reported as deleted", []step{
			records(walk("s1", "09:00", "09:10", 100), walk(uuid, "10:00", "10:10", 7), weight("w1", "07:00", 80), weight("w2", "08:00", 81)), gone,
		}, append(steps(), samples("body_weight", "value", "81"))},
		{"an imported night is reported as deleted", []step{
			records(night("n1", "00:00", "08:00")), call("POST", "/v2/summary/sleep/*", `{"stage":"daily","provider":"health_connect","deleted":[{"id":"n1"}]}`),
		}, []truth{summaries("sleep", "duration"), summaries("sleep_cycle", "session_start")}},
		{
			"an imported record is deleted by its id",
			[]step{records(walk("s1", "09:00", "09:10", 100), run("x1", "09:00", "10:00")), call("DELETE", "/v2/user/*/data?external_id=s1", "")},
			append(steps(), summaries("workouts", "time_start", "2026-03-02T09:00:00+00:00")),
		},
		{"nights with two ids are two", []step{records(night("n1", "00:00", "04:00"), night("n2", "01:30", "08:00"))}, []truth{
			summaries("sleep", "bedtime_start duration", "2026-03-02T00:00:00+00:00 14400", "2026-03-02T01:30:00+00:00 23400"),
		}},
		{"parts of a night with two ids are two nights, as in a push", []step{records(night("n1", "00:00", "04:00"), night("n2", "04:10", "08:00"))}, []truth{
			summaries("sleep", "duration", "14400", "13800"),
		}},
		{"parts of a night without ids are one", []step{records(night("", "00:00", "04:00"), night("", "04:10", "08:00"))}, []truth{summaries("sleep", "duration", "28800")}},
		{"a night of two parts gets their ids", []step{
			records(night("", "00:00", "04:00"), night("", "04:10", "08:00")), records(night("n1", "00:00", "04:00"), night("n2", "04:10", "08:00")),
		}, []truth{summaries("sleep", "duration", "14400", "13800")}},
		{"one file has two versions of a record", []step{records(walk("s1", "09:00", "09:10", 100), walk("s1", "09:05", "09:10", 60))}, steps("2026-03-02T09:05:00+00:00 60")},
		{"a record moves to another source", []step{
			records(walk("s1", "09:00", "09:10", 100)), records(strings.Replace(walk("s1", "09:00", "09:10", 90), `{"type":1}`, `{"type":2}`, 1)),
		}, []truth{samples("steps", "source.type value", "phone 90")}},
		{"a drink of two records has no id", []step{
			records(drink("d1", "07:00", "07:01", 250), drink("d2", "07:00", "07:01", 100)), records(drink("d1", "07:00", "07:01", 200), drink("d2", "07:00", "07:01", 100)),
		}, []truth{samples("water", "value", "300")}},
	}
}

// A file may move more records than one deletion takes. The chunks are the same on both
// engines.
func TestManyRecordsMove(t *testing.T) {
	b := newService(t, storetest.SQLite(t)).bed(t)
	const n = 10_001
	for _, second := range []int{0, 30} {
		var all []string
		for i := range n {
			at := fmt.Sprintf("2026-03-%02dT%02d:%02d:%02dZ", 1+i/1440, i/60%24, i%60, second)
			all = append(all, hcRecord("OxygenSaturation", fmt.Sprint("o", i), "com.acme.health", `"time":"`+at+`"`, `"percentage":97`))
		}
		records(all...)(b)
	}
	query(`{"select":[{"func":"count","arg":{"timeseries":"blood_oxygen","field":"value"}}]}`, "count.value", fmt.Sprint(n)).check(b)
}
