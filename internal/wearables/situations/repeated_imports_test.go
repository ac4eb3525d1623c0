package situations

import "strings"

// repeatedImportRows returns the situations about exports that are imported again after a phone has corrected their values.
func repeatedImportRows() []situation {
	return []situation{
		{"an export imported again after a correction of its workout", []step{undoable("a", exportedRun), pushRun(9500), undoable("b", exportedRun)}, []truth{summaries("workouts", "distance", "9500")}},
		{"an export imported again after a correction of a pushed workout", []step{pushRun(9000), undoable("a", exportedRun), pushRun(9500), undoable("b", exportedRun)}, []truth{summaries("workouts", "distance", "9500")}},
		{"an export imported again after a correction of its night", []step{undoable("a", exportedNight()), pushNight(), undoable("b", exportedNight())}, []truth{summaries("sleep", "total", "28000")}},
		{"a newer export after a correction", []step{undoable("a", exportedRun), pushRun(9500), undoable("b", strings.Replace(exportedRun, `"10"`, `"11"`, 1))}, []truth{summaries("workouts", "distance", "11000")}},
		{"an export imported again after a crop", []step{
			undoable("a", exportedRun), pushApple("workouts", `{"time_start":"2026-03-01T10:00:00.211Z","time_end":"2026-03-01T10:40:00.840Z","distance":6000`), undoable("b", exportedRun),
		}, []truth{summaries("workouts", "time_end distance", "2026-03-01T10:40:00.840000+00:00 6000")}},
	}
}
