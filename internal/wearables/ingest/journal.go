package ingest

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
	"hale/internal/wearables/storage"
)

// record keeps what a merge changes of a block, for the journal of an import.
func (w *seriesPlan) record(old, merged *blocks.Columns, ch *blocks.Changes) {
	for _, i := range ch.Created {
		w.newTimes = append(w.newTimes, merged.Time[i])
	}
	appendFormer(&w.before, old, merged, ch.Updated)
}

// appendFormer appends the former versions of updated samples to dst.
func appendFormer(dst, old, merged *blocks.Columns, updated []int32) {
	was := make([]int32, len(updated))
	for k, i := range updated {
		at, _ := slices.BinarySearch(old.Time, merged.Time[i])
		was[k] = int32(at)
	}
	if len(was) > 0 {
		former := blocks.Pick(old, was)
		dst.Append(&former)
	}
}

// change returns the entry of a series in the journal. Its blocks are written.
func (w *seriesPlan) change(number int64) (c storage.SeriesChange, err error) {
	c.Series = number
	if len(w.newTimes) > 0 {
		if c.Created, err = storage.PackTimes(w.newTimes); err != nil {
			return c, err
		}
	}
	if w.before.Len() > 0 {
		c.Before, err = blocks.Append(nil, &w.before)
	}
	return c, err
}

// beforeSummaries returns the entries of summaries and streams in the journal. It runs
// before they are written.
func (j *job) beforeSummaries(ctx context.Context, tx *store.Tx) (c storage.ImportChange, err error) {
	c.Import = j.importID
	if j.importID == uuid.Nil {
		return c, nil
	}
	for _, w := range j.summaries {
		one := storage.SummaryChange{ID: w.id}
		switch w.verb {
		case "":
			continue
		case updated:
			if one.Before, err = storage.ReadVersion(ctx, tx, j.team, j.user, w.id); err != nil {
				return c, err
			}
		}
		gone, err := w.allReplaced(ctx, tx, j)
		if err != nil {
			return c, err
		}
		for i := range gone {
			removed, err := gone[i].ReadRemoved(ctx, tx)
			if err != nil {
				return c, err
			}
			one.Removed = append(one.Removed, removed)
		}
		c.Summaries = append(c.Summaries, one)
	}
	for _, w := range j.ownStreams() {
		one := storage.StreamChange{Workout: w.workout}
		switch w.verb {
		case "":
			continue
		case updated:
			if one.N, one.Before, err = storage.ReadStreamVersion(ctx, tx, j.team, j.user, w.workout); err != nil {
				return c, err
			}
			if one.Was, _, err = storage.StreamTime(ctx, tx, j.team, j.user, w.workout); err != nil {
				return c, err
			}
		}
		c.Streams = append(c.Streams, one)
	}
	return c, nil
}
