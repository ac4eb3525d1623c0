package situations

import (
	"strings"

	"hale/internal/wearables/formats/strava"
)

// Rows about time: zones, days and clocks.
func timeRows() []situation {
	const hc = "health_connect"
	steps := `{"timestamp":"2026-05-11T02:00:00Z","end":"2026-05-11T02:05:00Z","value":210}` // 22:00 of May 10 in New York
	night := `{"bedtime_start":"2026-05-10T03:00:00Z","bedtime_stop":"2026-05-10T11:00:00Z"}`
	run := `{"time_start":"2026-05-11T02:00:00Z","time_end":"2026-05-11T03:00:00Z"}`
	meal := `{"timestamp":"2026-05-11T02:00:00Z","name":"Supper"}`
	return []situation{
		{"times of 25 and of 27 hours in the future", []step{ // the clock of the tests is at noon of November 1
			push("heartrate", hc, "", `{"timestamp":"2026-11-02T13:00:00Z","value":60}`), push("heartrate", hc, "", `{"timestamp":"2026-11-02T15:00:00Z","value":60}`),
			pushSummaries("meal", hc, "", `{"timestamp":"2026-11-02T13:00:00Z","name":"A"}`), pushSummaries("meal", hc, "", `{"timestamp":"2026-11-02T15:00:00Z","name":"A"}`),
			pushSummaries("sleep", hc, "", `{"bedtime_start":"2026-11-02T05:00:00Z","bedtime_stop":"2026-11-02T13:00:00Z"}`),
			pushSummaries("sleep", hc, "", `{"bedtime_start":"2026-11-02T05:00:00Z","bedtime_stop":"2026-11-02T15:00:00Z"}`),
		}, []truth{
			countEvents("daily.data.heartrate.created", 1), countEvents("daily.data.meal.created", 1), countEvents("daily.data.sleep.created", 1), countEvents("daily.data.sleep.updated", 0),
		}},
		{"a day is local to the zone of the push", []step{push("steps", hc, "America/New_York", steps)}, []truth{
			daily("steps", "date total", "2026-05-10 210"), queriedDays("steps", "2026-05-10T00:00:00 210"),
		}},
		{"steps sent again from Tokyo stay", []step{push("steps", hc, "America/New_York", steps), push("steps", hc, "Asia/Tokyo", steps)}, []truth{
			daily("steps", "date total", "2026-05-10 210"), queriedDays("steps", "2026-05-10T00:00:00 210"),
			samples("steps", "timezone_offset value", "-14400 210"), countEvents("daily.data.steps.updated", 0),
		}},
		{"corrected steps sent from Tokyo stay", []step{
			push("steps", hc, "America/New_York", steps), push("steps", hc, "Asia/Tokyo", strings.Replace(steps, "210", "230", 1)),
		}, []truth{samples("steps", "timezone_offset value", "-14400 230"), countEvents("daily.data.steps.updated", 1)}},
		{"new steps from Tokyo are of Tokyo", []step{
			push("steps", hc, "America/New_York", steps),
			push("steps", hc, "Asia/Tokyo", steps, `{"timestamp":"2026-05-11T20:00:00Z","end":"2026-05-11T20:05:00Z","value":50}`),
		}, []truth{daily("steps", "date total", "2026-05-10 210", "2026-05-12 50")}},
		{"steps that state an offset move", []step{
			push("steps", hc, "America/New_York", steps), push("steps", hc, "Asia/Tokyo", strings.Replace(steps, "}", `,"timezone_offset":32400}`, 1)),
		}, []truth{daily("steps", "date total", "2026-05-11 210"), countEvents("daily.data.steps.updated", 1)}},
		{"steps without a zone get the one that comes later", []step{push("steps", hc, "", steps), push("steps", hc, "America/New_York", steps)}, []truth{
			daily("steps", "date total", "2026-05-10 210"), countEvents("daily.data.steps.updated", 1),
		}},
		{"steps with a fallback zone stay", []step{zone("America/New_York"), push("steps", hc, "", steps), push("steps", hc, "Asia/Tokyo", steps)}, []truth{
			daily("steps", "date total", "2026-05-10 210"), countEvents("daily.data.steps.updated", 0),
		}},
		{"a workout sent again from Tokyo stays", []step{
			pushSummaries("workouts", hc, "America/New_York", run), pushSummaries("workouts", hc, "Asia/Tokyo", run),
		}, []truth{summaries("workouts", "calendar_date timezone_offset", "2026-05-10 -14400"), countEvents("daily.data.workouts.updated", 0)}},
		{"a night sent again from Tokyo stays", []step{
			pushSummaries("sleep", hc, "America/New_York", night), pushSummaries("sleep", hc, "Asia/Tokyo", night),
		}, []truth{summaries("sleep", "calendar_date timezone_offset", "2026-05-10 -14400"), countEvents("daily.data.sleep.updated", 0)}},
		{"a meal sent again from Tokyo stays", []step{
			pushSummaries("meal", hc, "America/New_York", meal), pushSummaries("meal", hc, "Asia/Tokyo", meal),
		}, []truth{summaries("meal", "calendar_date name", "2026-05-10 Supper"), countEvents("daily.data.meal.updated", 0), query(`{"select":[{"group_key":"*"},{"func":"count","arg":{"meal":"name"}}],
				"group_by":[{"date_trunc":{"unit":"day"},"arg":{"index":"meal"}}]}`, "group_key.0 count.name", "2026-05-10T00:00:00 1")}},
		{"an activity sent again from Tokyo stays", []step{
			pushSummaries("activity", hc, "America/New_York", `{"calendar_date":"2026-05-10","steps":5}`),
			pushSummaries("activity", hc, "Asia/Tokyo", `{"calendar_date":"2026-05-10","steps":6}`),
		}, []truth{summaries("activity", "calendar_date time_zone steps", "2026-05-10 America/New_York 6")}},
		{"a stated offset replaces the zone", []step{
			pushSummaries("workouts", hc, "America/New_York", run),
			pushSummaries("workouts", hc, "", `{"time_start":"2026-05-11T02:00:00Z","time_end":"2026-05-11T03:00:00Z","timezone_offset":32400}`),
		}, []truth{summaries("workouts", "calendar_date timezone_offset", "2026-05-11 32400")}},
		{"a zone that comes later fills a gap", []step{
			pushSummaries("workouts", hc, "", run), pushSummaries("workouts", hc, "America/New_York", run),
		}, []truth{summaries("workouts", "calendar_date timezone_offset", "2026-05-10 -14400")}},
		{"a night across zones belongs to the day of waking", []step{
			pushSummaries("sleep", hc, "", `{"bedtime_start":"2026-05-10T22:00:00+09:00","bedtime_stop":"2026-05-10T14:00:00-04:00"}`),
		}, []truth{summaries("sleep", "calendar_date timezone_offset", "2026-05-10 -14400"), queriedNights("2026-05-10T00:00:00 1")}},
		{"a night to the east belongs to the day of waking", []step{
			pushSummaries("sleep", hc, "", `{"bedtime_start":"2026-05-10T13:00:00-04:00","bedtime_stop":"2026-05-11T07:00:00+09:00"}`),
		}, []truth{summaries("sleep", "calendar_date timezone_offset", "2026-05-11 32400"), queriedNights("2026-05-11T00:00:00 1")}},
		{"a night across the date line ends on the day before it began", []step{
			pushSummaries("sleep", hc, "", `{"bedtime_start":"2026-05-11T01:00:00+12:00","bedtime_stop":"2026-05-10T09:00:00-11:00"}`),
		}, []truth{summaries("sleep", "calendar_date", "2026-05-10"), queriedNights("2026-05-10T00:00:00 1")}},
		{"a night on which the clocks change", []step{
			pushSummaries("sleep", hc, "Europe/Helsinki", `{"bedtime_start":"2026-03-28T21:00:00Z","bedtime_stop":"2026-03-29T04:00:00Z"}`),
		}, []truth{summaries("sleep", "calendar_date timezone_offset duration", "2026-03-29 10800 25200")}},
		{"a stated day stays", []step{
			pushSummaries("sleep", hc, "Europe/Helsinki", `{"bedtime_start":"2026-03-01T21:00:00Z","bedtime_stop":"2026-03-02T04:00:00Z","calendar_date":"2026-03-01"}`),
			pushSummaries("sleep", hc, "Asia/Tokyo", `{"bedtime_start":"2026-03-01T21:00:00Z","bedtime_stop":"2026-03-02T04:00:00Z"}`),
		}, []truth{summaries("sleep", "calendar_date", "2026-03-01"), queriedNights("2026-03-01T00:00:00 1")}},
		{"a workout with a stated day counts on it", []step{
			pushSummaries("workouts", hc, "Europe/Helsinki", `{"time_start":"2026-03-01T22:30:00Z","time_end":"2026-03-01T23:30:00Z","calendar_date":"2026-03-01"}`),
		}, []truth{summaries("workouts", "calendar_date", "2026-03-01"), queriedWorkouts("2026-03-01T00:00:00 1")}},
		{"an offset of 45 minutes", []step{push("steps", hc, "Asia/Kathmandu", `{"timestamp":"2026-03-01T18:20:00Z","end":"2026-03-01T18:25:00Z","value":9}`)}, []truth{
			samples("steps", "timezone_offset", "20700"), daily("steps", "date total", "2026-03-02 9"),
		}},
		{"a reply has the zone of the athlete", []step{
			file(strava.Kind, "a.json", `[{"id":77,"start_date":"2026-05-11T02:00:00Z","start_date_local":"2026-05-10T22:00:00Z","timezone":"(GMT-05:00) America/New_York","utc_offset":-14400,"elapsed_time":3600,"moving_time":3500,"distance":10000,"sport_type":"Run","type":"Run"}]`),
		}, []truth{summaries("workouts", "calendar_date timezone_offset", "2026-05-10 -14400")}},
		{"a fallback zone moves nothing that is stored", []step{
			pushSummaries("workouts", hc, "", run), zone("America/New_York"), pushSummaries("workouts", hc, "", run),
		}, []truth{summaries("workouts", "calendar_date timezone_offset", "2026-05-11 null"), countEvents("daily.data.workouts.updated", 0), queriedWorkouts("2026-05-11T00:00:00 1")}},
	}
}
