package jobs

import (
	"context"

	"hale/internal/platform/store"
)

// sweep queues the jobs of dead nodes again, and the strays of this node, and counts
// the waiting jobs.
func (r *Runner) sweep(ctx context.Context) {
	var n int64
	err := r.db.Write(ctx, func(tx *store.Tx) (err error) {
		n, err = requeueOrphans(ctx, tx)
		return err
	})
	if err != nil {
		r.log.ErrorContext(ctx, "sweeping jobs", "error", err)
	}
	for range n {
		r.observe("", "stranded", 0)
	}
	r.requeueStrays(ctx)
	r.countWaiting(ctx)
}

// stopCanceled interrupts the running jobs that were canceled.
func (r *Runner) stopCanceled(ctx context.Context) {
	r.mu.Lock()
	idle := len(r.running) == 0
	r.mu.Unlock()
	if !idle {
		r.findStrays(ctx)
	}
}

// requeueStrays queues strays again: jobs that this node claimed in a transaction whose
// commit was not answered. The attempt does not count. Only the goroutine that claims
// jobs may call it, because all its other claims are running then.
func (r *Runner) requeueStrays(ctx context.Context) {
	strays := r.findStrays(ctx)
	if len(strays) == 0 {
		return
	}
	var back []outcome
	err := r.db.Write(ctx, func(tx *store.Tx) error {
		back = back[:0]
		for _, o := range strays {
			recorded, err := record(ctx, tx, o) // false if it has ended since
			if err != nil {
				return err
			}
			if recorded {
				back = append(back, o)
			}
		}
		return nil
	})
	if err != nil {
		r.log.ErrorContext(ctx, "queueing stray jobs again", "error", err)
		return
	}
	for _, o := range back {
		r.log.WarnContext(ctx, "a job was claimed and not started; it is queued again", "kind", o.kind, "job", o.id)
		r.observe(o.kind, "stranded", 0)
	}
	if len(back) > 0 {
		r.wake()
	}
}

// findStrays compares the jobs that are running here according to their rows with those
// that do run. It interrupts the canceled ones. It returns those that do not run, as
// attempts that never happened. Jobs that have just ended may be among them.
func (r *Runner) findStrays(ctx context.Context) (strays []outcome) {
	var all []runningJob
	err := r.db.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = runningOn(ctx, tx, r.node.ID())
		return err
	})
	if err != nil {
		r.log.ErrorContext(ctx, "reading running jobs", "error", err)
		return nil
	}
	now := r.db.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range all {
		run := r.running[h.id]
		switch {
		case run == nil || run.job.node != h.node || run.job.started != h.started:
			strays = append(strays, outcome{claimedJob: h.claimedJob, status: Queued, runAt: now, attempts: h.attempts - 1, ended: now})
		case h.cancel:
			run.cancel(ErrCanceled)
		}
	}
	return strays
}
