package situations

import (
	"fmt"
	"strings"

	"hale/internal/wearables/formats/oura"
)

// correctionRows returns the situations about deletions: by the team, and by reports of
// phones and providers.
func correctionRows() []situation {
	reply := func(name, id, start, kind string) step {
		return file(oura.Kind, name, `{"data":[{"id":"`+id+`","day":"2026-03-01","bedtime_start":"`+start+`","bedtime_end":"2026-03-01T06:45:00+02:00",
			"total_sleep_duration":27000,"sleep_phase_5_min":"2222","type":"`+kind+`"}]}`)
	}
	const start = "2026-02-28T22:30:00+02:00"
	gone := []truth{
		summaries("sleep", "total"), summaries("sleep_cycle", "stage_type"), queriedNights(),
		countEvents("daily.data.sleep.deleted", 1), countEvents("daily.data.sleep_cycle.deleted", 1),
	}
	const (
		walk  = `{"startDate":"2026-03-02T08:00:00Z","endDate":"2026-03-02T09:00:00Z","value":6000,"sourceBundle":"a","metadata":{"id":"w"}}`
		stair = `{"startDate":"2026-03-02T10:00:00Z","endDate":"2026-03-02T10:10:00Z","value":400,"sourceBundle":"a","metadata":{"id":"s"}}`
		moved = `{"startDate":"2026-03-02T08:05:00Z","endDate":"2026-03-02T09:00:00Z","value":5800,"sourceBundle":"a","metadata":{"id":"w"}}`
	)
	steps := func(all ...string) step { return push("steps", android, "UTC", all...) }
	run := pushSummaries("workouts", android, "UTC", `{"time_start":"2026-03-02T08:00:00Z","time_end":"2026-03-02T09:00:00Z","distance":9000,"metadata":{"id":"r"}}`)
	const ranWithout = `{"time_start":"2026-03-02T08:00:00Z","time_end":"2026-03-02T09:00:00Z","distance":9000}`
	runAs := func(id string) step {
		return pushSummaries("workouts", android, "UTC", strings.Replace(ranWithout, `}`, `,"metadata":{"id":"`+id+`"}}`, 1))
	}
	lunch := func(id string) step {
		return pushSummaries("meal", android, "UTC", `{"id":"`+id+`","name":"Lunch","timestamp":"2026-03-02T12:00:00Z","calories":600}`)
	}
	night := func(id string) step {
		return pushSummaries("sleep", android, "UTC", `{`+id+`"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z","source_type":"watch"}`)
	}
	stages := func(id string) step {
		return pushSummaries("sleep_cycle", android, "UTC", `{`+id+`"session_start":"2026-03-01T22:00:00Z","session_end":"2026-03-02T06:00:00Z",
			"stage_start_offset_second":[0,3600],"stage_end_offset_second":[3600,28800],"stage_type":[1,2],"source_type":"watch"}`)
	}
	noNight := []truth{
		summaries("sleep", "total"), summaries("sleep_cycle", "session_start"), countEvents("daily.data.sleep.deleted", 1), countEvents("daily.data.sleep_cycle.deleted", 1),
	}
	left := []truth{
		samples("steps", "timestamp value", "2026-03-02T10:00:00+00:00 400"), daily("steps", "date total", "2026-03-02 400"),
		queriedDays("steps", "2026-03-02T00:00:00 400"), countEvents("daily.data.steps.deleted", 1),
	}
	return []situation{
		{"a phone deletes a sample by its id", []step{steps(walk, stair), reported("/v2/timeseries/*/steps", android, `{"id":"w"}`)}, left},
		{"a phone deletes a sample by the id alone", []step{steps(walk, stair), reported("/v2/timeseries/*/steps", android, `"w"`)}, left},
		{"a phone deletes a sample in a body of several series", []step{steps(walk, stair), reported("/v2/timeseries/*", android, `{"metadata":{"id":"w"}}`)}, left},
		{"a phone deletes a sample twice", []step{
			steps(walk, stair), reported("/v2/timeseries/*/steps", android, `"w"`), reported("/v2/timeseries/*/steps", android, `"w"`),
		}, left},
		{"a deleted sample is sent again", []step{steps(walk, stair), reported("/v2/timeseries/*/steps", android, `"w"`), steps(walk, stair)}, left},
		{"the steps of an activity are deleted, its heart rate is not", []step{
			steps(walk), push("heartrate", android, "UTC", `{"timestamp":"2026-03-02T08:00:00Z","value":60,"source_app_id":"a"}`), runDerive(android),
			call("DELETE", "/v2/user/*/data?resource=steps", ""), runDerive(android),
		}, []truth{summaries("activity", "steps heart_rate.avg_bpm", "null 60"), countEvents("daily.data.activity.deleted", 0), countEvents("daily.data.activity.updated", 1)}},
		{"a team deletes a sample by its id", []step{steps(walk, stair), call("DELETE", "/v2/user/*/data?provider=health_connect&external_id=w", "")}, left},
		{"a sample of another provider has the same id", []step{
			steps(walk, stair), reported("/v2/timeseries/*/steps", apple, `"w"`),
		}, []truth{daily("steps", "date total", "2026-03-02 6400"), countEvents("daily.data.steps.deleted", 0)}},
		{"a phone deletes an id that was never sent", []step{steps(walk, stair), reported("/v2/timeseries/*/steps", android, `"x"`)}, []truth{
			daily("steps", "date total", "2026-03-02 6400"), countEvents("daily.data.steps.deleted", 0),
		}},
		{"a phone replaces a sample and deletes the old one", []step{
			steps(strings.Replace(walk, `"w"`, `"old"`, 1), stair),
			call("POST", "/v2/timeseries/*/steps", `{"stage":"daily","provider":"health_connect","time_zone":"UTC","deleted":[{"id":"old"}],"data":[`+walk+`]}`),
		}, []truth{daily("steps", "date total", "2026-03-02 6400"), countEvents("daily.data.steps.deleted", 0)}},
		{"an edited sample moves", []step{steps(walk, stair), steps(moved)}, []truth{
			samples("steps", "timestamp value", "2026-03-02T08:05:00+00:00 5800", "2026-03-02T10:00:00+00:00 400"),
			daily("steps", "date total", "2026-03-02 6200"), countEvents("daily.data.steps.deleted", 1),
		}},
		{"an edited sample moves back", []step{steps(walk, stair), steps(moved), steps(walk)}, []truth{daily("steps", "date total", "2026-03-02 6400")}},
		{"an edited sample of a body of several series moves", []step{
			steps(walk, stair), call("POST", "/v2/timeseries/*", `{"stage":"daily","provider":"health_connect","series":{"steps":[`+moved+`]}}`),
		}, []truth{daily("steps", "date total", "2026-03-02 6200")}},
		{"an edited sample moves to an impossible value", []step{steps(walk, stair), steps(strings.Replace(moved, "5800", "-1", 1))}, []truth{
			daily("steps", "date total", "2026-03-02 6400"), countEvents("daily.data.steps.deleted", 0),
		}},
		{"an edited sample moves after the end of the collection", []step{
			steps(walk, stair), call("PATCH", "/v2/user/*", `{"ingestion_end":"2026-03-03"}`), steps(moved),
		}, []truth{daily("steps", "date total", "2026-03-02 6400"), countEvents("daily.data.steps.deleted", 0)}},
		{"an edited cholesterol keeps its short type", []step{
			push("cholesterol", android, "", `{"timestamp":"2026-03-02T08:00:00Z","type":"ldl","value":3,"id":"c"}`),
			push("cholesterol", android, "", `{"timestamp":"2026-03-02T08:00:00Z","type":"ldl","value":3,"id":"c"}`),
			push("cholesterol", android, "", `{"timestamp":"2026-03-02T08:05:00Z","type":"ldl","value":3.1,"id":"c"}`),
		}, []truth{samples("cholesterol", "timestamp value", "2026-03-02T08:05:00+00:00 3.1"), countEvents("daily.data.cholesterol.deleted", 1)}},
		{"an edited typed sample moves", []step{
			call("POST", "/v2/user/*/entries", `{"data":[{"resource":"body_weight","id":"e","timestamp":"2026-03-02T07:00:00Z","value":70}]}`),
			call("POST", "/v2/user/*/entries", `{"data":[{"resource":"body_weight","id":"e","timestamp":"2026-03-02T07:30:00Z","value":71}]}`),
		}, []truth{samples("body_weight", "timestamp value", "2026-03-02T07:30:00+00:00 71"), countEvents("daily.data.weight.deleted", 1)}},
		{"an edited sample that moved is deleted", []step{steps(walk, stair), steps(moved), reported("/v2/timeseries/*/steps", android, `"w"`)}, left[:3]},
		{"an edited sample keeps its time", []step{steps(walk, stair), steps(strings.Replace(walk, "6000", "5000", 1))}, []truth{
			daily("steps", "date total", "2026-03-02 5400"), countEvents("daily.data.steps.deleted", 0), countEvents("daily.data.steps.updated", 1),
		}},
		{"a record of several heart rates is deleted", []step{
			push("heartrate", android, "", `{"timestamp":"2026-03-02T08:00:00Z","value":60,"metadata":{"id":"h"}}`, `{"timestamp":"2026-03-02T08:00:10Z","value":70,"metadata":{"id":"h"}}`,
				`{"timestamp":"2026-03-02T08:00:20Z","value":80,"metadata":{"id":"i"}}`),
			reported("/v2/timeseries/*/heartrate", android, `"h"`),
		}, []truth{samples("heartrate", "value", "80")}},
		{"an id at two times in one body is a record of two samples", []step{
			push("heartrate", android, "", `{"timestamp":"2026-03-02T10:00:00Z","value":60,"id":"q"}`, `{"timestamp":"2026-03-02T11:00:00Z","value":70,"id":"q"}`),
		}, []truth{samples("heartrate", "value", "60", "70"), countEvents("daily.data.heartrate.deleted", 0)}},
		{"an id at two times in two bodies is a sample that moved", []step{
			push("heartrate", android, "", `{"timestamp":"2026-03-02T10:00:00Z","value":60,"id":"q"}`), push("heartrate", android, "", `{"timestamp":"2026-03-02T11:00:00Z","value":70,"id":"q"}`),
		}, []truth{samples("heartrate", "value", "70"), countEvents("daily.data.heartrate.deleted", 1)}},
		{"a record of several heart rates grows", []step{
			push("heartrate", android, "", `{"timestamp":"2026-03-02T08:00:00Z","value":60,"metadata":{"id":"h"}}`, `{"timestamp":"2026-03-02T08:00:10Z","value":70,"metadata":{"id":"h"}}`),
			push("heartrate", android, "", `{"timestamp":"2026-03-02T08:00:20Z","value":80,"metadata":{"id":"h"}}`),
		}, []truth{samples("heartrate", "value", "60", "70", "80")}},
		{"the activity follows a deleted sample", []step{
			steps(walk, stair), runDerive(android), reported("/v2/timeseries/*/steps", android, `"w"`), runDerive(android),
		}, []truth{summaries("activity", "calendar_date steps", "2026-03-02 400")}},
		{"a body of typed values follows their deletion", []step{
			call("POST", "/v2/user/*/entries", `{"data":[{"resource":"body_weight","timestamp":"2026-03-02T07:00:00Z","value":70},{"resource":"steps","timestamp":"2026-03-02T07:00:00Z","value":700}]}`),
			runDerive("manual"), call("DELETE", "/v2/user/*/data?resource=body_weight", ""), call("DELETE", "/v2/user/*/data?resource=steps", ""), runDerive("manual"),
		}, []truth{summaries("body", "weight"), summaries("activity", "steps"), countEvents("daily.data.body.deleted", 1), countEvents("daily.data.activity.deleted", 1)}},
		{"a last chunk of a history is rejected", []step{
			call("POST", "/v2/timeseries/*/heartrate", `{"stage":"historical","is_final_chunk":true,"provider":"health_connect","data":[{"timestamp":"2026-03-02T08:00:00Z","value":-6}]}`),
			call("POST", "/v2/timeseries/*", `{"stage":"historical","is_final_chunk":true,"provider":"health_connect","series":{"heartrate":[{"timestamp":"2026-03-02T08:00:00Z","value":-6}],"steps":[]}}`),
			call("POST", "/v2/summary/sleep/*", `{"stage":"historical","is_final_chunk":true,"provider":"health_connect","data":[{"bedtime_start":"1990-03-01T20:00:00Z","bedtime_stop":"1990-03-02T04:00:00Z"}]}`),
		}, []truth{countEvents("historical.data.heartrate.created", 0), countEvents("historical.data.steps.created", 1), countEvents("historical.data.sleep.created", 0)}},
		{"the cycles of a replaced night are counted", []step{
			pushSummaries("sleep", android, "UTC", `{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T01:00:00Z"}`, `{"bedtime_start":"2026-03-02T01:30:00Z","bedtime_stop":"2026-03-02T06:00:00Z"}`),
			pushSummaries("sleep_cycle", android, "UTC", cycle("2026-03-01T22:00:00Z", "2026-03-02T01:00:00Z"), cycle("2026-03-02T01:30:00Z", "2026-03-02T06:00:00Z")),
			pushSummaries("sleep", android, "UTC", `{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z"}`),
		}, []truth{countEvents("daily.data.sleep_cycle.created", 2), countEvents("daily.data.sleep_cycle.deleted", 1), countedEvents(android, "sleep_cycle", "3")}},
		{"a phone deletes a night by its id", []step{night(`"id":"S",`), stages(""), reported("/v2/summary/sleep/*", android, `"S"`)}, noNight},
		{"a phone deletes a night whose cycle came first", []step{stages(""), night(`"id":"S",`), reported("/v2/summary/sleep/*", android, `"S"`)}, noNight},
		{"a phone deletes a night with totals of its stages", []step{night(`"id":"S",`), stages(""), runDerive(android), reported("/v2/summary/sleep/*", android, `"S"`)}, noNight},
		{"a phone deletes a night whose cycle names it otherwise", []step{
			night(`"id":"S",`), stages(`"sleep_id":"6f1f7cde-97f5-4f0e-9b55-4a7a4bdf9d51","id":"C",`), reported("/v2/summary/sleep/*", android, `"S"`),
		}, noNight},
		{"a team deletes a night by its id", []step{night(`"id":"S",`), stages(`"id":"C",`), call("DELETE", "/v2/user/*/data?external_id=S", "")}, noNight},
		{"a team deletes a night by its id and resource", []step{night(`"id":"S",`), stages(""), call("DELETE", "/v2/user/*/data?resource=sleep&external_id=S", "")}, noNight},
		{"a deleted night leaves the cycle of the next", []step{
			night(`"id":"S",`), stages(""), pushSummaries("sleep_cycle", android, "UTC", `{"session_start":"2026-03-02T22:00:00Z","session_end":"2026-03-03T06:00:00Z",
				"stage_start_offset_second":[0],"stage_end_offset_second":[3600],"stage_type":[2],"source_type":"watch"}`), reported("/v2/summary/sleep/*", android, `"S"`),
		}, []truth{summaries("sleep", "total"), summaries("sleep_cycle", "session_start", "2026-03-02T22:00:00+00:00"), countEvents("daily.data.sleep_cycle.deleted", 1)}},
		{"a phone deletes a workout by its id", []step{run, reported("/v2/summary/workouts/*", android, `{"id":"r"}`)}, []truth{
			summaries("workouts", "distance"), queriedWorkouts(), countEvents("daily.data.workouts.deleted", 1),
		}},
		{"a deleted workout is sent again with another distance", []step{
			run, reported("/v2/summary/workouts/*", android, `"r"`),
			pushSummaries("workouts", android, "UTC", `{"time_start":"2026-03-02T08:10:00Z","time_end":"2026-03-02T09:00:00Z","distance":8000,"metadata":{"id":"r"}}`),
		}, []truth{summaries("workouts", "distance")}},
		{"the deletion of a workout comes before the workout", []step{reported("/v2/summary/workouts/*", android, `"r"`), run}, []truth{
			summaries("workouts", "distance"), countEvents("daily.data.workouts.created", 0),
		}},
		{"a new workout at the time of a deleted one", []step{
			run, reported("/v2/summary/workouts/*", android, `"r"`),
			pushSummaries("workouts", android, "UTC", `{"time_start":"2026-03-02T08:00:00Z","time_end":"2026-03-02T09:00:00Z","distance":8000,"metadata":{"id":"q"}}`),
		}, []truth{summaries("workouts", "distance", "8000")}},
		{"a deleted workout is sent again after another one took its time", []step{
			run, reported("/v2/summary/workouts/*", android, `"r"`),
			pushSummaries("workouts", android, "UTC", `{"time_start":"2026-03-02T08:00:00Z","time_end":"2026-03-02T09:00:00Z","distance":8000,"metadata":{"id":"q"}}`), run,
		}, []truth{summaries("workouts", "distance", "8000")}},
		{"a team deletes a workout by the id of its metadata", []step{run, call("DELETE", "/v2/user/*/data?provider=health_connect&resource=workouts&external_id=r", "")}, []truth{
			summaries("workouts", "distance"), countEvents("daily.data.workouts.deleted", 1),
		}},
		{"a deleted sample is pushed again with another id", []step{
			steps(walk, stair), reported("/v2/timeseries/*/steps", android, `"w"`), steps(strings.Replace(walk, `"w"`, `"n"`, 1)),
		}, []truth{daily("steps", "date total", "2026-03-02 6400")}},
		{"a deleted sample is pushed again with its own id, and without one", []step{
			steps(walk, stair), reported("/v2/timeseries/*/steps", android, `"w"`), steps(walk), steps(strings.Replace(walk, `"w"`, `""`, 1)),
		}, left[:1]},
		{"a sample is deleted with two ids", []step{
			steps(walk, stair), reported("/v2/timeseries/*/steps", android, `"w"`), steps(strings.Replace(walk, `"w"`, `"n"`, 1)), reported("/v2/timeseries/*/steps", android, `"n"`),
			steps(walk), steps(strings.Replace(walk, `"w"`, `"n"`, 1)),
		}, left[:1]},
		{"a sample without an id is deleted, and pushed with one", []step{
			steps(strings.Replace(walk, `"w"`, `""`, 1), stair), call("DELETE", "/v2/user/*/data?resource=steps&start=2026-03-02T08:00:00Z&end=2026-03-02T09:00:00Z", ""), steps(walk),
		}, left[:1]},
		{"a deleted workout is pushed again with another id", []step{run, reported("/v2/summary/workouts/*", android, `"r"`), runAs("n")}, []truth{summaries("workouts", "distance", "9000")}},
		{"a workout is deleted with two ids", []step{
			run, reported("/v2/summary/workouts/*", android, `"r"`), runAs("n"), reported("/v2/summary/workouts/*", android, `"n"`), run, runAs("n"),
		}, []truth{summaries("workouts", "distance")}},
		{"a deleted workout is imported again without an id", []step{run, reported("/v2/summary/workouts/*", android, `"r"`), undoableValues("a", "workouts", ranWithout)}, []truth{summaries("workouts", "distance")}},
		{"a deleted night is pushed again with another id", []step{
			night(`"id":"S",`), stages(""), reported("/v2/summary/sleep/*", android, `"S"`), night(`"id":"N",`), stages(""),
		}, []truth{summaries("sleep", "bedtime_start", "2026-03-01T22:00:00+00:00"), summaries("sleep_cycle", "session_start", "2026-03-01T22:00:00+00:00")}},
		{"a deleted meal is pushed again with another id", []step{lunch("o"), reported("/v2/summary/meal/*", android, `"o"`), lunch("n")}, []truth{summaries("meal", "name", "Lunch")}},
		{"a reply says that a night is deleted", []step{reply("a.json", "n1", start, "long_sleep"), reply("b.json", "n1", start, "deleted")}, gone},
		{"a reply says twice that a night is deleted", []step{
			reply("a.json", "n1", start, "long_sleep"), reply("b.json", "n1", start, "deleted"), reply("c.json", "n1", start, "deleted"),
		}, gone},
		{"an older reply comes after the deletion", []step{
			reply("a.json", "n1", start, "long_sleep"), reply("b.json", "n1", start, "deleted"), reply("a.json", "n1", start, "long_sleep"),
		}, gone},
		{"another version of a night comes after the deletion", []step{
			reply("a.json", "n1", start, "long_sleep"), reply("b.json", "n1", start, "deleted"), reply("c.json", "n1", "2026-02-28T22:50:00+02:00", "long_sleep"),
		}, gone},
		{"the deletion of a night comes before the night", []step{reply("b.json", "n1", start, "deleted"), reply("a.json", "n1", start, "long_sleep")}, []truth{
			summaries("sleep", "total"), countEvents("daily.data.sleep.created", 0), countEvents("daily.data.sleep.deleted", 0),
		}},
		{"a deleted night of another id stays", []step{reply("a.json", "n1", start, "long_sleep"), reply("b.json", "n2", "2026-02-28T22:50:00+02:00", "deleted")}, []truth{
			summaries("sleep", "total", "27000"), countEvents("daily.data.sleep.deleted", 0),
		}},
		{"a night that moved is deleted by its id", []step{
			reply("a.json", "n1", start, "long_sleep"), reply("b.json", "n1", "2026-02-28T22:50:00+02:00", "deleted"),
		}, gone},
		{"a night without an id is deleted by its bounds", []step{reply("a.json", "", start, "long_sleep"), reply("b.json", "", start, "deleted")}, gone},
		{"one reply has a night and its deletion", []step{
			file(oura.Kind, "a.json", `{"data":[
				{"id":"n1","day":"2026-03-01","bedtime_start":"2026-02-28T22:30:00+02:00","bedtime_end":"2026-03-01T06:45:00+02:00","total_sleep_duration":27000,"type":"long_sleep"},
				{"id":"n1","day":"2026-03-01","bedtime_start":"2026-02-28T22:30:00+02:00","bedtime_end":"2026-03-01T06:45:00+02:00","type":"deleted"}]}`),
		}, []truth{summaries("sleep", "total")}},
		{"a nap stays when the night is deleted", []step{
			file(oura.Kind, "a.json", `{"data":[
				{"id":"n1","day":"2026-03-01","bedtime_start":"2026-02-28T22:30:00+02:00","bedtime_end":"2026-03-01T06:45:00+02:00","total_sleep_duration":27000,"type":"long_sleep"},
				{"id":"n2","day":"2026-03-01","bedtime_start":"2026-03-01T14:00:00+02:00","bedtime_end":"2026-03-01T14:30:00+02:00","total_sleep_duration":1500,"type":"late_nap"}]}`),
			reply("b.json", "n1", start, "deleted"),
		}, []truth{summaries("sleep", "total", "1500"), queriedNights("2026-03-01T00:00:00 1")}},
	}
}

// reported reports records as deleted.
func reported(path, provider string, ids ...string) step {
	return call("POST", path, `{"stage":"daily","provider":"`+provider+`","deleted":[`+strings.Join(ids, ",")+`]}`)
}

// cycle returns a sleep cycle of one stage.
func cycle(start, end string) string {
	return fmt.Sprintf(`{"session_start":%q,"session_end":%q,"stage_start_offset_second":[0],"stage_end_offset_second":[3600],"stage_type":[2]}`, start, end)
}

// countedEvents reads how many data events about a resource are counted.
func countedEvents(provider, resource, n string) truth {
	return truth{name: "sent_count", fields: []string{"n"}, rows: []string{n}, read: func(b *bed) (all []map[string]any) {
		var page struct {
			Data []struct {
				Provider map[string]map[string]struct {
					Sent float64 `json:"sent_count"`
				}
			}
		}
		b.decode(b.want("GET", "/v2/introspect/resources?user_id=*", ""), &page)
		for _, one := range page.Data {
			all = append(all, map[string]any{"n": one.Provider[provider][resource].Sent})
		}
		return all
	}}
}
