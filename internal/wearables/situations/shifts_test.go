package situations

import (
	"fmt"
	"strings"
)

// shiftRows returns the situations about a source with a wrong clock.
func shiftRows() []situation {
	walk := func(all ...string) step { return push("steps", android, "UTC", all...) }
	const (
		first  = `{"timestamp":"2026-03-02T08:00:00Z","end":"2026-03-02T08:10:00Z","value":100,"source_app_id":"a"}`
		second = `{"timestamp":"2026-03-02T23:30:00Z","end":"2026-03-02T23:40:00Z","value":200,"source_app_id":"a"}`
		other  = `{"timestamp":"2026-03-02T08:00:00Z","end":"2026-03-02T08:10:00Z","value":7,"source_app_id":"b"}`
		night  = `{"bedtime_start":"2026-03-02T22:00:00Z","bedtime_stop":"2026-03-03T06:00:00Z","total":27000,"source_app_id":"a"}`
		run    = `{"time_start":"2026-03-02T10:00:00Z","time_end":"2026-03-02T11:00:00Z","distance":9000,"metadata":{"id":"r"},"source_app_id":"a"}`
	)
	shift := func(seconds string) step {
		return call("POST", "/v2/user/*/data/shifts", `{"provider":"health_connect","source":"a","start":"2026-03-02","end":"2026-03-02","seconds":`+seconds+`}`)
	}
	shiftOf := func(day, seconds string) step {
		return call("POST", "/v2/user/*/data/shifts", `{"provider":"health_connect","source":"a","start":"`+day+`","end":"`+day+`","seconds":`+seconds+`}`)
	}
	reverse := func(b *bed) {
		var list struct{ Shifts []struct{ ID string } }
		b.decode(b.want("GET", "/v2/user/*/data/shifts", ""), &list)
		b.want("DELETE", "/v2/user/*/data/shifts/"+list.Shifts[0].ID, "")
	}
	nights := pushSummaries("sleep", android, "UTC", night)
	runs := pushSummaries("workouts", android, "UTC", run)
	before := []truth{
		samples("steps", "timestamp value", "2026-03-02T08:00:00+00:00 100", "2026-03-02T23:30:00+00:00 200"), daily("steps", "date total", "2026-03-02 300"),
	}
	later := []truth{
		samples("steps", "timestamp value", "2026-03-02T09:00:00+00:00 100", "2026-03-03T00:30:00+00:00 200"),
		daily("steps", "date total", "2026-03-02 100", "2026-03-03 200"),
		queriedDays("steps", "2026-03-02T00:00:00 100", "2026-03-03T00:00:00 200"), countEvents("daily.data.steps.deleted", 1), countEvents("daily.data.steps.created", 2),
	}
	weigh := func(kg int) step {
		return push("body_weight", android, "UTC", fmt.Sprintf(`{"timestamp":"2026-03-02T07:00:00Z","value":%d}`, kg))
	}
	beat := func(at string, value int) string {
		return fmt.Sprintf(`{"timestamp":"2026-03-02T%s:00Z","value":%d}`, at, value)
	}
	shiftAll := func(seconds string) step {
		return call("POST", "/v2/user/*/data/shifts", `{"provider":"health_connect","start":"2026-03-02","end":"2026-03-02","seconds":`+seconds+`}`)
	}
	return []situation{
		{"a slow clock", []step{walk(first, second), shift("3600")}, later},
		{"a slow clock whose data is sent again", []step{walk(first, second), shift("3600"), walk(first, second)}, later},
		{"a slow clock whose data is sent again with the right time", []step{
			walk(first, second), shift("3600"),
			walk(`{"timestamp":"2026-03-02T09:00:00Z","end":"2026-03-02T09:10:00Z","value":100,"source_app_id":"a"}`),
		}, later},
		{"a fast clock", []step{walk(first, second), shift("-86400")}, []truth{
			samples("steps", "timestamp value", "2026-03-01T08:00:00+00:00 100", "2026-03-01T23:30:00+00:00 200"), daily("steps", "date total", "2026-03-01 300"),
		}},
		{"another source has the right clock", []step{walk(first, other), shift("3600")}, []truth{
			samples("steps", "timestamp value", "2026-03-02T08:00:00+00:00 7", "2026-03-02T09:00:00+00:00 100"),
		}},
		{"a shift that moves samples onto each other's times", []step{
			walk(first, `{"timestamp":"2026-03-02T09:00:00Z","end":"2026-03-02T09:10:00Z","value":300,"source_app_id":"a"}`), shift("3600"),
		}, []truth{samples("steps", "timestamp value", "2026-03-02T09:00:00+00:00 100", "2026-03-02T10:00:00+00:00 300")}},
		{"a reversed shift of an hour that was idle, then stood", []step{
			push("stand_hour", android, "UTC", `{"timestamp":"2026-03-02T08:00:00Z","value":1,"type":"stood"}`),
			push("stand_hour", android, "UTC", `{"timestamp":"2026-03-02T08:00:00Z","value":1,"type":"idle"}`), shift("3600"), reverse,
		}, []truth{samples("stand_hour", "timestamp type", "2026-03-02T08:00:00+00:00 idle")}},
		{"a reversed shift", []step{walk(first, second), shift("3600"), reverse}, before},
		{"a reversed shift whose data is sent again", []step{walk(first, second), shift("3600"), reverse, walk(first, second)}, before},
		{"a reversed shift leaves later data", []step{
			walk(first), shift("3600"), walk(`{"timestamp":"2026-03-02T12:00:00Z","end":"2026-03-02T12:10:00Z","value":50,"source_app_id":"a"}`), reverse,
		}, []truth{samples("steps", "timestamp value", "2026-03-02T08:00:00+00:00 100", "2026-03-02T12:00:00+00:00 50")}},
		{"a reversed shift leaves a newer weight at the former time", []step{weigh(80), shiftAll("-3600"), weigh(97), reverse}, []truth{samples("body_weight", "timestamp value", "2026-03-02T07:00:00+00:00 97")}},
		{"a reversed shift leaves newer heart rates at the former times", []step{
			push("heartrate", android, "UTC", beat("07:00", 60), beat("08:00", 70)), shiftAll("-3600"), push("heartrate", android, "UTC", beat("07:00", 70), beat("08:00", 71)), reverse,
		}, []truth{samples("heartrate", "timestamp value", "2026-03-02T07:00:00+00:00 70", "2026-03-02T08:00:00+00:00 71")}},
		{"a reversed shift of neighbours leaves a newer one", []step{
			push("heartrate", android, "UTC", beat("07:00", 60), beat("08:00", 70), beat("09:00", 80)), shiftAll("-3600"), push("heartrate", android, "UTC", beat("09:00", 81)), reverse,
		}, []truth{samples("heartrate", "timestamp value", "2026-03-02T07:00:00+00:00 60", "2026-03-02T08:00:00+00:00 70", "2026-03-02T09:00:00+00:00 81")}},
		{"a reversed shift leaves a newer weight, and restores what it replaced", []step{
			push("body_weight", android, "UTC", `{"timestamp":"2026-03-01T07:00:00Z","value":75}`), weigh(80), shiftAll("-86400"), weigh(97), reverse,
		}, []truth{samples("body_weight", "timestamp value", "2026-03-01T07:00:00+00:00 75", "2026-03-02T07:00:00+00:00 97")}},
		{"a reversed shift leaves a newer night", []step{nights, shift("86400"), pushSummaries("sleep", android, "UTC", strings.Replace(night, "27000", "26000", 1)), reverse}, []truth{
			summaries("sleep", "bedtime_start total", "2026-03-02T22:00:00+00:00 26000"),
		}},
		{"a night of a slow clock", []step{nights, shift("7200"), nights}, []truth{
			summaries("sleep", "bedtime_start bedtime_stop date calendar_date total",
				"2026-03-03T00:00:00+00:00 2026-03-03T08:00:00+00:00 2026-03-03T00:00:00+00:00 2026-03-03 27000"),
			countEvents("daily.data.sleep.updated", 1), countEvents("daily.data.sleep.deleted", 0),
		}},
		{"a night of a clock that is a day late", []step{nights, shift("86400"), nights}, []truth{
			summaries("sleep", "bedtime_start date calendar_date", "2026-03-03T22:00:00+00:00 2026-03-04T00:00:00+00:00 2026-03-04"), queriedNights("2026-03-04T00:00:00 1"),
		}},
		{"a reversed shift of a night", []step{nights, shift("86400"), reverse, nights}, []truth{summaries("sleep", "bedtime_start calendar_date", "2026-03-02T22:00:00+00:00 2026-03-03")}},
		{"a workout with an id of a slow clock", []step{runs, shift("3600"), runs}, []truth{
			summaries("workouts", "time_start time_end distance", "2026-03-02T11:00:00+00:00 2026-03-02T12:00:00+00:00 9000"), countEvents("daily.data.workouts.updated", 1),
		}},
		{"steps that a shift moves across a clock change", []step{
			zone("Europe/Berlin"), push("steps", android, "", `{"timestamp":"2026-10-25T06:30:00Z","end":"2026-10-25T06:40:00Z","value":100,"source_app_id":"a"}`), shiftOf("2026-10-25", "-28800"),
		}, []truth{samples("steps", "timestamp timezone_offset value", "2026-10-24T22:30:00+00:00 7200 100"), daily("steps", "date total", "2026-10-25 100")}},
		{"steps with the offset of the person's zone", []step{
			zone("Europe/Berlin"), push("steps", android, "Europe/Berlin", `{"timestamp":"2026-10-25T06:30:00Z","end":"2026-10-25T06:40:00Z","value":100,"source_app_id":"a"}`), shiftOf("2026-10-25", "-28800"),
		}, []truth{daily("steps", "date total", "2026-10-25 100")}},
		{"steps with the offset of the phone's zone", []step{
			push("steps", android, "Europe/Berlin", `{"timestamp":"2026-10-25T06:30:00Z","end":"2026-10-25T06:40:00Z","value":100,"source_app_id":"a"}`),
			call("POST", "/v2/user/*/data/shifts", `{"provider":"health_connect","start":"2026-10-25","end":"2026-10-25","seconds":-28800,"time_zone":"Europe/Berlin"}`),
		}, []truth{daily("steps", "date total", "2026-10-25 100")}},
		{"steps across a clock change and back", []step{
			zone("Europe/Berlin"), push("steps", android, "", `{"timestamp":"2026-10-25T06:30:00Z","end":"2026-10-25T06:40:00Z","value":100,"source_app_id":"a"}`), shiftOf("2026-10-25", "-28800"), reverse,
		}, []truth{samples("steps", "timestamp timezone_offset value", "2026-10-25T06:30:00+00:00 3600 100")}},
		{"steps of another place keep their offset", []step{
			zone("Europe/Berlin"), push("steps", android, "Asia/Tokyo", `{"timestamp":"2026-10-25T06:30:00Z","end":"2026-10-25T06:40:00Z","value":100,"source_app_id":"a"}`), shiftOf("2026-10-25", "-28800"),
		}, []truth{samples("steps", "timestamp timezone_offset value", "2026-10-24T22:30:00+00:00 32400 100")}},
		{"a night that a shift moves across a clock change", []step{
			zone("Europe/Berlin"), pushSummaries("sleep", android, "Europe/Berlin", `{"bedtime_start":"2026-10-26T00:10:00Z","bedtime_stop":"2026-10-26T06:30:00Z","total":20000,"source_app_id":"a"}`), shiftOf("2026-10-26", "-115200"),
		}, []truth{summaries("sleep", "bedtime_stop calendar_date timezone_offset", "2026-10-24T22:30:00+00:00 2026-10-25 7200")}},
		{"the activity follows a shift", []step{walk(first, second), runDerive(android), shift("3600"), runDerive(android)}, []truth{
			summaries("activity", "calendar_date steps", "2026-03-02 100", "2026-03-03 200"),
		}},
		{"a shift is counted", []step{walk(first, second), nights, func(b *bed) {
			got := b.want("POST", "/v2/user/*/data/shifts", `{"provider":"health_connect","start":"2026-03-02","end":"2026-03-02","seconds":60,"dry_run":true}`)
			var counts struct {
				Status    string
				Resources map[string]struct{ Moved int }
			}
			if b.decode(got, &counts); counts.Resources["steps"].Moved != 2 || counts.Resources["sleep"].Moved != 1 {
				b.t.Errorf("counted %s", got)
			}
		}}, append(before, countEvents("daily.data.steps.deleted", 0), countEvents("daily.data.sleep.updated", 0))},
		{"shifts that are refused", []step{walk(first), func(b *bed) {
			for body, field := range map[string]string{
				`{"provider":"health_connect","start":"2026-03-02","end":"2026-03-02","seconds":0}`:                       "seconds",
				`{"provider":"health_connect","start":"2026-03-02","end":"2026-03-02","seconds":99999999999}`:             "seconds",
				`{"provider":"health_connect","start":"2026-03-02","end":"2026-03-02","seconds":1000000000}`:              "seconds",
				`{"provider":"health_connect","start":"2026-10-30","end":"2026-10-31","seconds":172800}`:                  "seconds",
				`{"provider":"health_connect","start":"2000-01-01","end":"2000-01-02","seconds":-60}`:                     "seconds",
				`{"provider":"health_connect","start":"2026-03-02","end":"2026-03-02","seconds":60,"time_zone":"Berlin"}`: "time_zone",
				`{"provider":"no","start":"2026-03-02","end":"2026-03-02","seconds":60}`:                                  "provider",
				`{"provider":"health_connect","start":"x","end":"2026-03-02","seconds":60}`:                               "start",
				`{"provider":"health_connect","start":"2026-03-02","end":"2026-03-01","seconds":60}`:                      "end",
				`{"provider":"health_connect","resource":"no","start":"2026-03-02","end":"2026-03-02","seconds":60}`:      "resource",
			} {
				if status, got := b.do("POST", "/v2/user/*/data/shifts", body); status != 422 || !strings.Contains(got, `"loc":["body","`+field+`"]`) {
					b.t.Errorf("%s (%s): %d %s", body, field, status, got)
				}
			}
		}}, []truth{samples("steps", "timestamp", "2026-03-02T08:00:00+00:00")}},
	}
}
