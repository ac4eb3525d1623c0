package ingest

import (
	"context"
	"maps"
	"slices"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
	"hale/internal/wearables/storage"
)

// A phone may push a value that an import has stored before. Nothing changes, but the push
// is acknowledged: the value must stay when the import is undone. So the push takes it over.
// A sample gets a time of storage that belongs to no import. A summary records that it was
// stated. Later pushes of the value find this and write nothing.

// afterImport bounds the search for a time that belongs to no import, milliseconds.
const afterImport = 1000

// confirm takes unchanged samples over from imports, and reports whether there were any. In
// a push batch it only notes when the samples were stored.
func (w *seriesPlan) confirm(ctx context.Context, tx *store.Tx, ws *workspace, add *blocks.Columns, j *job) (any bool, err error) {
	if !j.pushed || ws.changes.Unchanged == 0 {
		return false, nil
	}
	written := ws.merged.Written
	same := unchangedPositions(ws, add)
	if len(same) == 0 {
		return false, nil
	}
	first, last := written[same[0]], written[same[0]]
	for _, i := range same {
		first, last = min(first, written[i]), max(last, written[i])
	}
	if j.batched {
		j.confirmed.Include(first, last)
		return false, nil
	}
	imported, err := storage.ChangeTimes(ctx, tx, j.team, j.user, first, last+afterImport)
	if err != nil {
		return false, err
	}
	for _, i := range same {
		if !imported[written[i]] {
			continue
		}
		for any = true; imported[written[i]]; { // almost the same time keeps the order of versions
			written[i]++
		}
	}
	return any, nil
}

// unchangedPositions returns the positions of the merged samples that the batch states
// without a change.
func unchangedPositions(ws *workspace, add *blocks.Columns) (all []int32) {
	for _, at := range add.Time {
		i, _ := slices.BinarySearch(ws.merged.Time, at)
		_, isNew := slices.BinarySearch(ws.changes.Created, int32(i))
		_, isUpdated := slices.BinarySearch(ws.changes.Updated, int32(i))
		if !isNew && !isUpdated {
			all = append(all, int32(i))
		}
	}
	return all
}

// sendImportedAlone marks the pushes of a batch that confirm samples of an import, so that
// each is stored by itself.
func sendImportedAlone(ctx context.Context, tx *store.Tx, key queueKey, batch []*pendingPush) error {
	var all []storage.TimeRange
	for _, p := range batch {
		if !p.alone && p.job.confirmed.Last != 0 {
			all = append(all, p.job.confirmed)
		}
	}
	found, err := storage.WithChanges(ctx, tx, key.team, all)
	if err != nil {
		return err
	}
	for _, p := range batch {
		p.alone = p.alone || found[p.id.UUID()]
	}
	return nil
}

// repeatsPart reports whether a push states only a part of what an import has stored.
// The phone may not know the rest, so its absence clears nothing. older is what is
// stored, newer what the push states, and same its moments as they are stored.
func (w *summaryPlan) repeatsPart(ctx context.Context, tx *store.Tx, j *job, older, newer, same map[string]any) (bool, error) {
	if !j.pushed || !w.sameBounds(w.was) {
		return false, nil
	}
	whole := maps.Clone(older)
	overlay(whole, newer)
	overlay(whole, same)
	if !w.fits(whole) || !sameValues(w.body, w.was.Body) {
		return false, nil
	}
	at := store.Micros(w.was.UpdatedAt) / 1000
	imported, err := storage.ChangeTimes(ctx, tx, j.team, j.user, at, at)
	return imported[at], err
}

// planStated finds out whether the batch states the stored version of a summary, which an
// import has stored.
func (w *summaryPlan) planStated(ctx context.Context, tx *store.Tx, j *job) error {
	if w.tooLarge || !j.pushed || w.was.StatedAt != 0 {
		return nil
	}
	at := store.Micros(w.was.UpdatedAt) / 1000
	imported, err := storage.ChangeTimes(ctx, tx, j.team, j.user, at, at)
	w.states = imported[at]
	return err
}

// writeStated records that a push has stated the stored version.
func (w *summaryPlan) writeStated(ctx context.Context, tx *store.Tx, j *job) error {
	if !w.states {
		return nil
	}
	s := storage.StoredSummary{ID: w.id, Team: j.team, User: j.user, Version: w.version}
	return s.WriteStated(ctx, tx)
}

// planStated finds out whether the batch states the stored stream, which an import has
// stored.
func (w *streamPlan) planStated(ctx context.Context, tx *store.Tx, j *job) error {
	if !j.pushed {
		return nil
	}
	at, _, err := storage.StreamTime(ctx, tx, j.team, j.user, w.workout)
	if err != nil {
		return err
	}
	imported, err := storage.ChangeTimes(ctx, tx, j.team, j.user, at, at)
	w.states = imported[at]
	return err
}
