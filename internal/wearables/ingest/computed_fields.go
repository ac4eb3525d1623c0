package ingest

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// Hale computes fields that a sender left out. The stored body lists them, so that they
// follow their samples. A version without them keeps them while its bounds are the same. A
// field that a sender states is not computed.

// computedFields lists fields that Hale computes, in groups that agree with each other. A
// version that states one field of a group replaces all computed ones.
var computedFields = map[string][][]string{
	"workouts": {{"hr_zones"}, {"average_hr", "max_hr"}},
	"sleep":    {{"deep", "light", "rem", "total"}},
}

// takeComputed removes the list of computed fields from a document that is read.
func takeComputed(fields map[string]any) []string {
	names := wearables.ComputedFields(fields)
	delete(fields, wearables.ComputedMember)
	return names
}

// dropRestated removes the computed fields of groups of which a newer version states a
// field. It returns the computed fields that are left.
func dropRestated(resource string, older, newer map[string]any) []string {
	names := wearables.ComputedFields(older)
	for _, group := range computedFields[resource] {
		if !slices.ContainsFunc(group, func(name string) bool { return newer[name] != nil }) {
			continue
		}
		names = slices.DeleteFunc(names, func(name string) bool {
			restated := slices.Contains(group, name)
			if restated {
				delete(older, name)
			}
			return restated
		})
	}
	return names
}

// computedAfter returns the computed fields of a version after a newer one is laid over it.
func computedAfter(computed []string, older, newer map[string]any, newComputed []string) (names []string) {
	for _, name := range computed {
		if newer[name] == nil && older[name] != nil {
			names = append(names, name)
		}
	}
	for _, name := range newComputed {
		if newer[name] != nil {
			names = append(names, name)
		}
	}
	return names
}

// setComputed lists the computed fields that a document has.
func setComputed(fields map[string]any, names []string) {
	wearables.SetComputed(fields, slices.DeleteFunc(names, func(name string) bool { return fields[name] == nil }))
}

// withoutComputed returns the fields of a document that a sender states.
func (w *summaryPlan) withoutComputed(fields map[string]any) map[string]any {
	if len(w.computed) == 0 {
		return fields
	}
	stated := maps.Clone(fields)
	for _, name := range w.computed {
		delete(stated, name)
	}
	return stated
}

// sameValues reports whether two stored bodies differ only in the list of computed fields.
func sameValues(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	one, errOne := wearables.ParseDocument(a)
	other, errOther := wearables.ParseDocument(b)
	if errOne != nil || errOther != nil {
		return false
	}
	delete(one, wearables.ComputedMember)
	delete(other, wearables.ComputedMember)
	return bytes.Equal(wearables.AppendCanonical(nil, one), wearables.AppendCanonical(nil, other))
}

// writeMarks stores another list of computed fields. The values are the same, so there is
// no event.
func (w *summaryPlan) writeMarks(ctx context.Context, tx *store.Tx, j *job) error {
	if !w.remarked {
		return nil
	}
	d := storage.StoredSummary{ID: w.id, Team: j.team, User: j.user, Body: w.body, Version: w.version}
	return d.WriteMarks(ctx, tx)
}
