package jobs

import (
	"context"

	"hale/internal/platform/store"
)

// sweep rescues jobs of dead nodes, and those of this one that do not run, and
// looks at what waits.
func (r *Runner) sweep(ctx context.Context) {
	var n int64
	err := r.db.Write(ctx, func(tx *store.Tx) (err error) {
		n, err = rescue(ctx, tx)
		return err
	})
	if err != nil {
		r.log.ErrorContext(ctx, "sweeping jobs", "error", err)
	}
	for range n {
		r.observe("", "stranded", 0)
	}
	r.giveBackStrays(ctx)
	r.noticeDue(ctx)
}

// stopCanceled interrupts running jobs that somebody canceled.
func (r *Runner) stopCanceled(ctx context.Context) {
	r.mu.Lock()
	idle := len(r.running) == 0
	r.mu.Unlock()
	if !idle {
		r.compare(ctx)
	}
}

// giveBackStrays queues again what was claimed here without this node's
// knowing, by a transaction whose commit was not answered. The attempt does not
// count. Only the goroutine that claims may call it: whatever else that one has
// claimed runs by then.
func (r *Runner) giveBackStrays(ctx context.Context) {
	strays := r.compare(ctx)
	if len(strays) == 0 {
		return
	}
	var back []outcome
	err := r.db.Write(ctx, func(tx *store.Tx) error {
		back = back[:0]
		for _, o := range strays {
			was, err := record(ctx, tx, o) // not what has ended since
			if err != nil {
				return err
			}
			if was {
				back = append(back, o)
			}
		}
		return nil
	})
	if err != nil {
		r.log.ErrorContext(ctx, "giving back jobs", "error", err)
		return
	}
	for _, o := range back {
		r.log.WarnContext(ctx, "a job was claimed and not begun; it is queued again", "kind", o.kind, "job", o.id)
		r.observe(o.kind, "stranded", 0)
	}
	if len(back) > 0 {
		r.wake()
	}
}

// compare holds what the database has as running here against what runs. What
// somebody canceled is interrupted. What does not run is returned, as an
// attempt that never was; what ended just now may be among it.
func (r *Runner) compare(ctx context.Context) (strays []outcome) {
	var all []held
	err := r.db.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = heldBy(ctx, tx, r.node.ID())
		return err
	})
	if err != nil {
		r.log.ErrorContext(ctx, "looking at running jobs", "error", err)
		return nil
	}
	now := r.db.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range all {
		run := r.running[h.id]
		switch {
		case run == nil || run.job.node != h.node || run.job.started != h.started:
			strays = append(strays, outcome{claimed: h.claimed, status: Queued, runAt: now, attempts: h.attempts - 1, ended: now})
		case h.cancel:
			run.cancel(ErrCanceled)
		}
	}
	return strays
}
