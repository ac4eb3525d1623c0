package app

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"hale/internal/platform/store"
)

const (
	// verifyShare is the ratio of a pause to the reading before it: the verification reads
	// during at most a tenth of the time.
	verifyShare = 10
	// verifyPause is the least time between two parts.
	verifyPause = 2 * time.Second
	// damageRepeat is the time after which the log names known damage again.
	damageRepeat = time.Hour
)

// verification reads the whole database in the background, again and again, so that
// damage is noticed although no request reads those pages.
type verification struct {
	damaged atomic.Bool
	passes  atomic.Int64 // complete passes
}

// detail describes damage on /readyz. The node stays ready: most requests succeed.
func (v *verification) detail() string {
	if v.damaged.Load() {
		return "pages of the database are damaged: see the log and hale docs playbook"
	}
	return ""
}

func (a *App) watchDamage() {
	a.Metrics.Gauge("database_damaged", "1 after damaged pages of the database were found, until a pass finds none.", func() float64 {
		if a.verification.damaged.Load() {
			return 1
		}
		return 0
	})
	a.Metrics.Gauge("database_verified_passes", "How often this node has read the whole database to find damage.", func() float64 { return float64(a.verification.passes.Load()) })
	a.workers.add("verifying the database", func(ctx context.Context) error {
		system, logged := store.AsSystem(ctx), map[string]time.Time{}
		for ctx.Err() == nil {
			a.verifyOnce(system, logged)
		}
		return nil
	})
}

// verifyOnce makes one pass. logged has the parts whose damage is known.
func (a *App) verifyOnce(ctx context.Context, logged map[string]time.Time) {
	found := false
	check := func(part string, err error) {
		if !errors.Is(err, store.ErrDamaged) {
			if err != nil && ctx.Err() == nil {
				a.Log.WarnContext(ctx, "the database cannot be verified", "part", part, "error", err)
			}
			return
		}
		found = true
		a.verification.damaged.Store(true)
		if time.Since(logged[part]) >= damageRepeat {
			logged[part] = time.Now()
			a.Log.ErrorContext(ctx, "the database is damaged; run hale doctor, and see Repair a damaged database in hale docs playbook", "part", part, "error", err)
		}
	}
	parts, err := a.DB.VerifiedParts(ctx)
	check("list of tables", err)
	for _, part := range parts {
		began := time.Now()
		check(part, a.DB.Verify(ctx, part))
		sleep(ctx, max(verifyPause, verifyShare*time.Since(began)))
	}
	if err != nil {
		sleep(ctx, time.Minute)
	}
	if ctx.Err() == nil {
		a.verification.passes.Add(1)
		a.verification.damaged.Store(found)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
