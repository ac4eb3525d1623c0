package situations

import (
	"fmt"
	"strings"
)

// stagedRecord returns a record of a stage of sleep of a watch, between two UTC times of a
// night in an Apple Health export.
func stagedRecord(stage, from, to string) string {
	return strings.NewReplacer("AsleepCore", stage, "+0200", "+0000").Replace(sleepRecord(from, to))
}

// transportedNightRows returns the situations about a night of an Apple Health export and
// its pushed versions, which state other fields.
func transportedNightRows() []situation {
	const evening, morning = "2026-05-09 ", "2026-05-10 "
	staged := []string{
		stagedRecord("AsleepCore", evening+"23:00:00", morning+"01:00:00"), stagedRecord("AsleepDeep", morning+"01:00:00", morning+"02:00:00"),
		stagedRecord("Awake", morning+"02:00:00", morning+"02:10:00"), stagedRecord("AsleepREM", morning+"02:10:00", morning+"03:10:00"),
	}
	parts := []string{stagedRecord("AsleepCore", evening+"23:00:00", morning+"01:00:00"), stagedRecord("AsleepDeep", morning+"02:10:00", morning+"03:10:00")}
	night := func(stop, stages string) step {
		return pushApple("sleep", fmt.Sprintf(`{"id":"q","bedtime_start":"2026-05-09T23:00:00Z","bedtime_stop":"2026-05-10T%s:00Z"%s`, stop, stages))
	}
	const stages = `,"light":20700,"deep":3600,"rem":3600,"awake":600`
	longer := night("06:55", stages)
	const fields = "duration total awake light deep rem efficiency"
	whole := summaries("sleep", fields, "28500 27900 600 20700 3600 3600 97.9")
	exported := summaries("sleep", fields, "15000 14400 600 7200 3600 3600 96")
	cycle := summaries("sleep_cycle", "session_start", "2026-05-09T23:00:00+00:00")
	return []situation{
		{"a night exported, and a longer version pushed", []step{export(staged...), longer}, []truth{whole, cycle}},
		{"a night exported, and a longer version pushed that clears its total", []step{export(staged...), night("06:55", stages+`,"total":null`)}, []truth{whole}},
		{"a night exported, and two longer versions pushed", []step{export(staged...), night("05:00", `,"light":10000,"deep":3600,"rem":3600,"awake":600`), longer}, []truth{whole}},
		{"a night exported, a longer version pushed, and the export undone", []step{undoable("a", staged...), longer, undo("a")}, []truth{whole}},
		{"a night exported, a longer version pushed, and exported again", []step{undoable("a", staged...), longer, undoable("b", staged...), export(staged...)}, []truth{whole, cycle}},
		{"a night exported, and a version with other stages pushed", []step{export(staged...), night("03:10", `,"light":6600,"deep":3600,"rem":3600`)}, []truth{
			summaries("sleep", fields, "15000 13800 1200 6600 3600 3600 92"),
		}},
		{"a night exported, and a version with another total pushed", []step{export(staged...), night("03:10", `,"total":13500`)}, []truth{
			summaries("sleep", fields, "15000 13500 1500 7200 3600 3600 90"),
		}},
		{"a night exported, and its bounds pushed", []step{export(staged...), night("03:10", "")}, []truth{exported}},
		{"the bounds of a night pushed, the night exported, and its bounds pushed", []step{night("03:10", ""), undoable("a", staged...), night("03:10", "")}, []truth{exported}},
		{"two staged parts of a night exported, the whole pushed, and exported again", []step{
			undoable("a", parts...), longer, undoable("b", parts...), export(parts...),
		}, []truth{whole, cycle}},
		{"two staged parts of a night exported, and the whole pushed with stages", []step{
			undoable("a", parts...), longer, pushApple("sleep_cycle",
				`{"id":"q","session_start":"2026-05-09T23:00:00Z","session_end":"2026-05-10T06:55:00Z","stage_start_offset_second":[0],"stage_end_offset_second":[27900],"stage_type":[2]`),
			undoable("b", parts...),
		}, []truth{whole, summaries("sleep_cycle", "stage_end_offset_second", "[27900]")}},
	}
}
