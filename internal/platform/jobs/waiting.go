package jobs

import (
	"context"
	"fmt"
	"sync"
	"time"

	"hale/internal/platform/store"
)

// Waiting is what is due of a kind and has not begun.
type Waiting struct {
	Jobs   int
	Oldest time.Duration // since the first of them was due
}

// dueJobs is what a sweep saw of a kind.
type dueJobs struct {
	jobs  int
	first time.Time // when the oldest was due; zero for none
}

// noticed is what the last sweep saw of each kind.
type noticed struct {
	mu   sync.Mutex
	kind map[string]dueJobs
}

// Waiting tells what waits of each kind that this node runs, wherever it was
// asked for, as of the last sweep, five seconds ago at most.
func (r *Runner) Waiting() map[string]Waiting {
	now := r.db.Now()
	r.noticed.mu.Lock()
	defer r.noticed.mu.Unlock()
	all := make(map[string]Waiting, len(r.noticed.kind))
	for kind, due := range r.noticed.kind {
		w := Waiting{Jobs: due.jobs}
		if !due.first.IsZero() {
			w.Oldest = max(0, now.Sub(due.first))
		}
		all[kind] = w
	}
	return all
}

// noticeDue counts what is due, in the index of what is queued.
func (r *Runner) noticeDue(ctx context.Context) {
	all := make(map[string]dueJobs, len(r.kinds))
	err := r.db.Read(ctx, func(tx *store.Tx) error {
		for _, k := range r.kinds {
			due, err := countDue(ctx, tx, k.Name())
			if err != nil {
				return err
			}
			all[k.Name()] = due
		}
		return nil
	})
	if err != nil {
		r.log.ErrorContext(ctx, "counting due jobs", "error", err)
		return
	}
	r.noticed.mu.Lock()
	defer r.noticed.mu.Unlock()
	r.noticed.kind = all
}

func countDue(ctx context.Context, tx *store.Tx, kind string) (dueJobs, error) {
	var due dueJobs
	var first *time.Time
	err := tx.QueryRow(ctx, `SELECT COUNT(*), MIN(run_at) FROM jobs WHERE kind = $1 AND status = 'queued' AND run_at <= $2`,
		kind, store.Micros(tx.Now())).Scan(&due.jobs, store.ScanNullTime(&first))
	if err != nil {
		return due, fmt.Errorf("jobs: counting due jobs: %w", err)
	}
	if first != nil {
		due.first = *first
	}
	return due, nil
}
