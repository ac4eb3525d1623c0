package jobs_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/jobs"
	"hale/internal/platform/jobs/jobstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// Stopping interrupts what runs and gives it back: the next process goes on at
// once, with what was saved, and the attempt does not count.
func TestStopGivesBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		started := make(chan struct{}, 1)
		var resumed atomic.Int64
		k := kind("test.stop", func(ctx context.Context, run *jobs.Run) error {
			if run.Saved().Done > 0 {
				resumed.Store(run.Saved().Done)
				return nil
			}
			err := run.DB().Write(ctx, func(tx *store.Tx) error { return run.Save(ctx, tx, jobs.Progress{Done: 7}) })
			if err != nil {
				return err
			}
			started <- struct{}{}
			<-ctx.Done()
			return context.Cause(ctx)
		})
		id := enqueue(t, db, k, jobs.Options{})
		membership, err := jobs.Join(system, db, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		loop := jobstest.NewLoop(jobs.NewRunner(db, jobs.Config{Node: membership, Kinds: []jobs.Handler{k}}).Run)
		loop.Start(system)
		<-started
		if err := errors.Join(loop.Stop(system), membership.Leave(system)); err != nil {
			t.Fatal(err)
		}
		if j := get(t, db, uuid.Nil, id); j.Status != jobs.Queued || j.Attempts != 0 || j.Progress.Done != 7 {
			t.Fatalf("after the stop: %+v", j)
		}
		start(t, db, k)
		becomes(t, db, uuid.Nil, id, jobs.Succeeded)
		if resumed.Load() != 7 {
			t.Errorf("resumed at %d", resumed.Load())
		}
	})
}

// A job whose node died is run by another, once the lease is over and not
// before, and its first node no longer has a say.
func TestAnotherNodeTakesOver(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var runs atomic.Int32
		k := kind("test.takeover", func(ctx context.Context, run *jobs.Run) error {
			if runs.Add(1) == 1 {
				time.Sleep(300 * time.Millisecond) // deaf to its context, as a stuck node is
				return errors.New("too late")
			}
			return nil
		})
		id := enqueue(t, db, k, jobs.Options{})
		start(t, db, k)
		becomes(t, db, uuid.Nil, id, jobs.Running)
		err := db.Write(system, func(tx *store.Tx) error {
			_, err := tx.Exec(system, `UPDATE nodes SET until = 0`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		start(t, db, k)
		j := becomes(t, db, uuid.Nil, id, jobs.Succeeded)
		time.Sleep(400 * time.Millisecond)
		if again := get(t, db, uuid.Nil, id); again.Status != jobs.Succeeded || j.Attempts != 2 {
			t.Errorf("in the end %s after %d attempts", again.Status, j.Attempts)
		}
	})
}

func TestPeriodic(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var runs atomic.Int32
		k := kind("test.periodic", func(context.Context, *jobs.Run) error {
			if runs.Add(1) == 2 {
				return jobs.Permanent(errors.New("once"))
			}
			return nil
		}).Every(20 * time.Millisecond)
		start(t, db, k)
		start(t, db, k) // a second runner adds no second job
		for deadline := time.Now().Add(time.Minute); runs.Load() < 4; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("ran %d times", runs.Load())
			}
		}
		var n int
		err := db.Read(system, func(tx *store.Tx) error {
			return tx.QueryRow(system, `SELECT COUNT(*) FROM jobs WHERE kind = 'test.periodic'`).Scan(&n)
		})
		if err != nil || n != 1 {
			t.Errorf("%d jobs, %v", n, err)
		}
	})
}

func TestConcurrencyOfAKind(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var mu sync.Mutex
		now, most := 0, 0
		k := kind("test.concurrency", func(context.Context, *jobs.Run) error {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(5 * time.Millisecond)
			mu.Lock()
			now--
			mu.Unlock()
			return nil
		}).With(jobs.Limits{Concurrency: 3})
		for range 20 {
			enqueue(t, db, k, jobs.Options{})
		}
		n := start(t, db, k)
		if err := n.Settle(system); err != nil {
			t.Fatal(err)
		}
		if most != 3 {
			t.Errorf("%d at once, want 3", most)
		}
	})
}
