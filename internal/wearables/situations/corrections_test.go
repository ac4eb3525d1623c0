package situations

import (
	"hale/internal/wearables/formats/oura"
)

// correctionRows are section 4: what is deleted, and what phones and makers report as
// deleted.
func correctionRows() []situation {
	reply := func(name, id, start, kind string) step {
		return file(oura.Kind, name, `{"data":[{"id":"`+id+`","day":"2026-03-01","bedtime_start":"`+start+`","bedtime_end":"2026-03-01T06:45:00+02:00",
			"total_sleep_duration":27000,"sleep_phase_5_min":"2222","type":"`+kind+`"}]}`)
	}
	const start = "2026-02-28T22:30:00+02:00"
	gone := []truth{
		summaries("sleep", "total"), summaries("sleep_cycle", "stage_type"), queriedNights(),
		sent("daily.data.sleep.deleted", 1), sent("daily.data.sleep_cycle.deleted", 1),
	}
	return []situation{
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
			summaries("sleep", "total"), sent("daily.data.sleep.created", 0), sent("daily.data.sleep.deleted", 0),
		}},
		{"a deleted night of another id stays", []step{reply("a.json", "n1", start, "long_sleep"), reply("b.json", "n2", "2026-02-28T22:50:00+02:00", "deleted")}, []truth{
			summaries("sleep", "total", "27000"), sent("daily.data.sleep.deleted", 0),
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
