package situations

import (
	"fmt"
	"slices"
	"strings"

	"hale/internal/wearables/formats/oura"
	"hale/internal/wearables/formats/strava"
)

// mergedSessions reads merged sessions. If all is set, it also reads those that do not
// count.
func mergedSessions(resource string, all bool, fields string, rows ...string) truth {
	return truth{name: "merged " + resource, fields: strings.Fields(fields), rows: rows, read: func(b *bed) []map[string]any {
		var page map[string][]map[string]any
		b.decode(b.want("GET", fmt.Sprintf("/v2/summary/%s/*?%s&merged=true&explain=%t", resource, span, all), ""), &page)
		for _, one := range page[resource] {
			if id := one["duplicate_of"]; id != nil {
				for _, other := range page[resource] {
					if other["id"] == id {
						one["duplicate_of"] = valueAt(other, "source.provider")
					}
				}
			}
		}
		return page[resource]
	}}
}

// priority orders the providers of a team, which all situations share. No other situation
// merges sessions.
func priority(dataType, provider, value string) step {
	return call("PATCH", "/v2/team/source/priorities", `[{"data_type":"`+dataType+`","provider":"`+provider+`","priority":`+value+`}]`)
}

// duplicateRows returns the situations about one session of several providers, and about
// several values of one key.
func duplicateRows() []situation {
	night := func(provider, kind, start, stop string, total int) step {
		return pushSummaries("sleep", provider, "UTC", fmt.Sprintf(`{"bedtime_start":"%s","bedtime_stop":"%s","total":%d,"source_type":"%s"}`, start, stop, total, kind))
	}
	run := func(provider, kind, start, end string, distance int) step {
		return pushSummaries("workouts", provider, "UTC", fmt.Sprintf(`{"time_start":"%s","time_end":"%s","distance":%d,"source_type":"%s"}`, start, end, distance, kind))
	}
	watch := night(apple, "watch", "2026-02-28T22:00:00Z", "2026-03-01T06:00:00Z", 27000)
	phone := night(android, "phone", "2026-02-28T22:20:00Z", "2026-03-01T06:10:00Z", 25000)
	both := func(order ...step) []step { return order }
	const fields = "source.provider duplicate_of"
	beat := func(app, value string) step {
		return push("heartrate", android, "UTC", `{"timestamp":"2026-03-02T08:00:00Z","value":`+value+`,"source_type":"watch","source_app_id":"`+app+`"}`)
	}
	walk := func(app, value string) step {
		return push("steps", android, "UTC", `{"timestamp":"2026-03-02T08:00:00Z","end":"2026-03-02T09:00:00Z","value":`+value+`,"source_type":"phone","source_app_id":"`+app+`"}`)
	}
	plain := func(resource string, rows ...string) truth {
		return truth{name: resource + " plain", fields: []string{"value"}, rows: rows, read: func(b *bed) (all []map[string]any) {
			b.decode(b.want("GET", "/v2/timeseries/*/"+resource+"?"+span, ""), &all)
			return all
		}}
	}
	line := func(resource, more string, rows ...string) truth {
		return truth{name: resource + " merged", fields: []string{"value"}, rows: rows, read: func(b *bed) []map[string]any {
			var page struct {
				Data  []map[string]any
				Aside []map[string]any `json:"set_aside"`
			}
			b.decode(b.want("GET", "/v2/timeseries/*/"+resource+"/merged?"+span+more, ""), &page)
			return append(page.Data, page.Aside...)
		}}
	}
	beats := func(value string) []truth {
		return []truth{
			plain("heartrate", value), line("heartrate", "", value), daily("heartrate", "date avg count", "2026-03-02 "+value+" 1"),
			query(`{"select":[{"func":"mean","arg":{"timeseries":"heartrate","field":"value"}}]}`, "mean.value", value),
		}
	}
	one := func(app, value string) string {
		return fmt.Sprintf(`{"timestamp":"2026-03-02T08:00:00Z","value":%s,"source_type":"watch","source_app_id":"%s"}`, value, app)
	}
	later := func(app, value string) string { return strings.Replace(one(app, value), "08:00", "08:10", 1) }
	minutes := func(app, value string, end, every int) step {
		var all []string
		for m := (every - 1) * 2; m < end; m += every {
			all = append(all, fmt.Sprintf(`{"timestamp":"2026-03-02T08:%02d:00Z","value":%s,"source_type":"watch","source_app_id":"%s"}`, m, value, app))
		}
		return push("heartrate", android, "UTC", all...)
	}
	tenMinutes := func(values ...string) []truth {
		return []truth{plain("heartrate", values...), line("heartrate", "", values...)}
	}
	walks := func(value string) []truth {
		return []truth{
			plain("steps", value), line("steps", "", value), daily("steps", "date total", "2026-03-02 "+value), queriedDays("steps", "2026-03-02T00:00:00 "+value),
			summaries("activity", "steps", value),
		}
	}
	typed := func(kind, value, more string) string {
		return fmt.Sprintf(`{"timestamp":"2026-03-02T08:00:00Z","value":%s,"type":%s,"source_type":"watch"%s}`, value, kind, more)
	}
	hour := func(kind string) step {
		return push("stand_hour", android, "UTC", typed(kind, "1", `,"end":"2026-03-02T09:00:00Z"`))
	}
	types := func(resource string, rows ...string) []truth {
		all := samples(resource, "type value", rows...)
		plain := plain(resource, rows...)
		plain.fields = all.fields
		return []truth{all, plain}
	}
	worded := func(value, more string) string { return typed("null", value, `,"sensor_location":"ear"`+more) }
	ear := func(value string) step { return push("body_temperature", android, "UTC", worded(value, "")) }
	bare := func(value string) step { return push("body_temperature", android, "UTC", typed("null", value, "")) }
	places := func(row, value string) []truth {
		return []truth{samples("body_temperature", "sensor_location value", row), plain("body_temperature", value), line("body_temperature", "", value)}
	}
	ears := func(value string) []truth { return places("ear "+value, value) }
	bares := func(value string) []truth { return places("null "+value, value) }
	stood := append(types("stand_hour", "stood 1"), daily("stand_hour", "date total", "2026-03-02 1"))
	typeRows := []situation{
		{"an idle hour becomes one that stood", []step{hour(`"idle"`), hour(`"stood"`)}, append(stood, countEvents("daily.data.stand_hour.created", 2))},
		{"an hour that stood becomes idle, and stood again", []step{hour(`"stood"`), hour(`"idle"`), hour(`"stood"`)}, append(stood,
			countEvents("daily.data.stand_hour.created", 2), countEvents("daily.data.stand_hour.updated", 1))},
		{"one body has an hour that is idle, then stood, twice", []step{
			push("stand_hour", android, "UTC", typed(`"idle"`, "1", ""), typed(`"stood"`, "1", "")),
			push("stand_hour", android, "UTC", typed(`"idle"`, "1", ""), typed(`"stood"`, "1", "")),
		}, append(types("stand_hour", "stood 1"), countEvents("daily.data.stand_hour.created", 2), countEvents("daily.data.stand_hour.updated", 0))},
		{"an hour that stood is deleted by its id", []step{
			hour(`"idle"`), push("stand_hour", android, "UTC", typed(`"stood"`, "1", `,"end":"2026-03-02T09:00:00Z","id":"h"`)),
			call("POST", "/v2/timeseries/*/stand_hour", `{"stage":"daily","provider":"health_connect","deleted":["h"]}`),
		}, types("stand_hour")},
		{"an hour that moves was idle", []step{
			hour(`"idle"`), hour(`"stood"`),
			call("POST", "/v2/user/*/data/shifts", `{"provider":"health_connect","start":"2026-03-02","end":"2026-03-02","seconds":3600}`),
		}, stood},
		{"an hour that moves stood", []step{
			hour(`"stood"`), hour(`"idle"`),
			call("POST", "/v2/user/*/data/shifts", `{"provider":"health_connect","start":"2026-03-02","end":"2026-03-02","seconds":3600}`),
		}, types("stand_hour", "idle 1")},
		{"a night's breathing becomes elevated", []step{
			push("sleep_breathing_disturbance", android, "UTC", typed(`"not_elevated"`, "1", "")),
			push("sleep_breathing_disturbance", android, "UTC", typed(`"elevated"`, "2", "")),
		}, types("sleep_breathing_disturbance", "elevated 2")},
		{"the type of a glucose follows", []step{
			push("glucose", android, "UTC", typed("null", "5", "")), push("glucose", android, "UTC", typed(`"automatic"`, "5", "")),
		}, types("glucose", "automatic 5")},
		{"the type of an hrv follows", []step{
			push("hrv", android, "UTC", typed("null", "40", "")), push("hrv", android, "UTC", typed(`"sdnn"`, "40", "")),
		}, types("hrv", "sdnn 40")},
		{
			"an hrv has both types",
			[]step{push("hrv", android, "UTC", typed(`"rmssd"`, "40", ""), typed(`"sdnn"`, "50", ""))},
			types("hrv", "rmssd 40", "sdnn 50"),
		},
		{"a type comes back", []step{
			push("glucose", android, "UTC", typed(`"automatic"`, "5", "")), push("glucose", android, "UTC", typed("null", "6", "")),
			push("glucose", android, "UTC", typed(`"automatic"`, "5", "")),
		}, types("glucose", "automatic 5")},
		{"one body has a glucose of two types and a later one", []step{
			push("glucose", android, "UTC", typed("null", "37", ""), typed(`"manual_scan"`, "4", ""), `{"timestamp":"2026-03-02T08:10:00Z","value":50,"source_type":"watch"}`),
		}, types("glucose", "manual_scan 4", "null 50")},
		{"one body replaces a glucose by the stored one", []step{
			push("glucose", android, "UTC", typed(`"manual_scan"`, "4", "")), push("glucose", android, "UTC", typed("null", "37", ""), typed(`"manual_scan"`, "4", "")),
		}, append(types("glucose", "manual_scan 4"), countEvents("daily.data.glucose.updated", 1))},
		{"a temperature loses its words, and they come back", []step{ear("37"), bare("38"), ear("37")}, ears("37")},
		{"a temperature has words, and comes back without them", []step{bare("38"), ear("37"), bare("38")}, bares("38")},
		{"one body has a temperature with words, then without", []step{
			push("body_temperature", android, "UTC", worded("37", ""), typed("null", "38", "")),
		}, bares("38")},
		{"one body has a temperature without words, then with them", []step{
			push("body_temperature", android, "UTC", typed("null", "38", ""), worded("37", "")),
		}, ears("37")},
		{"two apps send a temperature of one key, the earlier with words", []step{
			push("body_temperature", android, "UTC", worded("37", `,"source_app_id":"a"`)), push("body_temperature", android, "UTC", typed("null", "38", `,"source_app_id":"b"`)),
		}, []truth{plain("body_temperature", "38"), samples("body_temperature", "value", "37", "38"), daily("body_temperature", "date avg count", "2026-03-02 38 1")}},
		{"doses of two kinds of insulin at one time", []step{
			push("insulin_injection", android, "UTC", typed(`"rapid_acting"`, "4", ""), typed(`"long_acting"`, "9", "")),
		}, []truth{samples("insulin_injection", "type value", "rapid_acting 4", "long_acting 9"), daily("insulin_injection", "total", "9", "4")}},
	}
	return slices.Concat(typeRows, []situation{
		{"two apps send a heart rate of one key", both(beat("a", "60"), beat("b", "70")), beats("70")},
		{"two apps send a heart rate of one key in the other order", both(beat("b", "70"), beat("a", "60")), beats("60")},
		{"notes of two apps at one time", []step{
			push("note", android, "", `{"timestamp":"2026-03-02T08:00:00Z","value":"one","source_type":"app","source_app_id":"z"}`),
			push("note", android, "", `{"timestamp":"2026-03-02T08:00:00Z","value":"two","source_type":"app","source_app_id":"a"}`),
			push("note", android, "", `{"timestamp":"2026-03-02T08:00:00Z","value":"three","source_type":"phone","source_app_id":"b"}`),
		}, []truth{samples("note", "value", "one", "three", "two"), plain("note", "two", "three")}},
		{"one body has a heart rate of one key of two apps", []step{push("heartrate", android, "UTC", one("b", "60"), one("a", "70"))}, slices.Concat(
			beats("70"), []truth{payloads("daily.data.heartrate.created", "source.app_id", "b", "a"), samples("heartrate", "value", "60", "70")})},
		{"one body has a heart rate of one key of two apps in the other order", []step{push("heartrate", android, "UTC", one("a", "60"), one("b", "70"))}, slices.Concat(
			beats("70"), []truth{payloads("daily.data.heartrate.created", "source.app_id", "a", "b")})},
		{"one body has a heart rate of one key of three apps", []step{push("heartrate", android, "UTC", one("c", "50"), one("a", "70"), one("b", "60"))}, beats("60")},
		{"a later body corrects the first of two apps", both(push("heartrate", android, "UTC", one("b", "60"), one("a", "70")), beat("b", "80")), beats("80")},
		{"one body of several series has a heart rate of one key of two apps", []step{
			call("POST", "/v2/timeseries/*", `{"stage":"daily","provider":"health_connect","time_zone":"UTC","series":{"heartrate":[`+one("b", "60")+`,`+one("a", "70")+`]}}`),
		}, beats("70")},
		{"one body has the apps of two keys in turn", []step{push("heartrate", android, "UTC", one("a", "60"), one("b", "70"), later("b", "80"), later("a", "90"))}, []truth{
			plain("heartrate", "70", "90"), daily("heartrate", "date avg count", "2026-03-02 80 2"),
		}},
		{"an app corrects its heart rate of one key", both(beat("a", "60"), beat("b", "70"), beat("a", "65")), beats("65")},
		{"an app repeats its heart rate of one key", both(beat("a", "60"), beat("b", "70"), beat("a", "60")), beats("70")},
		{"a few heart rates of one app within those of another", both(minutes("a", "60", 10, 1), minutes("b", "150", 7, 2), runDerive(android)), slices.Concat(
			tenMinutes("60", "60", "150", "60", "150", "60", "150", "60", "60", "60"), []truth{
				daily("heartrate", "date avg count", "2026-03-02 87 10"), summaries("activity", "heart_rate.avg_bpm heart_rate.max_bpm", "87 150"),
			})},
		{"heart rates of one app around those of another", both(minutes("b", "150", 7, 2), minutes("a", "60", 10, 1), runDerive(android)), slices.Concat(
			tenMinutes(slices.Repeat([]string{"60"}, 10)...), []truth{daily("heartrate", "date avg count", "2026-03-02 60 10"), summaries("activity", "heart_rate.max_bpm", "60")})},
		{"two apps send steps of one key", both(walk("a", "900"), walk("b", "1000"), runDerive(android)), walks("1000")},
		{"two apps send steps of one key in the other order", both(walk("b", "1000"), walk("a", "900"), runDerive(android)), walks("900")},
		{"two apps send steps of one start and two ends", both(walk("a", "900"),
			push("steps", android, "UTC", `{"timestamp":"2026-03-02T08:00:00Z","end":"2026-03-02T08:05:00Z","value":80,"source_type":"phone","source_app_id":"b"}`),
		), []truth{daily("steps", "date total", "2026-03-02 900")}},
		{"an explanation has both values of one key", both(beat("a", "60"), beat("b", "70")), []truth{line("heartrate", "&explain=true", "70", "60")}},
		{"a night of a watch and a phone", both(watch, phone), []truth{
			mergedSessions("sleep", false, "total duplicate_of", "27000 null"),
			mergedSessions("sleep", true, fields, "apple_health_kit null", "health_connect apple_health_kit"),
			summaries("sleep", "total duplicate_of", "27000 null", "25000 null"),
		}},
		{"a night of a phone and a watch", both(phone, watch), []truth{mergedSessions("sleep", false, "total", "27000")}},
		{"a night of a ring and a phone", both(phone, file(oura.Kind, "a.json", `{"data":[{"id":"n1","day":"2026-03-01","bedtime_start":"2026-02-28T22:30:00+00:00","bedtime_end":"2026-03-01T06:45:00+00:00","total_sleep_duration":26000,"type":"long_sleep"}]}`)), []truth{
			mergedSessions("sleep", true, fields, "health_connect oura", "oura null"), mergedSessions("sleep", false, "total", "26000"),
		}},
		{"a night and a nap of another provider", both(phone, night(apple, "watch", "2026-03-01T13:00:00Z", "2026-03-01T14:00:00Z", 3000)), []truth{
			mergedSessions("sleep", false, "total duplicate_of", "25000 null", "3000 null"),
		}},
		{"a part of a night hides no night", both(phone, night(apple, "watch", "2026-03-01T02:00:00Z", "2026-03-01T03:00:00Z", 3000)), []truth{
			mergedSessions("sleep", true, fields, "health_connect null", "apple_health_kit health_connect"),
		}},
		{"two parts of a night of a watch beside a night of a phone", both(
			phone, night(apple, "watch", "2026-02-28T22:30:00Z", "2026-03-01T01:00:00Z", 8000), night(apple, "watch", "2026-03-01T02:00:00Z", "2026-03-01T05:00:00Z", 9000),
		), []truth{mergedSessions("sleep", false, "total", "25000")}},
		{"nights that share less than half", both(
			night(apple, "watch", "2026-02-28T22:00:00Z", "2026-03-01T06:00:00Z", 27000), night(android, "phone", "2026-03-01T03:00:00Z", "2026-03-01T11:00:00Z", 25000),
		), []truth{mergedSessions("sleep", false, "total", "27000", "25000")}},
		{"nights of two apps of one watch", both(watch, pushSummaries("sleep", apple, "UTC",
			`{"bedtime_start":"2026-02-28T22:10:00Z","bedtime_stop":"2026-03-01T06:00:00Z","total":20000,"source_type":"watch","source_app_id":"b"}`)), []truth{
			mergedSessions("sleep", false, "total", "27000"), summaries("sleep", "total", "27000", "20000"),
		}},
		{"only one provider is merged", both(watch, phone), []truth{{name: "merged sleep of a provider", fields: []string{"total", "duplicate_of"}, rows: []string{"25000 null"}, read: func(b *bed) []map[string]any {
			var page struct{ Sleep []map[string]any }
			b.decode(b.want("GET", "/v2/summary/sleep/*?"+span+"&merged=true&provider=health_connect", ""), &page)
			return page.Sleep
		}}}},
		{"a night at the edge of the range", both(
			night(apple, "watch", "2026-02-28T14:00:00Z", "2026-02-28T23:50:00Z", 27000), night(android, "phone", "2026-02-28T14:20:00Z", "2026-03-01T00:10:00Z", 25000),
		), []truth{{name: "merged sleep of a day", fields: []string{"total"}, rows: nil, read: func(b *bed) []map[string]any {
			var page struct{ Sleep []map[string]any }
			b.decode(b.want("GET", "/v2/summary/sleep/*?start_date=2026-03-01&merged=true", ""), &page)
			return page.Sleep
		}}}},
		{"the team prefers the phone for nights", both(priority("sleep", android, "5"), watch, phone, func(b *bed) {
			mergedSessions("sleep", false, "total", "25000").check(b)
		}, priority("sleep", android, "null")), []truth{mergedSessions("sleep", false, "total", "27000")}},
		{"a run of a watch and of Strava", both(
			run(apple, "watch", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", 10000),
			file(strava.Kind, "a.json", `[{"id":77,"start_date":"2026-03-01T10:00:20Z","start_date_local":"2026-03-01T12:00:20Z","timezone":"(GMT+02:00) Europe/Helsinki","utc_offset":7200,"elapsed_time":3590,"moving_time":3500,"distance":10010,"sport_type":"Run","type":"Run"}]`),
		), []truth{mergedSessions("workouts", false, "distance duplicate_of", "10000 null"), mergedSessions("workouts", true, fields, "apple_health_kit null", "strava apple_health_kit")}},
		{"a sprint inside a ride is another workout", both(
			run(apple, "watch", "2026-03-01T10:00:00Z", "2026-03-01T12:00:00Z", 40000), run(android, "phone", "2026-03-01T10:30:00Z", "2026-03-01T10:40:00Z", 900),
		), []truth{mergedSessions("workouts", false, "distance", "40000", "900")}},
		{"a run of three providers", both(
			run(apple, "watch", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", 10000), run(android, "phone", "2026-03-01T10:02:00Z", "2026-03-01T11:00:00Z", 9000),
			run("samsung_health", "app", "2026-03-01T10:01:00Z", "2026-03-01T11:01:00Z", 9500),
		), []truth{mergedSessions("workouts", false, "distance", "10000"), mergedSessions("workouts", true, "distance duplicate_of", "10000 null", "9500 apple_health_kit", "9000 apple_health_kit")}},
	})
}
