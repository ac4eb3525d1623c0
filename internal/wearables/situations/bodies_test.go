package situations

import (
	"fmt"
	"strings"
)

// bodyRows returns the situations about the division of values into bodies, which does not
// matter.
func bodyRows() (all []situation) {
	const hc = "health_connect"
	sessions := func(resource, start, end, bounds string) (one []string) {
		for _, b := range strings.Fields(bounds) {
			from, to, _ := strings.Cut(b, "-")
			day := func(at string) string {
				if at > "20:00" {
					return "2026-02-28T" + at + ":00Z"
				}
				return "2026-03-01T" + at + ":00Z"
			}
			more := ""
			if resource == "sleep_cycle" {
				more = `,"stage_start_offset_second":[0],"stage_end_offset_second":[600],"stage_type":[2]`
			}
			one = append(one, fmt.Sprintf(`{"resource":%q,%q:%q,%q:%q%s}`, resource, start, day(from), end, day(to), more))
		}
		return one
	}
	entries := func(some ...string) step {
		return call("POST", "/v2/user/*/entries", `{"data":[`+strings.Join(some, ",")+`]}`)
	}
	for _, c := range []struct{ resource, bounds, want string }{
		{"sleep", "22:00-06:00 22:00-01:00", "22:00-06:00"},
		{"sleep", "22:00-06:00 02:10-06:00", "22:00-06:00"},
		{"sleep", "22:00-06:00 22:00-02:00 02:10-06:00", "22:00-06:00"},
		{"sleep", "22:00-02:00 02:10-06:00 22:00-06:00", "22:00-06:00"},
		{"sleep", "22:00-01:00 01:30-03:00 03:30-06:00 22:00-06:00 01:30-03:00", "22:00-06:00"},
		{"sleep", "22:00-01:00 22:00-06:00 22:00-01:00 22:00-07:00 22:00-06:00", "22:00-07:00"},
		{"sleep", "22:00-06:00 12:00-13:00", "22:00-06:00 12:00-13:00"},
		{"sleep_cycle", "22:00-06:00 22:00-01:00", "22:00-06:00"},
		{"sleep_cycle", "22:00-06:00 22:00-02:00 02:10-06:00", "22:00-06:00"},
		{"workouts", "08:00-08:30 08:00-09:00 08:00-08:30", "08:00-09:00"},
		{"workouts", "08:00-09:00 08:10-09:00 08:00-09:00", "08:10-09:00"},
		{"workouts", "08:00-08:30 08:20-08:50 10:00-10:30", "08:00-08:30 08:20-08:50 10:00-10:30"},
	} {
		start, end := "bedtime_start", "bedtime_stop"
		switch c.resource {
		case "sleep_cycle":
			start, end = "session_start", "session_end"
		case "workouts":
			start, end = "time_start", "time_end"
		}
		each := sessions(c.resource, start, end, c.bounds)
		var want []string
		for _, one := range sessions(c.resource, start, end, c.want) {
			words := strings.Split(one, `"`)
			want = append(want, strings.NewReplacer("Z", "+00:00").Replace(words[7]+" "+words[11]))
		}
		truths := []truth{summaries(c.resource, start+" "+end, want...)}
		one := []step{pushSummaries(c.resource, hc, "", each...)}
		typed := []step{entries(each...)}
		var apart, twice []step
		for _, s := range each {
			apart = append(apart, pushSummaries(c.resource, hc, "", s))
		}
		if len(each) > 2 {
			twice = []step{apart[0], pushSummaries(c.resource, hc, "", each[1:]...)}
		}
		name := c.resource + " " + c.bounds
		all = append(all, situation{name + " in one body", one, truths}, situation{name + " in several bodies", apart, truths},
			situation{name + " typed at once", typed, truths})
		if twice != nil {
			all = append(all, situation{name + " in two bodies", twice, truths})
		}
	}
	return all
}

// noteRows returns the situations about notes, which are samples with a text.
func noteRows() []situation {
	const hc = "health_connect"
	notes := func(all ...string) step { return push("note", hc, "UTC", all...) }
	note := func(at, app, text, more string) string {
		return fmt.Sprintf(`{"timestamp":"2026-03-01T%s:00Z","source_type":"phone","source_app_id":%q,"value":%q%s}`, at, app, text, more)
	}
	return []situation{
		{"a note with an id moves", []step{
			notes(note("10:00", "a", "first", `,"id":"n"`)), notes(note("11:00", "a", "first", `,"id":"n"`)),
		}, []truth{
			samples("note", "timestamp value", "2026-03-01T11:00:00+00:00 first"), countEvents("daily.data.note.updated", 1),
			payloads("daily.data.note.deleted", "start_date deleted", "2026-03-01T10:00:00+00:00 1"),
		}},
		{"a note with an id moves and another one takes its place", []step{
			notes(note("10:00", "a", "first", `,"id":"n"`)), notes(note("11:00", "a", "first", `,"id":"n"`), note("10:00", "a", "second", `,"id":"m"`)),
		}, []truth{
			samples("note", "timestamp value", "2026-03-01T10:00:00+00:00 second", "2026-03-01T11:00:00+00:00 first"), countEvents("daily.data.note.deleted", 1),
		}},
		{"notes of two apps in one body", []step{notes(note("10:00", "b", "earlier", ""), note("10:00", "a", "later", ""))}, []truth{
			plainNotes("value", "later"), payloads("daily.data.note.created", "source.app_id", "b", "a"),
		}},
		{"notes of two apps in one body, by name", []step{notes(note("10:00", "a", "earlier", ""), note("10:00", "b", "later", ""))}, []truth{
			plainNotes("value", "later"), payloads("daily.data.note.created", "source.app_id", "a", "b"),
		}},
		{"corrected notes of two apps in one body", []step{
			notes(note("10:00", "b", "first", "")), notes(note("10:00", "a", "second", "")),
			notes(note("10:00", "a", "third", ""), note("10:00", "b", "fourth", ""), note("10:00", "a", "fifth", "")),
		}, []truth{plainNotes("value", "fifth"), payloads("daily.data.note.updated", "source.app_id", "b", "a")}},
		{"a note with an id has another text", []step{
			notes(note("10:00", "a", "first", `,"id":"n"`)), notes(note("10:00", "a", "second", `,"id":"n"`)),
		}, []truth{samples("note", "value", "second"), countEvents("daily.data.note.updated", 1), countEvents("daily.data.note.deleted", 0)}},
	}
}

// plainNotes reads the notes of all sources.
func plainNotes(fields string, rows ...string) truth {
	return truth{name: "notes", fields: strings.Fields(fields), rows: rows, read: func(b *bed) (all []map[string]any) {
		b.decode(b.want("GET", "/v2/timeseries/*/note?"+span, ""), &all)
		return all
	}}
}
