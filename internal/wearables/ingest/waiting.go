package ingest

import (
	"context"
	"slices"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// A body may have several versions of one session without an id. It must not matter how
// versions are divided into bodies. So a later version waits, as if it came in a body of
// its own. It is planned when the earlier ones are stored, in the same transaction.

// waits reports whether summaries of the batch wait.
func (j *job) waits() bool { return slices.ContainsFunc(j.summaries, (*summaryPlan).isWaiting) }

// isWaiting reports whether the plan waits. A record that the batch also deletes does not.
func (w *summaryPlan) isWaiting() bool { return w.waits && !w.yields }

// batchOfWaiting returns a job of the summaries that wait, with the streams, which follow
// all workouts; nil without any.
func (j *job) batchOfWaiting() *job {
	if !j.waits() {
		return nil
	}
	next := *j
	next.series, next.deleted, next.records, next.repeated, next.refused, next.received = nil, nil, nil, nil, rejections{}, nil
	next.snapshot = false
	next.summaries = slices.DeleteFunc(slices.Clone(j.summaries), func(w *summaryPlan) bool { return !w.isWaiting() })
	return &next
}

// ownStreams returns the streams that the job plans: none if workouts wait.
func (j *job) ownStreams() []*streamPlan {
	if j.waits() {
		return nil
	}
	return j.streams
}

// store writes the plan, then plans and writes the summaries that wait. Afterwards the
// plans have the outcome of all.
func (j *job) store(ctx context.Context, tx *store.Tx) error {
	if !j.waits() {
		return j.commit(ctx, tx)
	}
	first := *j
	first.also, first.ends = nil, false
	for next := &first; ; {
		if err := next.commit(ctx, tx); err != nil {
			return err
		}
		if next = next.batchOfWaiting(); next == nil {
			break
		}
		if err := next.plan(ctx, tx); err != nil {
			return err
		}
	}
	if err := j.runAlso(ctx, tx); err != nil {
		return err
	}
	j.noteReceived()
	ended, err := j.endHistories(ctx, tx)
	if err != nil {
		return err
	}
	_, err = events.EmitMany(ctx, tx, ended)
	return err
}
