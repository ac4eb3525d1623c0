package situations

import (
	"fmt"
	"strings"

	"hale/internal/wearables/formats/applehealth"
	"hale/internal/wearables/formats/oura"
	"hale/internal/wearables/formats/strava"
)

// identityRows returns the situations about identity: which records are the same.
func identityRows() []situation {
	const hc, apple = "health_connect", "apple_health_kit"
	night := func(id, start, stop, more string) string {
		return fmt.Sprintf(`{%s"bedtime_start":"%s","bedtime_stop":"%s"%s}`, id, start, stop, more)
	}
	run := func(id, start, end, more string) string {
		return fmt.Sprintf(`{%s"time_start":"%s","time_end":"%s"%s}`, id, start, end, more)
	}
	sleeps := func(zone string, all ...string) step { return pushSummaries("sleep", hc, zone, all...) }
	workouts := func(all ...string) step { return pushSummaries("workouts", hc, "Europe/Helsinki", all...) }
	meals := func(all ...string) step { return pushSummaries("meal", hc, "Europe/Helsinki", all...) }
	first := night("", "2026-02-28T20:30:00Z", "2026-03-01T04:45:00Z", `,"total":27000`)
	transports := transportRows()
	return append(transports, []situation{
		{"a session sent again is one", []step{sleeps("Europe/Helsinki", first), sleeps("Europe/Helsinki", first)}, []truth{
			summaries("sleep", "calendar_date total", "2026-03-01 27000"),
			countEvents("daily.data.sleep.created", 1),
			countEvents("daily.data.sleep.updated", 0),
		}},
		{"a whole night replaces its halves, which are sent again", []step{
			sleeps("", night("", "2026-03-01T20:30:00Z", "2026-03-02T00:30:00Z", `,"total":14000`), night("", "2026-03-02T01:00:00Z", "2026-03-02T04:30:00Z", `,"total":11000`)),
			sleeps("", night("", "2026-03-01T20:30:00Z", "2026-03-02T04:30:00Z", `,"total":25000`)),
			sleeps("", night("", "2026-03-01T20:30:00Z", "2026-03-02T00:30:00Z", `,"total":14000`), night("", "2026-03-02T01:00:00Z", "2026-03-02T04:30:00Z", `,"total":11000`)),
		}, []truth{
			summaries("sleep", "bedtime_start total", "2026-03-01T20:30:00+00:00 25000"),
			countEvents("daily.data.sleep.created", 2), countEvents("daily.data.sleep.updated", 1), countEvents("daily.data.sleep.deleted", 1),
		}},
		{"a workout that moved twice is sent again", []step{
			workouts(run("", "2026-03-01T10:00:00Z", "2026-03-01T10:30:00Z", "")), workouts(run("", "2026-03-01T10:10:00Z", "2026-03-01T10:40:00Z", "")),
			workouts(run("", "2026-03-01T10:20:00Z", "2026-03-01T10:50:00Z", "")), workouts(run("", "2026-03-01T10:00:00Z", "2026-03-01T10:30:00Z", "")),
		}, []truth{summaries("workouts", "time_start", "2026-03-01T10:20:00+00:00")}},
		{"steps sent again count once", []step{
			push("steps", hc, "Europe/Helsinki", `{"timestamp":"2026-03-01T10:00:00Z","end":"2026-03-01T10:05:00Z","value":210}`),
			push("steps", hc, "Europe/Helsinki", `{"timestamp":"2026-03-01T10:00:00Z","end":"2026-03-01T10:05:00Z","value":210}`),
		}, []truth{
			samples("steps", "timestamp value", "2026-03-01T10:00:00+00:00 210"),
			daily("steps", "date total", "2026-03-01 210"),
			queriedDays("steps", "2026-03-01T00:00:00 210"),
		}},
		{"a night with an id moves by 532 ms", []step{
			sleeps("", night(`"external_id":"n1",`, "2026-02-28T20:30:00Z", "2026-03-01T04:45:00Z", `,"total":27000`)),
			sleeps("", night(`"external_id":"n1",`, "2026-02-28T20:30:00.532Z", "2026-03-01T04:45:00.120Z", `,"total":27000`)),
		}, []truth{summaries("sleep", "bedtime_start total", "2026-02-28T20:30:00+00:00 27000"), countEvents("daily.data.sleep.updated", 0)}},
		{"a night without an id moves by 532 ms", []step{
			sleeps("", first), sleeps("", night("", "2026-02-28T20:30:00.532Z", "2026-03-01T04:45:00.120Z", `,"total":27000`)),
		}, []truth{summaries("sleep", "bedtime_start total", "2026-02-28T20:30:00+00:00 27000"), countEvents("daily.data.sleep.updated", 0)}},
		{"a night with an id moves by five minutes", []step{
			sleeps("", night(`"id":"n1",`, "2026-02-28T20:30:00Z", "2026-03-01T04:45:00Z", `,"total":27000`)),
			sleeps("", night(`"id":"n1",`, "2026-02-28T20:35:00Z", "2026-03-01T04:45:00Z", `,"total":26800`)),
		}, []truth{
			summaries("sleep", "bedtime_start total", "2026-02-28T20:35:00+00:00 26800"),
			countEvents("daily.data.sleep.created", 1), countEvents("daily.data.sleep.updated", 1),
		}},
		{"a night with an id moves by a day", []step{
			sleeps("", night(`"metadata":{"id":"n1"},`, "2026-02-28T20:30:00Z", "2026-03-01T04:45:00Z", `,"total":27000`)),
			sleeps("", night(`"metadata":{"id":"n1"},`, "2026-03-01T20:30:00Z", "2026-03-02T04:45:00Z", `,"total":27000`)),
		}, []truth{summaries("sleep", "calendar_date bedtime_start", "2026-03-02 2026-03-01T20:30:00+00:00")}},
		{"a night without an id grows", []step{
			sleeps("", first), sleeps("", night("", "2026-02-28T20:10:00Z", "2026-03-01T05:45:00Z", `,"total":30000`)),
		}, []truth{summaries("sleep", "bedtime_start total", "2026-02-28T20:10:00+00:00 30000"), countEvents("daily.data.sleep.updated", 1)}},
		{"the next night is another one", []step{
			sleeps("", first), sleeps("", night("", "2026-03-01T20:10:00Z", "2026-03-02T05:45:00Z", `,"total":30000`)),
		}, []truth{summaries("sleep", "calendar_date total", "2026-03-01 27000", "2026-03-02 30000")}},
		{"a nap after the night is another one", []step{
			sleeps("", first), sleeps("", night("", "2026-03-01T04:40:00Z", "2026-03-01T06:00:00Z", `,"total":3000`)),
		}, []truth{summaries("sleep", "calendar_date total", "2026-03-01 27000", "2026-03-01 3000")}},
		{"two ids of one time are two naps", []step{
			sleeps("", night(`"external_id":"n1",`, "2026-03-01T12:00:00Z", "2026-03-01T13:00:00Z", `,"total":3000`)),
			sleeps("", night(`"external_id":"n2",`, "2026-03-01T12:10:00Z", "2026-03-01T13:10:00Z", `,"total":3100`)),
		}, []truth{summaries("sleep", "total", "3000", "3100")}},
		{"two halves of a night become one", []step{
			sleeps("", night("", "2026-02-28T22:00:00Z", "2026-03-01T01:00:00Z", `,"total":10800`), night("", "2026-03-01T01:45:00Z", "2026-03-01T06:00:00Z", `,"total":15300`)),
			sleeps("", night("", "2026-02-28T22:00:00Z", "2026-03-01T06:00:00Z", `,"total":28800`)),
		}, []truth{summaries("sleep", "total", "28800")}},
		{"an older part of a night sent again", []step{
			sleeps("", night("", "2026-03-01T03:00:00Z", "2026-03-01T06:00:00Z", `,"deep":600`)),
			sleeps("", night("", "2026-02-28T22:00:00Z", "2026-03-01T06:00:00Z", `,"deep":5000,"light":15000,"rem":5000`)),
			sleeps("", night("", "2026-03-01T03:00:00Z", "2026-03-01T06:00:00Z", `,"deep":600`)),
		}, []truth{summaries("sleep", "bedtime_start deep total", "2026-02-28T22:00:00+00:00 5000 25000"), countEvents("daily.data.sleep.updated", 1)}},
		{"a half of a night sent again after the whole", []step{
			sleeps("", night("", "2026-02-28T22:00:00Z", "2026-03-01T02:00:00Z", `,"deep":3600`)),
			sleeps("", night("", "2026-03-01T03:00:00Z", "2026-03-01T06:00:00Z", `,"deep":600`)),
			sleeps("", night("", "2026-02-28T22:00:00Z", "2026-03-01T06:00:00Z", `,"deep":5000`)),
			sleeps("", night("", "2026-03-01T03:00:00Z", "2026-03-01T06:00:00Z", `,"deep":600`)),
			sleeps("", night("", "2026-02-28T22:00:00Z", "2026-03-01T02:00:00Z", `,"deep":3600`)),
		}, []truth{summaries("sleep", "bedtime_start deep", "2026-02-28T22:00:00+00:00 5000"), countEvents("daily.data.sleep.updated", 1)}},
		{"a start of a night sent again after the whole", []step{
			sleeps("", night("", "2026-02-28T22:00:00Z", "2026-03-01T02:00:00Z", "")),
			sleeps("", night("", "2026-02-28T22:00:00Z", "2026-03-01T06:00:00Z", "")),
			sleeps("", night("", "2026-02-28T22:00:00.700Z", "2026-03-01T02:00:00Z", "")),
		}, []truth{summaries("sleep", "duration", "28800"), countEvents("daily.data.sleep.updated", 1)}},
		{"a part of a night that comes after the whole", []step{
			sleeps("", night("", "2026-02-28T22:00:00Z", "2026-03-01T06:00:00Z", `,"deep":5000`)),
			sleeps("", night("", "2026-03-01T03:00:00Z", "2026-03-01T03:20:00Z", `,"deep":600`)),
			sleeps("", night("", "2026-02-28T22:00:00Z", "2026-03-01T02:00:00Z", `,"deep":3000`)),
		}, []truth{summaries("sleep", "duration deep", "28800 5000"), countEvents("daily.data.sleep.updated", 0)}},
		{"a night that is trimmed", []step{
			sleeps("", night("", "2026-02-28T22:00:00Z", "2026-03-01T06:00:00Z", `,"deep":5000`)),
			sleeps("", night("", "2026-02-28T22:00:00Z", "2026-03-01T05:00:00Z", `,"deep":4500`)),
		}, []truth{summaries("sleep", "duration deep", "25200 4500"), countEvents("daily.data.sleep.updated", 1)}},
		{"a night that grows and shrinks again, with another value", []step{
			sleeps("", night("", "2026-02-28T22:00:00Z", "2026-03-01T04:00:00Z", `,"deep":3600`)),
			sleeps("", night("", "2026-02-28T22:00:00Z", "2026-03-01T06:00:00Z", `,"deep":5000`)),
			sleeps("", night("", "2026-02-28T22:00:00Z", "2026-03-01T04:00:00Z", `,"deep":4000`)),
		}, []truth{summaries("sleep", "duration deep", "21600 4000"), countEvents("daily.data.sleep.updated", 2)}},
		{"a night with an id that grows and shrinks again", []step{
			sleeps("", night(`"id":"n1",`, "2026-02-28T22:00:00Z", "2026-03-01T02:00:00Z", "")),
			sleeps("", night(`"id":"n1",`, "2026-02-28T22:00:00Z", "2026-03-01T06:00:00Z", "")),
			sleeps("", night(`"id":"n1",`, "2026-02-28T22:00:00Z", "2026-03-01T02:00:00Z", "")),
		}, []truth{summaries("sleep", "duration", "14400")}},
		{"a night of another source that is as long as an older part", []step{
			sleeps("", night(`"source_type":"watch",`, "2026-02-28T22:00:00Z", "2026-03-01T02:00:00Z", "")),
			sleeps("", night(`"source_type":"watch",`, "2026-02-28T22:00:00Z", "2026-03-01T06:00:00Z", "")),
			sleeps("", night(`"source_type":"phone",`, "2026-02-28T22:00:00Z", "2026-03-01T02:00:00Z", "")),
		}, []truth{countEvents("daily.data.sleep.created", 2)}},
		{"an uncropped workout sent again", []step{
			workouts(run("", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", `,"distance":10000`)),
			workouts(run("", "2026-03-01T10:01:30Z", "2026-03-01T11:00:00Z", `,"distance":9700`)),
			workouts(run("", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", `,"distance":10000`)),
		}, []truth{summaries("workouts", "time_start distance", "2026-03-01T10:01:30+00:00 9700")}},
		{"two versions of a night in one push", []step{
			sleeps("", first, night("", "2026-02-28T20:35:00Z", "2026-03-01T04:45:00Z", `,"total":26800`)),
		}, []truth{summaries("sleep", "total", "26800"), countEvents("daily.data.sleep.created", 1)}},
		{"nights of two providers are two", []step{
			sleeps("", first), pushSummaries("sleep", apple, "", first),
		}, []truth{summaries("sleep", "total", "27000", "27000")}},
		{"a sleep cycle follows its sleep", []step{
			sleeps("", first),
			pushSummaries("sleep_cycle", hc, "", `{"session_start":"2026-02-28T20:30:00Z","session_end":"2026-03-01T04:45:00Z","stage_start_offset_second":[0],"stage_end_offset_second":[600],"stage_type":[2]}`),
			pushSummaries("sleep_cycle", hc, "", `{"session_start":"2026-02-28T20:31:00Z","session_end":"2026-03-01T04:45:00Z","stage_start_offset_second":[0],"stage_end_offset_second":[900],"stage_type":[2]}`),
		}, []truth{summaries("sleep_cycle", "session_start stage_end_offset_second", "2026-02-28T20:31:00+00:00 [900]")}},
		{"a cropped workout with an id", []step{
			workouts(run(`"provider_id":"77",`, "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", `,"distance":10000`)),
			workouts(run(`"provider_id":"77",`, "2026-03-01T10:01:30Z", "2026-03-01T11:00:00Z", `,"distance":9700`)),
		}, []truth{summaries("workouts", "time_start distance", "2026-03-01T10:01:30+00:00 9700"), countEvents("daily.data.workouts.created", 1), countEvents("daily.data.workouts.updated", 1)}},
		{"a cropped workout without an id", []step{
			workouts(run("", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", `,"distance":10000`)),
			workouts(run("", "2026-03-01T10:01:30Z", "2026-03-01T11:00:00Z", `,"distance":9700`)),
		}, []truth{summaries("workouts", "time_start distance", "2026-03-01T10:01:30+00:00 9700")}},
		{"workouts that follow each other are two", []step{
			workouts(run("", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", ""), run("", "2026-03-01T11:00:00Z", "2026-03-01T12:00:00Z", "")),
		}, []truth{summaries("workouts", "time_start", "2026-03-01T10:00:00+00:00", "2026-03-01T11:00:00+00:00")}},
		{"a workout leaves its start to another one", []step{
			workouts(run(`"external_id":"a",`, "2026-03-01T10:00:00Z", "2026-03-01T10:30:00Z", `,"distance":1`)),
			workouts(run(`"external_id":"a",`, "2026-03-01T12:00:00Z", "2026-03-01T12:30:00Z", `,"distance":1`)),
			workouts(run(`"external_id":"b",`, "2026-03-01T10:00:00Z", "2026-03-01T10:30:00Z", `,"distance":2`)),
		}, []truth{summaries("workouts", "time_start distance", "2026-03-01T10:00:00+00:00 2", "2026-03-01T12:00:00+00:00 1")}},
		{"a phone with new ids sends the same workout", []step{
			workouts(run(`"external_id":"a",`, "2026-03-01T10:00:00Z", "2026-03-01T10:30:00Z", `,"distance":1`)),
			workouts(run(`"external_id":"b",`, "2026-03-01T10:00:00Z", "2026-03-01T10:30:00Z", `,"distance":1`)),
		}, []truth{summaries("workouts", "distance", "1")}},
		{"a cropped activity of a reply", []step{
			file(strava.Kind, "a.json", `[{"id":77,"start_date":"2026-03-01T10:00:00Z","start_date_local":"2026-03-01T12:00:00Z","timezone":"(GMT+02:00) Europe/Helsinki","utc_offset":7200,"elapsed_time":3600,"moving_time":3500,"distance":10000,"sport_type":"Run","type":"Run"}]`),
			file(strava.Kind, "b.json", `[{"id":77,"start_date":"2026-03-01T10:01:30Z","start_date_local":"2026-03-01T12:01:30Z","timezone":"(GMT+02:00) Europe/Helsinki","utc_offset":7200,"elapsed_time":3510,"moving_time":3400,"distance":9700,"sport_type":"Run","type":"Run"}]`),
		}, []truth{summaries("workouts", "time_start distance", "2026-03-01T10:01:30+00:00 9700")}},
		{"one body has two versions of a night that moved", []step{
			sleeps("", night(`"external_id":"n9",`, "2026-02-28T20:30:00Z", "2026-03-01T04:45:00Z", `,"total":27000`),
				night(`"external_id":"n9",`, "2026-02-28T20:35:00Z", "2026-03-01T04:45:00Z", `,"total":26700`)),
		}, []truth{
			summaries("sleep", "bedtime_start total", "2026-02-28T20:35:00+00:00 26700"), countEvents("daily.data.sleep.created", 1), countEvents("daily.data.sleep.updated", 0),
		}},
		{"one body has two versions of a stored workout that moved", []step{
			workouts(run(`"external_id":"w9",`, "2026-03-01T10:00:00Z", "2026-03-01T10:30:00Z", `,"distance":5000`)),
			workouts(run(`"external_id":"w9",`, "2026-03-01T12:00:00Z", "2026-03-01T12:30:00Z", `,"distance":5100`),
				run(`"external_id":"w9",`, "2026-03-01T14:00:00Z", "2026-03-01T14:30:00Z", `,"distance":5200`)),
		}, []truth{summaries("workouts", "time_start distance", "2026-03-01T14:00:00+00:00 5200")}},
		{"a night of a reply moves by five minutes", []step{
			file(oura.Kind, "a.json", `{"data":[{"id":"n1","day":"2026-03-01","bedtime_start":"2026-02-28T22:30:00+02:00","bedtime_end":"2026-03-01T06:45:00+02:00","total_sleep_duration":27000,"type":"long_sleep"}]}`),
			file(oura.Kind, "b.json", `{"data":[{"id":"n1","day":"2026-03-01","bedtime_start":"2026-02-28T22:35:00+02:00","bedtime_end":"2026-03-01T06:45:00+02:00","total_sleep_duration":26800,"type":"long_sleep"}]}`),
		}, []truth{summaries("sleep", "calendar_date bedtime_start total", "2026-03-01 2026-02-28T20:35:00+00:00 26800")}},
		{"a score finds the night that moved", []step{
			file(oura.Kind, "a.json", `{"data":[{"id":"n1","day":"2026-03-01","bedtime_start":"2026-02-28T22:30:00+02:00","bedtime_end":"2026-03-01T06:45:00+02:00","total_sleep_duration":27000,"type":"long_sleep"}]}`),
			file(oura.Kind, "b.json", `{"data":[{"id":"n1","day":"2026-03-01","bedtime_start":"2026-02-28T22:35:00+02:00","bedtime_end":"2026-03-01T06:45:00+02:00","total_sleep_duration":26800,"type":"long_sleep"}]}`),
			file(oura.Kind, "c.json", `{"data":[{"id":"s1","day":"2026-03-01","score":81,"contributors":{"total_sleep":80},"timestamp":"2026-03-01T00:00:00+02:00"}]}`),
		}, []truth{summaries("sleep", "total score", "26800 81")}},
		{"an export whose night grew earlier", []step{
			export(sleepRecord("2026-03-01 00:00:00", "2026-03-01 06:00:00")),
			export(sleepRecord("2026-02-28 22:00:00", "2026-03-01 00:00:00"), sleepRecord("2026-03-01 00:00:00", "2026-03-01 06:00:00")),
		}, []truth{summaries("sleep", "bedtime_start total", "2026-02-28T20:00:00+00:00 28800")}},
		{"an export whose gap was filled", []step{
			export(sleepRecord("2026-02-28 22:00:00", "2026-03-01 01:00:00"), sleepRecord("2026-03-01 01:45:00", "2026-03-01 06:00:00")),
			export(sleepRecord("2026-02-28 22:00:00", "2026-03-01 01:00:00"), sleepRecord("2026-03-01 01:00:00", "2026-03-01 01:45:00"), sleepRecord("2026-03-01 01:45:00", "2026-03-01 06:00:00")),
		}, []truth{summaries("sleep", "total", "28800"), summaries("sleep_cycle", "stage_end_offset_second", "[28800]")}},
		{"an export imported again", []step{
			export(sleepRecord("2026-02-28 22:00:00", "2026-03-01 06:00:00")), export(sleepRecord("2026-02-28 22:00:00", "2026-03-01 06:00:00")),
		}, []truth{summaries("sleep", "total", "28800"), countEvents("daily.data.sleep.updated", 0)}},
		{"two meals in one minute", []step{
			meals(`{"timestamp":"2026-03-01T06:00:00Z","name":"Porridge","energy":{"unit":"kcal","value":300}}`, `{"timestamp":"2026-03-01T06:00:00Z","name":"Coffee","energy":{"unit":"kcal","value":5}}`),
		}, []truth{countEvents("daily.data.meal.created", 2), countEvents("daily.data.meal.updated", 0)}},
		{"two meals in one minute, one after the other", []step{
			meals(`{"timestamp":"2026-03-01T06:00:00Z","name":"Porridge","energy":{"unit":"kcal","value":300}}`),
			meals(`{"timestamp":"2026-03-01T06:00:00Z","name":"Coffee","energy":{"unit":"kcal","value":5}}`),
			meals(`{"timestamp":"2026-03-01T06:00:00Z","name":"Porridge","energy":{"unit":"kcal","value":300}}`),
		}, []truth{countEvents("daily.data.meal.created", 2), countEvents("daily.data.meal.updated", 0)}},
		{"meals with and without a name in one minute", []step{
			meals(`{"timestamp":"2026-03-01T06:00:00Z","name":"A","energy":{"unit":"kcal","value":100}}`),
			meals(`{"timestamp":"2026-03-01T06:00:00Z","energy":{"unit":"kcal","value":50}}`),
			meals(`{"timestamp":"2026-03-01T06:00:00Z","name":"C"}`),
			meals(`{"timestamp":"2026-03-01T06:00:00Z","name":"A","energy":{"unit":"kcal","value":100}}`),
			meals(`{"timestamp":"2026-03-01T06:00:00Z","energy":{"unit":"kcal","value":50}}`),
		}, []truth{countEvents("daily.data.meal.created", 3), countEvents("daily.data.meal.updated", 0)}},
		{"a meal sent again after another one of its minute was deleted", []step{
			meals(`{"timestamp":"2026-03-01T06:00:00Z","name":"A"}`), meals(`{"timestamp":"2026-03-01T06:00:00Z","name":"B","external_id":"b"}`),
			meals(`{"timestamp":"2026-03-01T06:00:00Z","name":"C"}`), call("DELETE", "/v2/user/*/data?external_id=2026-03-01T06:00:00Z%7Cunknown%7C", ""),
			meals(`{"timestamp":"2026-03-01T06:00:00Z","name":"C"}`), meals(`{"timestamp":"2026-03-01T06:00:00Z","name":"A"}`),
		}, []truth{countEvents("daily.data.meal.created", 3), countEvents("daily.data.meal.deleted", 1), countEvents("daily.data.meal.updated", 0)}},
		{"meals of one name and two ids", []step{
			meals(`{"timestamp":"2026-03-01T06:00:00Z","name":"Egg","external_id":"1"}`, `{"timestamp":"2026-03-01T06:00:00Z","name":"Egg","external_id":"2"}`),
		}, []truth{summaries("meal", "name", "Egg", "Egg")}},
		{"a meal with an id is renamed and moved", []step{
			meals(`{"timestamp":"2026-03-01T06:00:00Z","name":"Egg","external_id":"1"}`),
			meals(`{"timestamp":"2026-03-01T06:30:00Z","name":"Eggs","external_id":"1"}`),
		}, []truth{summaries("meal", "timestamp name", "2026-03-01T06:30:00+00:00 Eggs")}},
		{"a later day replaces the earlier one", []step{
			pushSummaries("activity", hc, "", `{"calendar_date":"2026-03-01","steps":12000,"distance":15000}`),
			pushSummaries("activity", hc, "", `{"calendar_date":"2026-03-01","steps":2000}`),
		}, []truth{summaries("activity", "steps distance", "2000 null"), countEvents("daily.data.activity.updated", 1)}},
		{"null clears a field", []step{
			pushSummaries("activity", hc, "", `{"calendar_date":"2026-03-01","steps":12000,"distance":15000}`),
			pushSummaries("activity", hc, "", `{"calendar_date":"2026-03-01","steps":12000,"distance":null}`),
		}, []truth{summaries("activity", "steps distance", "12000 null")}},
		{"a later day in one push replaces the earlier one", []step{
			pushSummaries("activity", hc, "", `{"calendar_date":"2026-03-01","steps":12000,"distance":15000}`, `{"calendar_date":"2026-03-01","steps":2000}`),
		}, []truth{summaries("activity", "steps distance", "2000 null")}},
		{"a weight with an id moves to another day", []step{
			pushSummaries("body", hc, "", `{"calendar_date":"2026-03-01","weight":70,"external_id":"w"}`),
			pushSummaries("body", hc, "", `{"calendar_date":"2026-03-02","weight":71,"external_id":"w"}`),
		}, []truth{summaries("body", "calendar_date weight", "2026-03-02 71")}},
		{"a cycle with an id moves by a day", []step{
			pushSummaries("menstrual_cycle", hc, "", `{"period_start":"2026-03-01","external_id":"c"}`),
			pushSummaries("menstrual_cycle", hc, "", `{"period_start":"2026-03-02","external_id":"c"}`),
		}, []truth{summaries("menstrual_cycle", "period_start", "2026-03-02")}},
		{"an id of another person is no id of this one", []step{
			sleeps("", night(`"external_id":"n1",`, "2026-02-28T20:30:00Z", "2026-03-01T04:45:00Z", `,"total":1`)),
		}, []truth{summaries("sleep", "total", "1"), countEvents("daily.data.sleep.created", 1)}},
		{"an id of a sleep is no id of a workout", []step{
			sleeps("", night(`"external_id":"x",`, "2026-02-28T20:30:00Z", "2026-03-01T04:45:00Z", `,"total":27000`)),
			workouts(run(`"external_id":"x",`, "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", "")),
		}, []truth{summaries("sleep", "total", "27000"), summaries("workouts", "time_start", "2026-03-01T10:00:00+00:00")}},
	}...)
}

// export imports an Apple Health export with these records.
func export(records ...string) step {
	return file(applehealth.Kind, "export.xml", `<?xml version="1.0" encoding="UTF-8"?>
<HealthData locale="en_US">
 <ExportDate value="2026-04-01 12:00:00 +0200"/>
`+strings.Join(records, "\n")+`
</HealthData>`)
}

// sleepRecord returns a record of core sleep of a watch in Helsinki, between local times.
func sleepRecord(from, to string) string {
	return fmt.Sprintf(` <Record type="HKCategoryTypeIdentifierSleepAnalysis" sourceName="Watch" sourceVersion="10" device="&lt;&lt;HKDevice: 0x1&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:10&gt;" creationDate="%s +0200" startDate="%s +0200" endDate="%s +0200" value="HKCategoryValueSleepAnalysisAsleepCore"/>`, to, from, to)
}
