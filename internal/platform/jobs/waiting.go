package jobs

import (
	"context"
	"fmt"
	"sync"
	"time"

	"hale/internal/platform/store"
)

// Waiting counts the due jobs of a kind that have not started.
type Waiting struct {
	Jobs   int
	Oldest time.Duration // since the oldest of them was due
}

// dueJobs is the count of a kind at the last sweep.
type dueJobs struct {
	jobs  int
	first time.Time // due time of the oldest; zero for none
}

// waitingCounts has the counts of the last sweep by kind.
type waitingCounts struct {
	mu   sync.Mutex
	kind map[string]dueJobs
}

// Waiting returns the waiting jobs of each kind that this node runs, enqueued by any
// node. The counts are from the last sweep, at most five seconds ago.
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

// countWaiting counts the due jobs, with the index of queued jobs.
func (r *Runner) countWaiting(ctx context.Context) {
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
