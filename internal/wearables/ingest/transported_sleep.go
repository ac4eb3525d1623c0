package ingest

import "slices"

// A night of an Apple Health export and its pushed versions are one sleep, of which each
// version states other fields: see identify. Fields that follow from stages or bounds are
// of one version. They do not stay beside the stages of another one.

// stageFields are the times of the stages of a sleep, and followingFields the fields that
// follow from them and the bounds.
var (
	stageFields     = []string{"deep", "light", "rem"}
	followingFields = []string{"total", "awake", "efficiency"}
)

// dropFollowing deletes the fields of a stored sleep that a version of the other transport
// replaces. The version may not state all of them: they are computed when the sleep is
// read.
func (w *summaryPlan) dropFollowing(older, newer map[string]any) {
	if w.Resource != "sleep" {
		return
	}
	states := func(name string) bool { return newer[name] != nil }
	differs := func(name string) bool { return states(name) && numberOf(newer[name]) != numberOf(older[name]) }
	moved := !w.sameBounds(w.was)
	gone := followingFields
	switch restaged := slices.ContainsFunc(stageFields, differs); {
	case moved, restaged:
		gone = slices.Concat(stageFields, followingFields, []string{"latency"})
	case !slices.ContainsFunc(followingFields, differs):
		return
	}
	for _, name := range gone {
		if !states(name) {
			delete(older, name)
		}
	}
}

// isOfEarlierSleep reports whether a new cycle belongs to a sleep of the batch that changes
// nothing, because a later version has replaced it.
func (w *summaryPlan) isOfEarlierSleep(j *job) bool {
	return w.Resource == "sleep_cycle" && slices.ContainsFunc(j.summaries, func(s *summaryPlan) bool {
		return s.Resource == "sleep" && s.Source.Provider == w.Source.Provider && s.Key == w.Key && s.isPlanned() && s.earlier && s.was != nil
	})
}
