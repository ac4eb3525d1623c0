package ingest

import (
	"bytes"
	"context"
	"maps"
	"time"

	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

const height = "height"

// news is the version, without its height where the stored one was measured
// later: a profile has no day, and files come in any order. A height of which
// nobody says when it was measured is that of the day on which it came, unless
// it is the stored one. When it was stands in start_at.
func (w *summaryPlan) news(older map[string]any, was *storage.StoredSummary, now time.Time) map[string]any {
	tall := w.fields[height]
	if w.Resource != wearables.ProfileResource || tall == nil {
		return w.fields
	}
	if !w.Came.IsZero() {
		now = w.Came
	}
	at := w.Measured
	if at.IsZero() || at.After(now) {
		if older != nil && bytes.Equal(wearables.AppendCanonical(nil, tall), wearables.AppendCanonical(nil, older[height])) {
			return w.fields
		}
		at = now
	}
	if at.Before(was.Measured) {
		rest := maps.Clone(w.fields)
		delete(rest, height)
		return rest
	}
	w.begins = at
	return w.fields
}

// remeasure notes that the stored height was measured once more, so that none
// from in between takes its place.
func (w *summaryPlan) remeasure(ctx context.Context, tx *store.Tx, j *job) error {
	if !w.measured {
		return nil
	}
	d := storage.StoredSummary{ID: w.id, Team: j.team, User: j.user, Measured: w.begins, Version: w.version}
	return d.WriteMeasured(ctx, tx)
}
