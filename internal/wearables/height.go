package wearables

import (
	"bytes"
	"context"
	"maps"
	"time"

	"hale/internal/platform/store"
)

const (
	profile = "profile"
	height  = "height"
)

// news is the version, without its height where the stored one was measured
// later: a profile has no day, and files come in any order. A height of which
// nobody says when it was measured is that of the day on which it came, unless
// it is the stored one. When it was stands in start_at.
func (w *summaryWrite) news(older map[string]any, was *StoredSummary, now time.Time) map[string]any {
	tall := w.fields[height]
	if w.Resource != profile || tall == nil {
		return w.fields
	}
	if !w.Came.IsZero() {
		now = w.Came
	}
	at := w.Measured
	if at.IsZero() || at.After(now) {
		if older != nil && bytes.Equal(appendCanonical(nil, tall), appendCanonical(nil, older[height])) {
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
func (w *summaryWrite) remeasure(ctx context.Context, tx *store.Tx, j *job) error {
	if !w.measured {
		return nil
	}
	n, err := tx.Exec(ctx, `UPDATE summaries SET start_at = $1 WHERE team_id = $2 AND user_id = $3 AND id = $4 AND version = $5
		AND (start_at IS NULL OR start_at < $1)`, w.begins, j.team, j.user, w.id, w.version)
	if err == nil && n == 0 {
		return errRace
	}
	return err
}
