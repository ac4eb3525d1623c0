package situations

import "fmt"

// ofWatch ends the JSON of a summary that a phone has pushed for its watch.
const ofWatch = `,"source_type":"watch","source_app_id":"com.acme.health"}`

// exportedNight returns the record of a night in an export.
func exportedNight() string { return sleepRecord("2026-02-28 22:00:00", "2026-03-01 06:00:00") }

// pushApple pushes a summary of a phone in Helsinki, which ofWatch ends.
func pushApple(resource, data string) step {
	return pushSummaries(resource, apple, "Europe/Helsinki", data+ofWatch)
}

// pushNight pushes the night of exportedNight, with another total.
func pushNight() step {
	return pushApple("sleep", `{"bedtime_start":"2026-02-28T20:00:00.532Z","bedtime_stop":"2026-03-01T04:00:00.120Z","total":28000`)
}

// pushStages pushes the stages of the first part of that night.
func pushStages() step {
	return pushApple("sleep_cycle", `{"session_start":"2026-02-28T20:00:00Z","session_end":"2026-02-28T23:00:00Z","stage_start_offset_second":[0],"stage_end_offset_second":[10000],"stage_type":[2]`)
}

// deletedNightRows returns the situations about deleted nights that are sent again.
func deletedNightRows() []situation {
	deleteSleep := call("DELETE", "/v2/user/*/data?resource=sleep", "")
	noNight := []truth{summaries("sleep", "total"), summaries("sleep_cycle", "session_start")}
	night := func(id, more string) step {
		return pushSummaries("sleep", android, "UTC", `{`+id+`"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z","source_type":"watch"`+more+`}`)
	}
	stages := func(stage int) step {
		return pushSummaries("sleep_cycle", android, "UTC", fmt.Sprintf(`{"session_start":"2026-03-01T22:00:00Z","session_end":"2026-03-02T06:00:00Z",
			"stage_start_offset_second":[0],"stage_end_offset_second":[28800],"stage_type":[%d],"source_type":"watch"}`, stage))
	}
	return []situation{
		{"a deleted night of a phone is in an export with its stages", []step{pushNight(), deleteSleep, export(exportedNight())}, noNight},
		{"a deleted night with stages is in an export", []step{pushNight(), pushStages(), deleteSleep, export(exportedNight())}, noNight},
		{"a deleted night of an export is imported again", []step{export(exportedNight()), deleteSleep, export(exportedNight())}, noNight},
		{"a deleted night is pushed again with its stages", []step{night("", ""), deleteSleep, night("", ""), stages(2)}, noNight},
		{"a deleted night is pushed again with other stages", []step{night("", ""), stages(2), deleteSleep, stages(3), night("", "")}, noNight},
		{"a night that a phone deleted is sent again with stages", []step{
			night(`"id":"S",`, ""), call("POST", "/v2/summary/sleep/*", `{"stage":"daily","provider":"health_connect","deleted":["S"]}`), night(`"id":"S",`, `,"total":20000`), stages(2),
		}, noNight},
		{"a deleted night is corrected, and its stages come", []step{night("", `,"total":28000`), stages(2), deleteSleep, night("", `,"total":27000`), stages(3)}, []truth{
			summaries("sleep", "total", "27000"), summaries("sleep_cycle", "stage_type", "[3]"),
		}},
		{"the stages of another watch at the time of a deleted night", []step{
			night("", ""), deleteSleep, pushSummaries("sleep_cycle", android, "UTC", `{"session_start":"2026-03-01T22:00:00Z","session_end":"2026-03-02T06:00:00Z",
				"stage_start_offset_second":[0],"stage_end_offset_second":[28800],"stage_type":[2],"source_type":"phone"}`),
		}, []truth{summaries("sleep_cycle", "stage_type", "[2]")}},
	}
}
