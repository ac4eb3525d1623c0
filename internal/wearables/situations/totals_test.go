package situations

import (
	"fmt"
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables/days"
	"hale/internal/wearables/formats/applehealth"
	"hale/internal/wearables/formats/oura"
	"hale/internal/wearables/zones"
)

// runDerive runs the job that a push enqueues.
func runDerive(provider string) step {
	return func(b *bed) {
		s := days.Service{Ingester: b.sink}
		err := s.Derive(store.WithTeam(b.t.Context(), b.team.ID.UUID()), b.db, b.team.ID, days.Args{
			User: b.user.ID, Provider: provider, First: civil.MustParse("2026-03-01"), Last: civil.MustParse("2026-03-09"),
		})
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

// runZones runs the job that a workout enqueues.
func runZones() step {
	return func(b *bed) {
		if _, err := zones.AddZones(store.WithTeam(b.t.Context(), b.team.ID.UUID()), b.db, b.team.ID, b.user.ID); err != nil {
			b.t.Fatal(err)
		}
	}
}

// sendRefused sends a sample that must be refused for this reason only.
func sendRefused(resource, provider, sample, reason string) step {
	return func(b *bed) {
		good := `{"timestamp":"2026-03-01T00:00:00Z","value":50}`
		want := `"created":1,"updated":0,"unchanged":0,"rejected":[{"reason":"` + reason + `","count":1,"first":1}]`
		got := b.want("POST", "/v2/timeseries/*/"+resource, pushBody(provider, "", []string{good, sample}))
		if !strings.Contains(got, want) {
			b.t.Errorf("%s: %s, want %s", sample, got, want)
		}
	}
}

// refusedSummary sends a summary that must be refused for this reason only.
func refusedSummary(resource, summary, reason string) step {
	return func(b *bed) {
		want := `"created":0,"updated":0,"unchanged":0,"rejected":[{"reason":"` + reason + `","count":1,"first":0}]`
		if got := b.want("POST", "/v2/summary/"+resource+"/*", pushBody(android, "", []string{summary})); !strings.Contains(got, want) {
			b.t.Errorf("%s: %s, want %s", summary, got, want)
		}
	}
}

// sendHeartRates sends heart rates at hours after the first midnight of 2 March.
func sendHeartRates(source string, hours ...int) step {
	var all []string
	for _, hour := range hours {
		at := time.Date(2026, 3, 2, hour, 0, 0, 0, time.UTC)
		if hour < 12 {
			at = at.AddDate(0, 0, 1)
		}
		all = append(all, fmt.Sprintf(`{"timestamp":%q,"value":60,"source_type":%q}`, at.Format(time.RFC3339), source))
	}
	return push("heartrate", android, "", all...)
}

// sleepStream reads the times of the heart rates of the only sleep.
func sleepStream(times ...string) truth {
	return truth{name: "sleep stream", fields: []string{"timestamp"}, rows: times, read: func(b *bed) []map[string]any {
		var page struct{ Sleep []struct{ ID string } }
		b.decode(b.want("GET", "/v2/summary/sleep/*?"+span, ""), &page)
		var stream map[string][]map[string]any
		b.decode(b.want("GET", "/v2/timeseries/sleep/"+page.Sleep[0].ID+"/stream", ""), &stream)
		return stream["heartrate"]
	}}
}

const apple, android = "apple_health_kit", "health_connect"

// exportFile imports an Apple Health export with records.
func exportFile(records string) step {
	return file(applehealth.Kind, "export.xml", `<?xml version="1.0"?><HealthData locale="en_US">`+records+`</HealthData>`)
}

// totalRows returns the situations about totals, and about the data that is accepted.
func totalRows() []situation {
	const (
		walk   = `{"timestamp":"2026-03-02T08:00:00Z","end":"2026-03-02T09:00:00Z","value":6000,"source_type":"phone","source_app_id":"b"}`
		run    = `{"timestamp":"2026-03-02T12:00:00Z","end":"2026-03-02T13:00:00Z","value":5000,"source_type":"phone","source_app_id":"b"}`
		stroll = `{"timestamp":"2026-03-02T17:00:00Z","end":"2026-03-02T17:30:00Z","value":700,"source_type":"phone","source_app_id":"b"}`
		typed  = `{"timestamp":"2026-03-02T20:00:00Z","value":10800,"source_type":"app","source_app_id":"t"}`
		late   = `{"timestamp":"2026-03-03T02:00:00Z","end":"2026-03-03T02:05:00Z","value":210,"source_type":"phone"}`
		whole  = `{"timestamp":"2026-03-02T00:00:00Z","end":"2026-03-03T00:00:00Z","value":13972,"source_type":"phone","source_app_id":"a"}`
	)
	bare := pushSummaries("sleep", android, "", `{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z"}`)
	stages := pushSummaries("sleep_cycle", android, "", `{"session_start":"2026-03-01T22:00:00Z","session_end":"2026-03-02T06:00:00Z",
		"stage_start_offset_second":[0,3600,21600,25200],"stage_end_offset_second":[3600,21600,25200,28800],"stage_type":[1,2,3,4]}`)
	return []situation{
		{"pushed steps alone give an activity", []step{push("steps", android, "", walk, run), runDerive(android)}, []truth{
			summaries("activity", "calendar_date steps source.type", "2026-03-02 11000 phone"),
			daily("steps", "date total", "2026-03-02 11000"),
		}},
		{"a push after an import", []step{
			exportFile(`<Record type="HKQuantityTypeIdentifierStepCount" sourceName="Phone" device="&lt;hardware:iPhone17,2&gt;" unit="count" startDate="2026-03-02 08:00:00 +0000" endDate="2026-03-02 08:20:00 +0000" value="3000"/>`),
			push("steps", apple, "", `{"timestamp":"2026-03-02T12:00:00Z","end":"2026-03-02T12:20:00Z","value":4000,"source_type":"phone","source_app_id":"b"}`), runDerive(apple),
		}, []truth{
			summaries("activity", "calendar_date steps", "2026-03-02 7000"),
			daily("steps", "date total", "2026-03-02 7000"),
		}},
		{"an activity of a provider that was disconnected", []step{push("steps", android, "", walk), call("DELETE", "/v2/user/*/"+android, ""), runDerive(android)}, []truth{
			summaries("activity", "calendar_date steps", "2026-03-02 6000"), countEvents("provider.connection.created", 1),
		}},
		{"later samples of the same day", []step{push("steps", android, "", walk), runDerive(android), push("steps", android, "", run), runDerive(android)}, []truth{
			summaries("activity", "calendar_date steps", "2026-03-02 11000"),
		}},
		{"derived twice", []step{push("steps", android, "", walk), runDerive(android), runDerive(android)}, []truth{
			countEvents("daily.data.activity.created", 1), countEvents("daily.data.activity.updated", 0),
		}},
		{"an activity of the phone stays", []step{
			pushSummaries("activity", android, "", `{"calendar_date":"2026-03-02","steps":12345,"source_type":"phone","source_app_id":"b"}`),
			push("steps", android, "", walk), runDerive(android),
		}, []truth{summaries("activity", "calendar_date steps", "2026-03-02 12345")}},
		{"pushed weight gives a body", []step{push("body_weight", android, "", `{"timestamp":"2026-03-02T07:00:00Z","value":154.3,"unit":"lbs","source_type":"scale"}`), runDerive(android)}, []truth{
			summaries("body", "calendar_date weight source.type", "2026-03-02 69.9893 scale"),
		}},
		{"typed weight gives a body", []step{
			call("POST", "/v2/user/*/entries", `{"data":[{"resource":"body_weight","timestamp":"2026-03-02T07:00:00Z","value":70}]}`), runDerive("manual"),
		}, []truth{summaries("body", "calendar_date weight", "2026-03-02 70")}},
		{"an activity follows samples to another day", []step{push("steps", android, "", late), runDerive(android), push("steps", android, "America/New_York", late), runDerive(android)}, []truth{
			daily("steps", "date total", "2026-03-02 210"), summaries("activity", "calendar_date steps", "2026-03-02 210"),
			countEvents("daily.data.activity.created", 2), countEvents("daily.data.activity.deleted", 1),
		}},
		{"a body follows samples to another day", []step{
			push("body_weight", android, "", `{"timestamp":"2026-03-03T02:00:00Z","value":70,"source_type":"scale"}`), runDerive(android),
			push("body_weight", android, "America/New_York", `{"timestamp":"2026-03-03T02:00:00Z","value":70,"source_type":"scale"}`), runDerive(android),
		}, []truth{summaries("body", "calendar_date weight", "2026-03-02 70"), countEvents("daily.data.body.deleted", 1)}},
		{"a pushed body needs no samples", []step{
			pushSummaries("body", android, "", `{"calendar_date":"2026-03-02","weight":70,"source_type":"scale"}`), push("steps", android, "", walk), runDerive(android),
		}, []truth{summaries("body", "calendar_date weight", "2026-03-02 70"), countEvents("daily.data.body.deleted", 0)}},
		{"a pushed activity replaces the derived one at once", []step{
			push("steps", android, "", walk), runDerive(android),
			pushSummaries("activity", android, "", `{"calendar_date":"2026-03-02","steps":12345,"source_type":"phone","source_app_id":"b"}`),
		}, []truth{summaries("activity", "calendar_date steps", "2026-03-02 12345"), countEvents("daily.data.activity.deleted", 1)}},
		{"the stream of a sleep with samples of its own source", []step{
			pushSummaries("sleep", android, "", `{"bedtime_start":"2026-03-02T22:00:00Z","bedtime_stop":"2026-03-03T06:00:00Z","source_type":"watch"}`), sendHeartRates("watch", 23, 1), sendHeartRates("phone", 22, 24, 26),
		}, []truth{sleepStream("2026-03-02T23:00:00+00:00", "2026-03-03T01:00:00+00:00")}},
		{"the stream of a sleep with samples of other sources only", []step{
			pushSummaries("sleep", android, "", `{"bedtime_start":"2026-03-02T22:00:00Z","bedtime_stop":"2026-03-03T06:00:00Z","source_type":"app"}`), sendHeartRates("watch", 23, 25), sendHeartRates("phone", 22, 24),
		}, []truth{sleepStream("2026-03-02T22:00:00+00:00", "2026-03-02T23:00:00+00:00", "2026-03-03T00:00:00+00:00", "2026-03-03T01:00:00+00:00")}},
		{"a night in which the clock is put back", []step{
			pushSummaries("sleep", android, "Europe/Helsinki", `{"bedtime_start":"2025-10-25T20:00:00Z","bedtime_stop":"2025-10-26T05:00:00Z"}`),
			pushSummaries("sleep", android, "Europe/Helsinki", `{"bedtime_start":"2025-10-25T20:00:00Z","bedtime_stop":"2025-10-26T05:00:00Z"}`),
		}, []truth{
			summaries("sleep", "calendar_date bedtime_start bedtime_stop timezone_offset", "2025-10-26 2025-10-25T20:00:00+00:00 2025-10-26T05:00:00+00:00 7200"),
			query(`{"select":[{"sleep":"session_start"},{"sleep":"session_end"}]}`, "session_start session_end", "2025-10-25T23:00:00 2025-10-26T07:00:00"),
			countEvents("daily.data.sleep.updated", 0),
		}},
		{"a sleep that ends when it starts", []step{
			refusedSummary("sleep", `{"bedtime_start":"2026-03-02T08:00:00Z","bedtime_stop":"2026-03-02T08:00:00Z"}`, "end_before_start"),
		}, []truth{summaries("sleep", "duration")}},
		{"a unit of another resource of the same unit", []step{
			sendRefused("heartrate", apple, `{"timestamp":"2026-03-02T08:00:00Z","value":60,"unit":"breaths/min"}`, "unknown_unit"),
			sendRefused("uv_exposure", apple, `{"timestamp":"2026-03-02T08:00:00Z","value":5,"unit":"kg/m2"}`, "unknown_unit"),
			sendRefused("body_mass_index", apple, `{"timestamp":"2026-03-02T08:00:00Z","value":22,"unit":"furlong"}`, "unknown_unit"),
			push("respiratory_rate", apple, "", `{"timestamp":"2026-03-02T08:00:00Z","value":15,"unit":"breaths/min"}`),
			push("body_mass_index", apple, "", `{"timestamp":"2026-03-02T09:00:00Z","value":22,"unit":"kg/m2"}`),
		}, []truth{samples("respiratory_rate", "value", "15"), samples("body_mass_index", "value", "50", "22")}},
		{"a cholesterol without a type", []step{
			func(b *bed) {
				answer := b.want("POST", "/v2/timeseries/*/cholesterol", pushBody(android, "", []string{
					`{"timestamp":"2026-03-02T08:00:00Z","value":3,"type":"ldl"}`, `{"timestamp":"2026-03-02T08:00:00Z","value":4}`,
					`{"timestamp":"2026-03-02T08:00:00Z","value":4,"type":""}`, `{"timestamp":"2026-03-02T08:00:00Z","value":4,"type":null}`,
				}))
				if !strings.Contains(answer, `{"reason":"missing_type","count":3,"first":1}`) {
					b.t.Error(answer)
				}
			},
		}, []truth{samples("cholesterol", "value type", "3 cholesterol/ldl")}},
		{"a type in other case and with blanks", []step{
			push("cholesterol", android, "", `{"timestamp":"2026-03-02T08:00:00Z","value":3,"type":"LDL"}`, `{"timestamp":"2026-03-02T09:00:00Z","value":2,"type":" ldl "}`),
			push("hrv", android, "", `{"timestamp":"2026-03-02T08:00:00Z","value":40,"type":"RMSSD"}`),
		}, []truth{samples("cholesterol", "value type", "3 cholesterol/ldl", "2 cholesterol/ldl"), samples("hrv", "value type", "40 rmssd")}},
		{"a meal without a plausible value", []step{
			refusedSummary("meal", `{"timestamp":"2026-03-02T08:00:00Z","energy":{"unit":"kcal","value":-5}}`, "implausible_value"),
		}, []truth{summaries("meal", "name")}},
		{"a pushed activity replaces the derived one", []step{
			push("steps", android, "", walk), runDerive(android),
			pushSummaries("activity", android, "", `{"calendar_date":"2026-03-02","steps":12345,"source_type":"phone","source_app_id":"b"}`), runDerive(android),
		}, []truth{summaries("activity", "calendar_date steps", "2026-03-02 12345"), countEvents("daily.data.activity.deleted", 1)}},
		{"energy and heart rate of a day", []step{
			push("calories_active", android, "", `{"timestamp":"2026-03-02T08:00:00Z","end":"2026-03-02T09:00:00Z","value":836.8,"unit":"kJ"}`),
			push("calories_basal", android, "", `{"timestamp":"2026-03-02T00:00:00Z","end":"2026-03-02T12:00:00Z","value":800,"unit":"kcal"}`),
			push("heartrate", android, "", `{"timestamp":"2026-03-02T08:00:00Z","value":60}`, `{"timestamp":"2026-03-02T09:00:00Z","value":100}`), runDerive(android),
		}, []truth{summaries("activity", "calories_active calories_total heart_rate.min_bpm heart_rate.avg_bpm heart_rate.max_bpm", "200 1000 60 80 100")}},
		{"a typed total beside a phone", []step{push("steps", android, "", walk, run, typed), runDerive(android)}, []truth{
			summaries("activity", "steps", "11000"), daily("steps", "date total", "2026-03-02 11000"),
		}},
		{"a total typed by hand beside a phone", []step{
			push("steps", android, "", walk, run),
			call("POST", "/v2/user/*/entries", `{"data":[{"resource":"steps","timestamp":"2026-03-02T20:00:00Z","value":10800}]}`),
		}, []truth{daily("steps", "date total", "2026-03-02 11000")}},
		{"a typed total alone", []step{push("steps", android, "", typed), runDerive(android)}, []truth{
			summaries("activity", "steps", "10800"), daily("steps", "date total", "2026-03-02 10800"),
		}},
		{"a typed slip", []step{push("steps", android, "", `{"timestamp":"2026-03-02T20:00:00Z","value":30000,"source_type":"app"}`, `{"timestamp":"2026-03-02T08:00:00Z","end":"2026-03-02T09:00:00Z","value":670,"source_type":"phone"}`), runDerive(android)}, []truth{
			summaries("activity", "steps", "670"), daily("steps", "date total", "2026-03-02 670"),
		}},
		{"a row of a whole day of another app", []step{push("steps", android, "", walk, run, stroll, whole), runDerive(android)}, []truth{
			summaries("activity", "steps", "11700"), daily("steps", "date total", "2026-03-02 11700"),
		}},
		{"a row of a whole day beside one hour", []step{push("steps", android, "", walk, whole), runDerive(android)}, []truth{
			summaries("activity", "steps", "13972"), daily("steps", "date total", "2026-03-02 13972"),
		}},
		{"a watch that was worn for an hour", []step{push("steps", android, "", whole, `{"timestamp":"2026-03-02T08:00:00Z","end":"2026-03-02T09:00:00Z","value":500,"source_type":"watch"}`), runDerive(android)}, []truth{
			summaries("activity", "steps", "13972"), daily("steps", "date total", "2026-03-02 13972"),
		}},
		{"a typed total of another day", []step{push("steps", android, "", walk, `{"timestamp":"2026-03-03T20:00:00Z","value":9000,"source_type":"app"}`), runDerive(android)}, []truth{
			daily("steps", "date total", "2026-03-02 6000", "2026-03-03 9000"),
		}},
		{"glasses of water typed in two apps", []step{push("water", android, "",
			`{"timestamp":"2026-03-02T08:00:00Z","value":200,"source_type":"app","source_app_id":"a"}`, `{"timestamp":"2026-03-02T09:00:00Z","value":300,"source_type":"app","source_app_id":"b"}`)}, []truth{
			daily("water", "date total", "2026-03-02 500"),
		}},
		{"steps across midnight", []step{push("steps", android, "", `{"timestamp":"2026-03-02T23:30:00Z","end":"2026-03-03T00:30:00Z","value":1000,"source_type":"phone"}`), runDerive(android)}, []truth{
			summaries("activity", "calendar_date steps", "2026-03-02 500", "2026-03-03 500"),
			daily("steps", "date total", "2026-03-02 500", "2026-03-03 500"),
			queriedDays("steps", "2026-03-02T00:00:00 500", "2026-03-03T00:00:00 500"),
		}},
		{"a strap beside a watch of five minutes", []step{push("heartrate", android, "",
			`{"timestamp":"2026-03-02T08:00:00Z","value":120,"source_type":"watch"}`, `{"timestamp":"2026-03-02T08:05:00Z","value":125,"source_type":"watch"}`,
			`{"timestamp":"2026-03-02T08:00:30Z","value":130,"source_type":"chest_strap"}`, `{"timestamp":"2026-03-02T08:00:31Z","value":191,"source_type":"chest_strap"}`,
			`{"timestamp":"2026-03-02T08:00:32Z","value":150,"source_type":"chest_strap"}`)}, []truth{daily("heartrate", "date max", "2026-03-02 191")}},
		{"the heart rate of a pushed workout", []step{
			pushSummaries("workouts", android, "", `{"time_start":"2026-03-02T08:00:00Z","time_end":"2026-03-02T08:01:00Z","source_type":"watch"}`),
			push("heartrate", android, "", `{"timestamp":"2026-03-02T08:00:00Z","value":100,"source_type":"watch"}`, `{"timestamp":"2026-03-02T08:00:30Z","value":160,"source_type":"watch"}`),
			runZones(),
		}, []truth{
			summaries("workouts", "average_hr max_hr hr_zones", "130 160 [0,30,0,0,30,0]"),
			countEvents("daily.data.workout_stream.created", 1),
		}},
		{"a stated average of a pushed workout", []step{
			pushSummaries("workouts", android, "", `{"time_start":"2026-03-02T08:00:00Z","time_end":"2026-03-02T08:01:00Z","average_hr":120,"max_hr":170,"source_type":"watch"}`),
			push("heartrate", android, "", `{"timestamp":"2026-03-02T08:00:00Z","value":100,"source_type":"watch"}`), runZones(),
		}, []truth{summaries("workouts", "average_hr max_hr", "120 170")}},
		{"LDL beside HDL", []step{push("cholesterol", android, "", `{"timestamp":"2026-03-02T08:00:00Z","value":3,"type":"ldl"}`, `{"timestamp":"2026-03-02T08:00:00Z","value":1,"type":"hdl"}`)}, []truth{
			daily("cholesterol", "type avg", "cholesterol/hdl 1", "cholesterol/ldl 3"),
			query(`{"select":[{"group_key":"*"},{"func":"mean","arg":{"timeseries":"cholesterol","field":"value"}}],"group_by":[{"timeseries":"cholesterol","field":"type"}]}`,
				"group_key.0 mean.value", "cholesterol/hdl 1", "cholesterol/ldl 3"),
		}},
		{"LDL and HDL are not averaged", []step{
			push("cholesterol", android, "", `{"timestamp":"2026-03-02T08:00:00Z","value":3,"type":"ldl"}`, `{"timestamp":"2026-03-02T08:00:00Z","value":1,"type":"hdl"}`),
			func(b *bed) {
				status, answer := b.do("POST", "/aggregate/v1/user/*/query", `{"timeframe":{"type":"relative","anchor":"2026-10-31","past":{"unit":"day","value":660}},
					"queries":[{"select":[{"func":"mean","arg":{"timeseries":"cholesterol","field":"value"}}]}]}`)
				if status != 422 || !strings.Contains(answer, "cholesterol/ldl") {
					b.t.Errorf("%d %s", status, answer)
				}
			},
		}, []truth{daily("cholesterol", "type avg", "cholesterol/hdl 1", "cholesterol/ldl 3")}},
		{"small calories", []step{push("calories_active", apple, "", `{"timestamp":"2026-03-02T08:00:00Z","value":500,"unit":"cal"}`)}, []truth{samples("calories_active", "value unit", "0.5 kcal")}},
		{"large calories", []step{push("calories_active", apple, "", `{"timestamp":"2026-03-02T08:00:00Z","value":500,"unit":"Cal"}`)}, []truth{samples("calories_active", "value", "500")}},
		{"degrees Fahrenheit", []step{push("body_temperature", apple, "", `{"timestamp":"2026-03-02T08:00:00Z","value":98.6,"unit":"F"}`)}, []truth{samples("body_temperature", "value unit", "37 °C")}},
		{"miles", []step{push("distance", apple, "", `{"timestamp":"2026-03-02T08:00:00Z","value":2,"unit":"miles"}`)}, []truth{samples("distance", "value", "3218.688")}},
		{"millimoles", []step{push("glucose", apple, "", `{"timestamp":"2026-03-02T08:00:00Z","value":5.5,"unit":"mmol"}`)}, []truth{samples("glucose", "value unit", "5.5 mmol/L")}},
		{"a null among values", []step{sendRefused("heartrate", apple, `null`, "malformed_element")}, []truth{samples("heartrate", "value", "50")}},
		{"a value that is null", []step{sendRefused("heartrate", apple, `{"timestamp":"2026-03-02T08:00:00Z","value":null}`, "missing_value")}, []truth{samples("heartrate", "value", "50")}},
		{"the hour 24", []step{sendRefused("heartrate", apple, `{"timestamp":"2026-03-02T24:00:00Z","value":60}`, "malformed_timestamp")}, []truth{samples("heartrate", "value", "50")}},
		{"a text as value", []step{sendRefused("heartrate", apple, `{"timestamp":"2026-03-02T08:00:00Z","value":"60"}`, "malformed_value")}, []truth{samples("heartrate", "value", "50")}},
		{"an offset beyond 18 hours", []step{sendRefused("heartrate", apple, `{"timestamp":"2026-03-02T08:00:00+18:30","value":60}`, "malformed_timestamp")}, []truth{samples("heartrate", "value", "50")}},
		{"a stated offset beyond 18 hours", []step{sendRefused("heartrate", apple, `{"timestamp":"2026-03-02T08:00:00Z","value":60,"timezone_offset":70000}`, "malformed_timezone_offset")}, []truth{samples("heartrate", "value", "50")}},
		{"no variability", []step{sendRefused("hrv", apple, `{"timestamp":"2026-03-02T08:00:00Z","value":0}`, "implausible_value")}, []truth{samples("hrv", "value", "50")}},
		{"an unknown unit", []step{sendRefused("heartrate", apple, `{"timestamp":"2026-03-02T08:00:00Z","value":60,"unit":"furlong"}`, "unknown_unit")}, []truth{samples("heartrate", "value", "50")}},
		{"more sleep than time in bed", []step{pushSummaries("sleep", apple, "", `{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z","total":36000,"score":80}`)}, []truth{
			summaries("sleep", "duration total score", "28800 0 80"),
		}},
		{"more stages than time in bed", []step{pushSummaries("sleep", apple, "", `{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z","deep":20000,"light":20000,"rem":1}`)}, []truth{
			summaries("sleep", "deep light rem", "0 0 0"),
		}},
		{"active above total energy", []step{pushSummaries("activity", apple, "", `{"calendar_date":"2026-03-02","calories_active":900,"calories_total":800,"steps":1}`)}, []truth{
			summaries("activity", "calories_active calories_total steps", "null null 1"),
		}},
		{"minimum above average", []step{pushSummaries("activity", apple, "", `{"calendar_date":"2026-03-02","heart_rate":{"min_bpm":80,"avg_bpm":70,"max_bpm":120}}`)}, []truth{
			summaries("activity", "heart_rate.min_bpm heart_rate.avg_bpm heart_rate.max_bpm", "null null 120"),
		}},
		{"moving above elapsed time", []step{pushSummaries("workouts", apple, "", `{"time_start":"2026-03-02T08:00:00Z","time_end":"2026-03-02T09:00:00Z","moving_time":4000,"distance":9000}`)}, []truth{
			summaries("workouts", "moving_time distance", "null 9000"),
		}},
		{"a night that a reply shortens", []step{
			file(oura.Kind, "a.json", `{"data":[{"id":"n1","day":"2026-03-02","bedtime_start":"2026-03-01T22:00:00+02:00","bedtime_end":"2026-03-02T06:00:00+02:00","total_sleep_duration":27000,"deep_sleep_duration":7000,"light_sleep_duration":14000,"rem_sleep_duration":6000,"type":"long_sleep"}]}`),
			file(oura.Kind, "b.json", `{"data":[{"id":"n1","day":"2026-03-02","bedtime_start":"2026-03-01T22:00:00+02:00","bedtime_end":"2026-03-02T03:00:00+02:00","type":"long_sleep"}]}`),
		}, []truth{summaries("sleep", "duration total deep light rem", "18000 0 0 0 0")}},
		{"a night that a phone shortens", []step{
			pushSummaries("sleep", apple, "", `{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z","total":27000,"awake":1800,"efficiency":94}`),
			pushSummaries("sleep", apple, "", `{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T03:00:00Z"}`),
		}, []truth{summaries("sleep", "duration total awake efficiency", "18000 0 0 null")}},
		{"stages give the totals of a night", []step{bare, stages, runDerive(android)}, []truth{
			summaries("sleep", "total deep light rem awake", "25200 3600 18000 3600 3600"), countEvents("daily.data.sleep.updated", 1),
		}},
		{"stages that come first give the totals of a night", []step{stages, bare, runDerive(android)}, []truth{summaries("sleep", "total deep light rem", "25200 3600 18000 3600")}},
		{"a night with stages sent again keeps its totals", []step{bare, stages, runDerive(android), bare, stages, runDerive(android)}, []truth{
			summaries("sleep", "total", "25200"), countEvents("daily.data.sleep.updated", 1),
		}},
		{"stated totals stay beside stages", []step{
			pushSummaries("sleep", android, "", `{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z","total":25000}`), stages, runDerive(android),
		}, []truth{summaries("sleep", "total deep", "25000 0")}},
		{"a sport by its slug", []step{pushSummaries("workouts", apple, "", `{"time_start":"2026-03-02T08:00:00Z","time_end":"2026-03-02T09:00:00Z","sport":{"slug":"running"}}`)}, []truth{
			summaries("workouts", "sport.name sport.slug", "Running running"),
		}},
		{"a sport of a slug that is not listed", []step{func(b *bed) {
			status, answer := b.do("POST", "/v2/summary/workouts/*", pushBody(apple, "", []string{`{"time_start":"2026-03-02T08:00:00Z","time_end":"2026-03-02T09:00:00Z","sport":{"slug":"jogging"}}`}))
			if status != 422 || !strings.Contains(answer, "name is missing") {
				b.t.Errorf("%d %s", status, answer)
			}
		}}, []truth{summaries("workouts", "sport.slug")}},
		{"one bad summary", []step{pushSummaries("activity", apple, "", `{"calendar_date":"2026-03-02","steps":1}`, `{"calendar_date":"2026-13-03","steps":2}`, `{"calendar_date":"2026-03-04","steps":3}`)}, []truth{
			summaries("activity", "calendar_date steps", "2026-03-02 1", "2026-03-04 3"),
		}},
		{"a meal in kilojoules", []step{pushSummaries("meal", apple, "", `{"timestamp":"2026-03-02T12:00:00Z","name":"Rice","energy":{"unit":"kJ","value":836.8}}`)}, []truth{
			summaries("meal", "name energy.value energy.unit", "Rice 200 kcal"),
		}},
	}
}
