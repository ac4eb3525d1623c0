package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
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

// Stopping interrupts the running jobs and queues them again. The next process resumes
// them at once from their saved progress, and the attempt does not count.
func TestStopRequeuesJobs(t *testing.T) {
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
		waitForStatus(t, db, uuid.Nil, id, jobs.Succeeded)
		if resumed.Load() != 7 {
			t.Errorf("resumed at %d", resumed.Load())
		}
	})
}

// After the death of a node, another node runs its job when the lease has ended, and
// not earlier. The first node can no longer record an outcome.
func TestAnotherNodeTakesOver(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var runs atomic.Int32
		k := kind("test.takeover", func(ctx context.Context, run *jobs.Run) error {
			if runs.Add(1) == 1 {
				time.Sleep(300 * time.Millisecond) // ignores its context, like a node that hangs
				return errors.New("too late")
			}
			return nil
		})
		id := enqueue(t, db, k, jobs.Options{})
		start(t, db, k)
		waitForStatus(t, db, uuid.Nil, id, jobs.Running)
		err := db.Write(system, func(tx *store.Tx) error {
			_, err := tx.Exec(system, `UPDATE nodes SET until = 0`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		start(t, db, k)
		j := waitForStatus(t, db, uuid.Nil, id, jobs.Succeeded)
		time.Sleep(400 * time.Millisecond)
		if again := get(t, db, uuid.Nil, id); again.Status != jobs.Succeeded || j.Attempts != 2 { // more than 2 where a slow machine loses a lease
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

// A run of a periodic job whose attempts have failed counts as failed, although the job
// is queued for its next run. Its error remains readable.
func TestAFailedRunOfAPeriodicJobIsReported(t *testing.T) {
	db := storetest.NewSQLite(t).Open(t, nil)
	membership, err := jobs.Join(system, db, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := make(chan string, 100)
	periodic := kind("test.periodic", func(context.Context, *jobs.Run) error { return jobs.Permanent(errors.New("no space")) }).Every(time.Hour)
	runner := jobs.NewRunner(db, jobs.Config{Node: membership, Kinds: []jobs.Handler{periodic}, Observe: func(kind, outcome string, _ time.Duration) {
		if kind == "test.periodic" {
			outcomes <- outcome
		}
	}})
	loop := jobstest.NewLoop(runner.Run)
	loop.Start(system)
	if got := <-outcomes; got != "failed" {
		t.Errorf("reported as %s", got)
	}
	if err := errors.Join(loop.Stop(system), membership.Stop(system)); err != nil {
		t.Error(err)
	}
	err = db.Read(system, func(tx *store.Tx) error {
		all, err := jobs.List(system, tx, uuid.Nil, jobs.Filter{Kinds: []string{"test.periodic"}, Limit: 10})
		if err == nil && (len(all) != 1 || all[0].Status != jobs.Queued || all[0].Error != "no space") {
			t.Errorf("%+v", all)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
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

// shortLease replaces DefaultLease. noticing is the difference between TakeOver and
// DefaultLease.
const (
	shortLease = 5 * time.Second
	noticeTime = time.Second
)

// stuckKind returns a kind whose first attempt does not end by itself. began is closed
// when that attempt runs.
func stuckKind(name string) (k jobs.Kind[noArguments], began chan struct{}) {
	began = make(chan struct{})
	var runs atomic.Int32
	return kind(name, func(ctx context.Context, _ *jobs.Run) error {
		if runs.Add(1) == 1 {
			close(began)
			<-ctx.Done()
		}
		return context.Cause(ctx)
	}), began
}

// The jobs of a killed node run on another node as soon as its lease has ended, and not
// earlier. On SQLite the next process takes them at once.
func TestJobsOfAKilledNodeRunAfterItsLease(t *testing.T) {
	if jobs.TakeOver != 15*time.Second || jobs.DefaultLease+noticeTime > jobs.TakeOver {
		t.Errorf("a lease of %v and a promise of %v", jobs.DefaultLease, jobs.TakeOver)
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		k, began := stuckKind("test.killed")
		id := enqueue(t, db, k, jobs.Options{})
		first := startLeased(t, db, shortLease, k)
		waitForStatus(t, db, uuid.Nil, id, jobs.Running)
		<-began // a job is marked as running shortly before its function starts
		least, most := time.Duration(0), shortLease
		if db.Engine() == store.Postgres {
			startLeased(t, db, shortLease, k) // joined before the kill
			time.Sleep(shortLease / 2)        // time for one or two renewals
			least, most = shortLease/2, jobs.TakeOver
		}
		first.membership.Freeze()
		killed := time.Now()
		startLeased(t, db, shortLease, k) // joined after the kill, before the lease ends
		j := waitForStatus(t, db, uuid.Nil, id, jobs.Succeeded)
		if took := time.Since(killed); took < least || took > most || j.Attempts != 2 {
			t.Errorf("took %v and %d attempts, want between %v and %v", took, j.Attempts, least, most)
		}
	})
}

// If a node leaves without queueing its jobs again, the other nodes notice it when they
// renew their leases.
func TestPeersNoticeALeavingNode(t *testing.T) {
	db := storetest.Postgres(t)
	other, err := jobs.Join(system, db, shortLease, nil)
	if err != nil {
		t.Fatal(err)
	}
	stays, err := jobs.Join(system, db, shortLease, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stays.Leave(system); err != nil {
			t.Error(err)
		}
	}()
	if n := stays.Peers(); n != 2 {
		t.Errorf("%d nodes", n)
	}
	lapsed := stays.Lapsed()
	if err := other.Leave(system); err != nil {
		t.Fatal(err)
	}
	select {
	case <-lapsed:
	case <-time.After(jobs.TakeOver):
		t.Error("not noticed")
	}
	if n := stays.Peers(); n != 1 {
		t.Errorf("%d nodes", n)
	}
}

// A node that cannot renew its lease for most of its length, because the node or the
// database hangs, keeps the lease.
func TestBlockedNodeKeepsItsLease(t *testing.T) {
	const lease = 10 * time.Second
	db := storetest.Postgres(t)
	busy, err := jobs.Join(system, db, lease, nil)
	if err != nil {
		t.Fatal(err)
	}
	looks, err := jobs.Join(system, db, lease, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, n := range []*jobs.Node{busy, looks} {
			if err := n.Leave(system); err != nil {
				t.Error(err)
			}
		}
	}()
	lost, lapsed := busy.Lost(), looks.Lapsed()
	err = db.Write(system, func(tx *store.Tx) error { // renewals wait for this transaction
		if _, err := tx.Exec(system, `UPDATE nodes SET started_at = started_at WHERE id = $1`, busy.ID()); err != nil {
			return err
		}
		time.Sleep(lease * 6 / 10)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(lease * 6 / 10)
	select {
	case <-lost:
		t.Error("the node lost its lease")
	case <-lapsed:
		t.Error("another node removed the node")
	default:
	}
}

// shiftedClock returns a clock with an error.
func shiftedClock(by time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(by) }
}

// The clocks of two nodes may differ by any amount. No other node runs the job of a
// living node, and another node takes over the jobs of a dead node in time.
func TestNodesWhoseClocksDiffer(t *testing.T) {
	for name, by := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			d := storetest.NewPostgres(t)
			wrong, right := d.Open(t, shiftedClock(by)), d.Open(t, nil)
			var runs atomic.Int32
			k := kind("test.clocks", func(ctx context.Context, _ *jobs.Run) error {
				if runs.Add(1) == 1 {
					<-ctx.Done()
				}
				return context.Cause(ctx)
			})
			id := enqueue(t, right, k, jobs.Options{At: time.Now().Add(-2 * time.Hour)})
			first := startLeased(t, wrong, shortLease, k)
			waitForStatus(t, right, uuid.Nil, id, jobs.Running)
			second := startLeased(t, right, shortLease, k)
			time.Sleep(2 * shortLease)
			if n := runs.Load(); n != 1 || first.membership.Peers() != 2 || second.membership.Peers() != 2 {
				t.Fatalf("%d runs; of %d and %d nodes", n, first.membership.Peers(), second.membership.Peers())
			}
			first.membership.Freeze()
			killed := time.Now()
			waitForStatus(t, right, uuid.Nil, id, jobs.Succeeded)
			if took := time.Since(killed); took > jobs.TakeOver {
				t.Errorf("taken over after %v", took)
			}
		})
	}
}

// A lease that ended unnoticed by the other nodes is extended.
func TestUnnoticedEndOfALease(t *testing.T) {
	db := storetest.Postgres(t)
	n, err := jobs.Join(system, db, shortLease, nil)
	if err != nil {
		t.Fatal(err)
	}
	lost, id := n.Lost(), n.ID()
	err = db.Write(system, func(tx *store.Tx) error { // as after a suspend of the machine
		_, err := tx.Exec(system, `UPDATE nodes SET until = 0`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-lost:
		t.Error("the node lost its lease")
	case <-time.After(shortLease):
	}
	if err := n.Leave(system); err != nil || n.ID() != id {
		t.Errorf("the node is %v, was %v: %v", n.ID(), id, err)
	}
}

func TestWrongClockIsLogged(t *testing.T) {
	for _, test := range []struct {
		by   time.Duration
		want string
	}{
		{0, ""},
		{500 * time.Millisecond, ""},
		{13 * time.Second, "database_ahead_by=-1"},
		{-13 * time.Second, "database_ahead_by=1"},
	} {
		d := storetest.NewPostgres(t)
		var text bytes.Buffer
		n, err := jobs.Join(system, d.Open(t, shiftedClock(test.by)), 0, slog.New(slog.NewTextHandler(&text, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Leave(system); err != nil {
			t.Fatal(err)
		}
		if got := text.String(); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("off by %v: %q", test.by, got)
		}
	}
}

// If an attempt has lost its job, its writes are rolled back, because another attempt
// does the same work.
func TestLostAttemptSavesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		displaced := make(chan struct{})
		saved := make(chan error, 1)
		k := kind("test.displaced", func(ctx context.Context, run *jobs.Run) error {
			<-displaced
			err := run.DB().Write(ctx, func(tx *store.Tx) error {
				if _, err := enqueuedKind.Enqueue(ctx, tx, noArguments{}, jobs.Options{}); err != nil {
					return err
				}
				return run.Save(ctx, tx, jobs.Progress{Done: 99})
			})
			if again := run.Progress(ctx, 100, 0, ""); !errors.Is(again, jobs.ErrLost) || !errors.Is(context.Cause(ctx), jobs.ErrLost) {
				t.Errorf("progress: %v; the context: %v", again, context.Cause(ctx))
			}
			saved <- err
			return err
		})
		id := enqueue(t, db, k, jobs.Options{})
		start(t, db, k)
		waitForStatus(t, db, uuid.Nil, id, jobs.Running)
		other := uuid.New()
		err := db.Write(system, func(tx *store.Tx) error {
			_, err := tx.Exec(system, `INSERT INTO nodes (id, until, started_at) VALUES ($1, $2, 0)`, other, int64(1)<<60)
			if err != nil {
				return err
			}
			_, err = tx.Exec(system, `UPDATE jobs SET node = $1, attempts = 2 WHERE id = $2`, other, id)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		close(displaced)
		if err := <-saved; !errors.Is(err, jobs.ErrLost) {
			t.Errorf("saving: %v", err)
		}
		time.Sleep(50 * time.Millisecond) // time to record the outcome, if it were recorded
		if j := get(t, db, uuid.Nil, id); j.Status != jobs.Running || j.Attempts != 2 || j.Progress.Done != 0 {
			t.Errorf("the job is %+v", j)
		}
		var n int
		err = db.Read(system, func(tx *store.Tx) error {
			return tx.QueryRow(system, `SELECT COUNT(*) FROM jobs WHERE kind = 'test.enqueued'`).Scan(&n)
		})
		if err != nil || n != 0 {
			t.Errorf("%d rows of the displaced attempt: %v", n, err)
		}
	})
}

var enqueuedKind = jobs.NewKind[noArguments]("test.enqueued")
