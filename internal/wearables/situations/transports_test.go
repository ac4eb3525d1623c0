package situations

import (
	"fmt"
	"slices"
	"strings"
)

// transportRows returns the situations about one phone whose data arrives twice: pushed,
// and in an Apple Health export. The app pushes its id and milliseconds. The export has
// names and whole seconds.
func transportRows() []situation {
	const run = `{"time_start":"2026-03-01T10:00:00.211Z","time_end":"2026-03-01T11:00:00.840Z","distance":10000,"source_type":"watch","source_app_id":"com.acme.health"}`
	pushed := func(resource, data string) step { return pushSummaries(resource, apple, "Europe/Helsinki", data) }
	sleep := pushed("sleep", `{"bedtime_start":"2026-02-28T20:00:00.532Z","bedtime_stop":"2026-03-01T04:00:00.120Z","total":28800,"source_type":"watch","source_app_id":"com.acme.health"}`)
	partOne := pushed("sleep", `{"bedtime_start":"2026-02-28T20:00:00Z","bedtime_stop":"2026-02-28T23:00:00Z","source_type":"watch","source_app_id":"com.acme.health"}`)
	partTwo := pushed("sleep", `{"bedtime_start":"2026-02-28T23:30:00Z","bedtime_stop":"2026-03-01T04:00:00Z","source_type":"watch","source_app_id":"com.acme.health"}`)
	night := export(sleepRecord("2026-02-28 22:00:00", "2026-03-01 06:00:00"))
	workout := export(` <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="60" durationUnit="min" sourceName="Watch" device="&lt;&lt;HKDevice: 0x1&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:10&gt;" creationDate="2026-03-01 13:00:01 +0200" startDate="2026-03-01 12:00:00 +0200" endDate="2026-03-01 13:00:00 +0200"><WorkoutStatistics type="HKQuantityTypeIdentifierDistanceWalkingRunning" sum="10" unit="km"/></Workout>`)
	const shortEnd = `endDate="2026-03-01 12:25:00 +0200"`
	shortRun := export(` <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="25" durationUnit="min" sourceName="Watch" device="&lt;&lt;HKDevice: 0x1&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:10&gt;" creationDate="2026-03-01 13:00:01 +0200" startDate="2026-03-01 12:00:00 +0200" ` + shortEnd + `/>`)
	pulse := func(at string, value int) string {
		return fmt.Sprintf(`{"timestamp":"2026-03-02T%sZ","value":%d,"source_type":"watch","source_app_id":"com.zebra"}`, at, value)
	}
	walk := func(start, end string, value int) string {
		return fmt.Sprintf(`{"timestamp":"2026-03-02T%sZ","end":"2026-03-02T%sZ","value":%d,"source_type":"phone","source_app_id":"com.acme.health"}`, start, end, value)
	}
	walked := func(kind, start, end string, value int) string {
		return fmt.Sprintf(`<Record type="HKQuantityTypeIdentifier%s" sourceName="Sam's iPhone" device="&lt;hardware:iPhone17,2&gt;" unit="count" startDate="2026-03-02 %s +0000" endDate="2026-03-02 %s +0000" value="%d"/>`, kind, start, end, value)
	}
	singly := push("steps", apple, "UTC", walk("08:00:00.532", "08:09:59.120", 1000), walk("09:00:00.100", "09:30:00.900", 5000))
	hourly := push("steps", apple, "UTC", walk("08:00:00", "09:00:00", 1000), walk("09:00:00", "10:00:00", 5000))
	records := exportFile(walked("StepCount", "08:00:00", "08:09:59", 1000) + walked("StepCount", "09:00:00", "09:30:00", 5000))
	activity := pushSummaries("activity", apple, "UTC", `{"calendar_date":"2026-03-02","steps":6000,"source_type":"phone","source_app_id":"com.acme.health"}`)
	steps := []truth{
		daily("steps", "date total", "2026-03-02 6000"), queriedDays("steps", "2026-03-02T00:00:00 6000"),
		query(`{"select":[{"func":"sum","arg":{"timeseries":"steps","field":"value"}}]}`, "sum.value", "6000"),
	}
	beats := push("heartrate", apple, "UTC", `{"timestamp":"2026-03-02T08:00:00.532Z","value":62,"source_type":"watch","source_app_id":"com.acme.health"}`, `{"timestamp":"2026-03-02T08:05:00.100Z","value":80,"source_type":"watch","source_app_id":"com.acme.health"}`)
	beaten := exportFile(`<Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Watch" device="&lt;&lt;HKDevice: 0x1&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:10&gt;" unit="count/min" startDate="2026-03-02 08:00:00 +0000" endDate="2026-03-02 08:00:00 +0000" value="62"/>`)
	exported1 := exportFile(walked("StepCount", "08:00:00", "08:09:59", 99))
	beat := func(value int) string {
		return fmt.Sprintf(`{"timestamp":"2026-03-02T08:00:00.532Z","value":%d,"source_type":"unknown","source_app_id":"com.acme.heart"}`, value)
	}
	ofApp := exportFile(`<Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Acme Heart" unit="count/min" startDate="2026-03-02 08:00:00 +0000" endDate="2026-03-02 08:00:00 +0000" value="62"/>`)
	deleteAll := func(resource string) step { return call("DELETE", "/v2/user/*/data?resource="+resource, "") }
	one := func(name string, first, second step, want ...truth) []situation {
		return []situation{
			{name + " pushed and exported", []step{first, second}, want},
			{name + " exported and pushed", []step{second, first}, want},
			{name + " pushed, exported, pushed and exported", []step{first, second, first, second}, want},
		}
	}
	return slices.Concat(
		one("a night", sleep, night, summaries("sleep", "calendar_date total", "2026-03-01 28800"), queriedNights("2026-03-01T00:00:00 1"), countEvents("daily.data.sleep.created", 1)),
		one("a run", pushed("workouts", run), workout, summaries("workouts", "calendar_date distance", "2026-03-01 10000"), queriedWorkouts("2026-03-01T00:00:00 1"), countEvents("daily.data.workouts.created", 1)),
		one("single steps", singly, records, steps...),
		one("hours of steps", hourly, records, steps...),
		one("a heart rate", beats, beaten, samples("heartrate", "timestamp value", "2026-03-02T08:00:00.532000+00:00 62", "2026-03-02T08:05:00.100000+00:00 80"), daily("heartrate", "date count", "2026-03-02 2")),
		[]situation{
			{"events of a push and an export", []step{push("steps", apple, "UTC", walk("08:00:00.200", "08:09:59.120", 99)), exported1}, []truth{
				countEvents("daily.data.steps.created", 1), countEvents("daily.data.steps.deleted", 0),
			}},
			{"events of an export and a push", []step{
				exported1, push("steps", apple, "UTC", walk("08:00:00.200", "08:09:59.120", 99)), push("steps", apple, "UTC", walk("08:00:00.200", "08:09:59.120", 99)), push("steps", apple, "UTC", walk("18:00:00.200", "18:09:59.120", 50)),
			}, []truth{
				countEvents("daily.data.steps.created", 3), payloads("daily.data.steps.deleted", "deleted start_date end_date", "1 2026-03-02T08:00:00+00:00 2026-03-02T08:00:00+00:00"),
			}},
			{"events of a pushed sample that is deleted", []step{
				push("steps", apple, "UTC", walk("08:00:00.200", "08:09:59.120", 99)), exported1, call("DELETE", "/v2/user/*/data?resource=steps&source=com.acme.health", ""),
			}, []truth{
				samples("steps", "timestamp value", "2026-03-02T08:00:00+00:00 99"),
				payloads("daily.data.steps.deleted", "deleted start_date end_date", "1 2026-03-02T07:00:00.200000+00:00 2026-03-02T09:00:00.200000+00:00"),
			}},
			{"events of a corrected sample of an app", []step{
				push("heartrate", apple, "UTC", beat(62)), ofApp, push("heartrate", apple, "UTC", beat(63)),
			}, []truth{
				samples("heartrate", "timestamp value", "2026-03-02T08:00:00+00:00 62", "2026-03-02T08:00:00.532000+00:00 63"),
				countEvents("daily.data.heartrate.created", 1), payloads("daily.data.heartrate.deleted", "start_date", "2026-03-02T08:00:00+00:00"),
			}},
			{"an export fills what the phone did not push", []step{push("steps", apple, "UTC", walk("08:00:00.532", "08:09:59.120", 1000)), records}, steps},
			{"an activity pushed and exported", []step{activity, records, runDerive(apple)}, []truth{summaries("activity", "calendar_date steps source.app_id", "2026-03-02 6000 com.acme.health")}},
			{"an activity exported and pushed", []step{records, activity, runDerive(apple)}, []truth{
				summaries("activity", "calendar_date steps source.app_id", "2026-03-02 6000 com.acme.health"), countEvents("daily.data.activity.deleted", 1),
			}},
			{"an activity exported, and steps pushed", []step{records, singly, runDerive(apple)}, []truth{summaries("activity", "calendar_date steps", "2026-03-02 6000")}},
			{"two parts of a night pushed, and the whole exported", []step{partOne, partTwo, night, partTwo, partOne}, []truth{summaries("sleep", "calendar_date duration", "2026-03-01 28800")}},
			{"two parts of a night exported, and the whole pushed", []step{
				export(sleepRecord("2026-02-28 22:00:00", "2026-03-01 01:00:00"), sleepRecord("2026-03-01 01:45:00", "2026-03-01 06:00:00")), sleep, night,
			}, []truth{summaries("sleep", "calendar_date total", "2026-03-01 28800")}},
			{"a night exported, and a part of it pushed", []step{night, partOne}, []truth{summaries("sleep", "duration", "28800")}},
			{"a night pushed, and a part of it exported", []step{sleep, export(sleepRecord("2026-02-28 22:00:00", "2026-03-01 01:00:00"))}, []truth{summaries("sleep", "total", "28800")}},
			{"a workout pushed, and a short one of its start exported", []step{pushed("workouts", run), shortRun}, []truth{summaries("workouts", "time_end distance", "2026-03-01T11:00:00.840000+00:00 10000")}},
			{"a short workout exported, and the whole one pushed", []step{shortRun, pushed("workouts", run), shortRun}, []truth{summaries("workouts", "time_end distance", "2026-03-01T11:00:00.840000+00:00 10000")}},
			{"a single heart rate of an export within those of its phone", []step{
				push("heartrate", apple, "Europe/Helsinki", pulse("08:00:00", 60), pulse("08:05:00", 70)),
				export(` <Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Watch" device="&lt;&lt;HKDevice: 0x1&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:10&gt;" unit="count/min" creationDate="2026-03-02 12:00:01 +0200" startDate="2026-03-02 10:02:00 +0200" endDate="2026-03-02 10:02:00 +0200" value="80"/>`),
			}, []truth{daily("heartrate", "date avg count", "2026-03-02 70 3")}},
			{"an older export with most of a night", []step{night, export(sleepRecord("2026-02-28 22:00:00", "2026-03-01 04:00:00"))}, []truth{summaries("sleep", "duration", "28800"), countEvents("daily.data.sleep.updated", 0)}},
			{"a night pushed, and most of it in an older export", []step{sleep, export(sleepRecord("2026-02-28 22:00:00", "2026-03-01 04:00:00"))}, []truth{summaries("sleep", "duration", "28799")}},
			{"an older export with a part of a night", []step{night, export(sleepRecord("2026-02-28 22:00:00", "2026-03-01 01:00:00"))}, []truth{summaries("sleep", "duration", "28800")}},
			{"a deleted night comes again in an export", []step{sleep, deleteAll("sleep"), night, sleep}, []truth{summaries("sleep", "total")}},
			{"a deleted night of an export comes again from the phone", []step{night, deleteAll("sleep"), sleep, night}, []truth{summaries("sleep", "total")}},
			{"a deleted night of both comes again", []step{night, sleep, deleteAll("sleep"), night, sleep}, []truth{summaries("sleep", "total")}},
			{"a deleted run comes again in whole seconds", []step{
				pushed("workouts", run), deleteAll("workouts"), pushed("workouts", strings.NewReplacer(".211Z", "Z", ".840Z", "Z").Replace(run)),
			}, []truth{summaries("workouts", "distance")}},
			{"a deleted run comes again in an export", []step{pushed("workouts", run), deleteAll("workouts"), workout}, []truth{summaries("workouts", "distance")}},
			{"a deleted run of both comes again", []step{pushed("workouts", run), workout, deleteAll("workouts"), workout}, []truth{summaries("workouts", "distance")}},
			{"a run of a phone is deleted, and the watch's is in an export", []step{
				pushed("workouts", strings.Replace(run, `"watch"`, `"phone"`, 1)), deleteAll("workouts"), workout,
			}, []truth{summaries("workouts", "source.type", "watch")}},
			{"a watch and a phone stay two", []step{
				sleep, pushed("sleep", `{"bedtime_start":"2026-02-28T20:01:00.532Z","bedtime_stop":"2026-03-01T04:00:00.120Z","source_type":"phone","source_app_id":"com.acme.health"}`), night,
			}, []truth{summaries("sleep", "source.type", "watch", "phone")}},
			{"nights of two apps of one watch stay two", []step{
				sleep, pushed("sleep", `{"bedtime_start":"2026-02-28T20:10:00Z","bedtime_stop":"2026-03-01T04:10:00Z","total":28000,"source_type":"watch","source_app_id":"com.other"}`), night,
			}, []truth{summaries("sleep", "total", "28800", "28000")}},
		},
	)
}
