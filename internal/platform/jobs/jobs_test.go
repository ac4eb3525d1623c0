package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/jobs/jobstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

func TestJobRuns(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		type args struct{ Name string }
		team := uuid.New()
		k := jobs.Define("test.run", func(ctx context.Context, run *jobs.Run, a args) error {
			if a.Name != "x" || run.Team != team || run.Attempt != 1 {
				return fmt.Errorf("got %+v, %+v", a, run)
			}
			return run.Progress(ctx, 3, 4, "steps")
		})
		var id jobs.ID
		err := db.Write(system, func(tx *store.Tx) (err error) {
			id, err = k.Enqueue(system, tx, args{"x"}, jobs.Options{Team: team})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		start(t, db, k)
		j := waitForStatus(t, db, team, id, jobs.Succeeded)
		if j.Attempts != 1 || j.Progress != (jobs.Progress{Done: 3, Total: 4, Note: "steps"}) || j.FinishedAt == nil {
			t.Errorf("%+v", j)
		}
		err = db.Read(system, func(tx *store.Tx) error {
			_, err := jobs.Get(system, tx, uuid.New(), id)
			return err
		})
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("another team's job: %v", err)
		}
	})
}

func TestRolledBackJobNeverRuns(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var runs atomic.Int32
		k := kind("test.rollback", func(context.Context, *jobs.Run) error { runs.Add(1); return nil })
		n := start(t, db, k)
		err := db.Write(system, func(tx *store.Tx) error {
			_, err := k.Enqueue(system, tx, noArguments{}, jobs.Options{})
			return errors.Join(err, errors.New("changed my mind"))
		})
		if err == nil {
			t.Fatal("committed")
		}
		if err := n.Settle(system); err != nil {
			t.Fatal(err)
		}
		if runs.Load() != 0 {
			t.Error("ran")
		}
	})
}

// Settle also waits for the jobs that a running job enqueues.
func TestSettleWaitsForFollowUps(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var runs atomic.Int32
		last := kind("test.last", func(context.Context, *jobs.Run) error { runs.Add(1); return nil })
		first := kind("test.first", func(ctx context.Context, run *jobs.Run) error {
			return run.DB().Write(ctx, func(tx *store.Tx) error {
				_, err := last.Enqueue(ctx, tx, noArguments{}, jobs.Options{})
				return err
			})
		})
		kinds := []jobs.Handler{last}
		for i := range 20 { // a read of each kind would take longer than the first job
			kinds = append(kinds, kind(fmt.Sprint("test.other_", i), func(context.Context, *jobs.Run) error { return nil }))
		}
		n := start(t, db, append(kinds, first)...)
		for round := range int32(50) {
			enqueue(t, db, first, jobs.Options{})
			if err := n.Settle(system); err != nil {
				t.Fatal(err)
			}
			if got := runs.Load(); got != round+1 {
				t.Fatalf("%d of %d follow-up jobs ran", got, round+1)
			}
		}
	})
}

// A key has at most one queued or running job. Enqueueing it again does nothing while
// it is queued, and makes it run once more while it runs.
func TestKeys(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var runs atomic.Int32
		started, release := make(chan struct{}, 10), make(chan struct{})
		k := kind("test.key", func(context.Context, *jobs.Run) error {
			runs.Add(1)
			started <- struct{}{}
			<-release
			return nil
		})
		first := enqueue(t, db, k, jobs.Options{Key: "a"})
		if again := enqueue(t, db, k, jobs.Options{Key: "a"}); again != first {
			t.Error("a second job has the key")
		}
		n := start(t, db, k)
		<-started
		for range 3 {
			if again := enqueue(t, db, k, jobs.Options{Key: "a"}); again != first {
				t.Error("a second job has the key of a running one")
			}
		}
		close(release)
		if err := n.Settle(system); err != nil {
			t.Fatal(err)
		}
		waitForStatus(t, db, uuid.Nil, first, jobs.Succeeded)
		if runs.Load() != 2 {
			t.Errorf("ran %d times, want 2", runs.Load())
		}
		if later := enqueue(t, db, k, jobs.Options{Key: "a"}); later == first {
			t.Error("the key of an ended job is not free")
		}
	})
}

func TestFailures(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		failing := kind("test.fail", func(context.Context, *jobs.Run) error { return errors.New("no luck") })
		permanent := kind("test.permanent", func(context.Context, *jobs.Run) error { return jobs.Permanent(errors.New("never")) })
		panicking := kind("test.panic", func(context.Context, *jobs.Run) error { panic("patient Anna") })
		last := enqueue(t, db, failing, jobs.Options{MaxAttempts: 1})
		first := enqueue(t, db, failing, jobs.Options{})
		never := enqueue(t, db, permanent, jobs.Options{})
		panics := enqueue(t, db, panicking, jobs.Options{MaxAttempts: 1})
		began := db.Now()
		start(t, db, failing, permanent, panicking)
		if j := waitForStatus(t, db, uuid.Nil, last, jobs.Failed); j.Error != "no luck" {
			t.Errorf("error %q", j.Error)
		}
		waitForStatus(t, db, uuid.Nil, never, jobs.Failed)
		if j := waitForStatus(t, db, uuid.Nil, panics, jobs.Failed); j.Error == "" || j.Error == "patient Anna" {
			t.Errorf("error %q", j.Error)
		}
		for deadline := time.Now().Add(time.Minute); get(t, db, uuid.Nil, first).Attempts == 0 && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		j := waitForStatus(t, db, uuid.Nil, first, jobs.Queued)
		if wait := j.RunAt.Sub(db.Now()); j.Attempts != 1 || j.RunAt.Sub(began) < 8*time.Second || wait > 12*time.Second {
			t.Errorf("after one failure: %d attempts, again in %v", j.Attempts, wait)
		}
	})
}

func TestCancel(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		started := make(chan struct{})
		k := kind("test.cancel", func(ctx context.Context, _ *jobs.Run) error {
			close(started)
			<-ctx.Done()
			return ctx.Err()
		})
		running := enqueue(t, db, k, jobs.Options{})
		queued := enqueue(t, db, k, jobs.Options{At: db.Now().Add(time.Hour)})
		start(t, db, k)
		<-started
		for _, id := range []jobs.ID{running, queued} {
			err := db.Write(system, func(tx *store.Tx) error {
				live, err := jobs.Cancel(system, tx, uuid.Nil, id)
				if !live {
					return errors.New("not live")
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			waitForStatus(t, db, uuid.Nil, id, jobs.Canceled)
		}
	})
}

func TestLaterCountsNoAttempt(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var runs atomic.Int32
		k := kind("test.later", func(context.Context, *jobs.Run) error {
			if runs.Add(1) < 4 {
				return jobs.RetryLater(time.Millisecond)
			}
			return nil
		})
		id := enqueue(t, db, k, jobs.Options{MaxAttempts: 1})
		start(t, db, k)
		if j := waitForStatus(t, db, uuid.Nil, id, jobs.Succeeded); j.Attempts != 1 || runs.Load() != 4 {
			t.Errorf("%d attempts counted, %d made", j.Attempts, runs.Load())
		}
	})
}

// During a rolling upgrade, a job that an old node cannot run waits for a new one. It loses
// no attempt.
func TestJobWaitsForANewerNode(t *testing.T) {
	db := storetest.Postgres(t)
	var runs atomic.Int32
	k := kind("test.newer", func(ctx context.Context, _ *jobs.Run) error {
		defer runs.Add(1)
		return db.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE teams SET dropped_later = 1`)
			return err
		})
	})
	err := db.Write(system, func(tx *store.Tx) error {
		_, err := tx.Exec(system, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, TRUE)`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	id := enqueue(t, db, k, jobs.Options{MaxAttempts: 1})
	start(t, db, k)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		j := get(t, db, uuid.Nil, id)
		if runs.Load() > 0 && j.Status != jobs.Running {
			if j.Status != jobs.Queued || j.Attempts != 0 {
				t.Errorf("the job is %s after %d attempts: %s", j.Status, j.Attempts, j.Error)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the job is %s", j.Status)
		}
	}
}

func TestLaterIsNotLogged(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var runs atomic.Int32
		k := kind("test.waits", func(context.Context, *jobs.Run) error {
			if runs.Add(1) < 3 {
				return jobs.RetryLater(time.Millisecond)
			}
			return nil
		})
		node, err := jobs.Join(system, db, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		runner := jobs.NewRunner(db, jobs.Config{Node: node, Kinds: []jobs.Handler{k}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		loop := jobstest.NewLoop(runner.Run)
		loop.Start(system)
		waitForStatus(t, db, uuid.Nil, enqueue(t, db, k, jobs.Options{}), jobs.Succeeded)
		if err := errors.Join(loop.Stop(system), node.Stop(system)); err != nil {
			t.Error(err)
		}
		if log.Len() > 0 {
			t.Errorf("a job that waited twice is logged: %s", &log)
		}
	})
}

func TestBackoff(t *testing.T) {
	for n, want := range map[int]time.Duration{1: 10 * time.Second, 2: 20 * time.Second, 5: 160 * time.Second, 11: 10240 * time.Second, 12: 6 * time.Hour, 99: 6 * time.Hour} {
		if got := jobs.Backoff(n, 0); got != want {
			t.Errorf("after %d failures %v, want %v", n, got, want)
		}
		if got := jobs.Backoff(n, 0.999); got > want+want/10 {
			t.Errorf("after %d failures at most %v", n, got)
		}
	}
}

func TestBatcher(t *testing.T) {
	var mu sync.Mutex
	var sizes []int
	b := jobs.NewBatcher(10, time.Millisecond, func(group []int) {
		mu.Lock()
		defer mu.Unlock()
		sizes = append(sizes, len(group))
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 100 {
				b.Add(i)
			}
		})
	}
	wg.Wait()
	b.Close()
	total := 0
	for _, n := range sizes {
		total += n
		if n > 10 {
			t.Errorf("a group of %d", n)
		}
	}
	if total != 800 {
		t.Errorf("%d items came out of 800", total)
	}
}

func TestListing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := uuid.New()
		a, b := kind("test.a", nil), kind("test.b", nil)
		var made []jobs.ID
		for i := range 5 {
			k := a
			if i == 2 {
				k = b
			}
			made = append(made, enqueue(t, db, k, jobs.Options{Team: team}))
		}
		enqueue(t, db, a, jobs.Options{Team: uuid.New()})
		list := func(f jobs.Filter) (all []jobs.Job) {
			err := db.Read(system, func(tx *store.Tx) (err error) {
				all, err = jobs.List(system, tx, team, f)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		if all := list(jobs.Filter{Limit: 2}); len(all) != 2 || all[0].ID != made[4] || all[1].ID != made[3] {
			t.Errorf("the newest two: %+v", all)
		}
		if all := list(jobs.Filter{Limit: 9, Before: made[3]}); len(all) != 3 {
			t.Errorf("%d before the fourth", len(all))
		}
		if all := list(jobs.Filter{Limit: 9, Kinds: []string{"test.b"}}); len(all) != 1 || all[0].ID != made[2] {
			t.Errorf("of kind b: %+v", all)
		}
		if all := list(jobs.Filter{Limit: 9, Statuses: []jobs.Status{jobs.Running}}); len(all) != 0 {
			t.Errorf("%d are running", len(all))
		}
		err := db.Write(system, func(tx *store.Tx) error {
			_, err := tx.Exec(system, `UPDATE jobs SET status = 'failed', finished_at = 1 WHERE id = $1`, made[1])
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if all := list(jobs.Filter{Limit: 9, Statuses: []jobs.Status{jobs.Failed}}); len(all) != 1 || all[0].ID != made[1] {
			t.Errorf("failed: %+v", all)
		}
		if all := list(jobs.Filter{Limit: 9, Statuses: []jobs.Status{jobs.Failed}, Kinds: []string{"test.b"}}); len(all) != 0 {
			t.Errorf("%d of kind b failed", len(all))
		}
		several := jobs.Filter{Limit: 9, Statuses: []jobs.Status{jobs.Failed, jobs.Queued, jobs.Running}, Kinds: []string{"test.b", "test.a"}}
		if all := list(several); len(all) != 5 || all[0].ID != made[4] {
			t.Errorf("%d of both kinds, in three states", len(all))
		}
	})
}

// The death of a node counts less than a failure. But a job that always crashes its
// node fails eventually.
func TestDeathOfANodeCountsLess(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		k := kind("test.orphan", func(context.Context, *jobs.Run) error { return nil })
		orphan := func(attempts int) jobs.ID {
			id := enqueue(t, db, k, jobs.Options{MaxAttempts: 2})
			err := db.Write(system, func(tx *store.Tx) error {
				_, err := tx.Exec(system, `UPDATE jobs SET status = 'running', node = $1, attempts = $2 WHERE id = $3`, uuid.New(), attempts, id)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		unlucky, deadly := orphan(5), orphan(6)
		start(t, db, k)
		waitForStatus(t, db, uuid.Nil, unlucky, jobs.Succeeded)
		waitForStatus(t, db, uuid.Nil, deadly, jobs.Failed)
	})
}

func TestProgressIsCountedIn64Bits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		far := jobs.Progress{Done: 3 << 30, Total: 5 << 30, Note: "bytes"}
		k := kind("test.far", func(ctx context.Context, run *jobs.Run) error {
			return run.Progress(ctx, far.Done, far.Total, far.Note)
		})
		id := enqueue(t, db, k, jobs.Options{})
		start(t, db, k)
		if j := waitForStatus(t, db, uuid.Nil, id, jobs.Succeeded); j.Progress != far {
			t.Errorf("%+v", j.Progress)
		}
	})
}

// An outcome that the database refuses does not block the outcomes of other jobs, and
// its job ends with the right status.
func TestRefusedOutcome(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		refuse := `CREATE TRIGGER refuse BEFORE UPDATE ON jobs WHEN NEW.progress_note = 'refused' BEGIN SELECT RAISE(ABORT, 'refused'); END`
		if db.Engine() == store.Postgres {
			refuse = `ALTER TABLE jobs ADD CONSTRAINT refuse CHECK (progress_note <> 'refused')`
		}
		err := db.Write(system, func(tx *store.Tx) error {
			_, err := tx.Exec(system, refuse)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		odd := kind("test.odd", func(ctx context.Context, run *jobs.Run) error { return run.Progress(ctx, 1, 2, "refused") })
		plain := kind("test.plain", func(context.Context, *jobs.Run) error { return nil })
		first := enqueue(t, db, odd, jobs.Options{})
		n := start(t, db, odd, plain)
		waitForStatus(t, db, uuid.Nil, enqueue(t, db, plain, jobs.Options{}), jobs.Succeeded)
		j := waitForStatus(t, db, uuid.Nil, first, jobs.Succeeded)
		if j.Error == "" || j.Progress != (jobs.Progress{}) || j.FinishedAt == nil {
			t.Errorf("%+v", j)
		}
		if err := n.Settle(system); err != nil {
			t.Fatal(err)
		}
	})
}

func TestErrorWithNULIsStored(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		k := kind("test.nul", func(context.Context, *jobs.Run) error { return errors.New("a\x00b\xff") })
		id := enqueue(t, db, k, jobs.Options{MaxAttempts: 1})
		start(t, db, k)
		if j := waitForStatus(t, db, uuid.Nil, id, jobs.Failed); j.Error != "ab" {
			t.Errorf("error %q", j.Error)
		}
	})
}

func TestStopNeedsACancelableKind(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := uuid.New()
		promised := kind("test.promised", nil)
		open := kind("test.open", nil).Cancelable()
		stop := func(team uuid.UUID, id jobs.ID) (j jobs.Job, err error) {
			err = db.Write(system, func(tx *store.Tx) error {
				j, err = jobs.Stop(system, tx, team, id)
				return err
			})
			return j, err
		}
		fixed, free := enqueue(t, db, promised, jobs.Options{Team: team}), enqueue(t, db, open, jobs.Options{Team: team})
		if _, err := stop(team, fixed); !fault.Is(err, fault.Conflict) {
			t.Errorf("not cancelable: %v", err)
		}
		if j := get(t, db, team, fixed); j.Status != jobs.Queued || j.Cancelable {
			t.Errorf("%+v", j)
		}
		if _, err := stop(uuid.New(), free); !fault.Is(err, fault.NotFound) {
			t.Errorf("another team's: %v", err)
		}
		if j, err := stop(team, free); err != nil || j.Status != jobs.Canceled || !j.Cancelable {
			t.Errorf("%v, %+v", err, j)
		}
		if _, err := stop(team, free); !fault.Is(err, fault.Conflict) {
			t.Errorf("ended job: %v", err)
		}
	})
}

// A running job that is canceled and then enqueued again stops and runs again.
func TestEnqueueAfterCancel(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var runs atomic.Int32
		started := make(chan struct{})
		k := kind("test.again", func(ctx context.Context, run *jobs.Run) error {
			if runs.Add(1) == 1 {
				close(started)
				<-ctx.Done()
				return ctx.Err()
			}
			return run.Progress(ctx, 1, 1, "again") // checks whether it must stop
		})
		id := enqueue(t, db, k, jobs.Options{Key: "a"})
		start(t, db, k)
		<-started
		err := db.Write(system, func(tx *store.Tx) error {
			_, err := jobs.Cancel(system, tx, uuid.Nil, id)
			if err != nil {
				return err
			}
			_, err = k.Enqueue(system, tx, noArguments{}, jobs.Options{Key: "a"})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		waitForStatus(t, db, uuid.Nil, id, jobs.Succeeded)
		if runs.Load() != 2 {
			t.Errorf("%d runs", runs.Load())
		}
	})
}

// If the node of the canceled attempt dies, the new run also starts with no attempts
// counted.
func TestEnqueueAfterCancelOnADeadNode(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		k := kind("test.again", func(ctx context.Context, run *jobs.Run) error {
			if run.Saved().Done != 0 {
				return errors.New("the progress of the canceled attempt was kept")
			}
			return run.Progress(ctx, 1, 1, "again")
		})
		orphan := func(cancel bool, at time.Duration) jobs.ID {
			id := enqueue(t, db, k, jobs.Options{MaxAttempts: 1, At: db.Now().Add(at)})
			err := db.Write(system, func(tx *store.Tx) error {
				_, err := tx.Exec(system, `UPDATE jobs SET status = 'running', node = $1, attempts = 9, progress_done = 7, again = TRUE, cancel = $2 WHERE id = $3`,
					uuid.New(), cancel, id)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		canceled, exhausted, later := orphan(true, 0), orphan(false, 0), orphan(true, time.Hour)
		start(t, db, k)
		for _, id := range []jobs.ID{canceled, exhausted} {
			if j := waitForStatus(t, db, uuid.Nil, id, jobs.Succeeded); j.Attempts != 1 {
				t.Errorf("%+v", j)
			}
		}
		if j := get(t, db, uuid.Nil, later); j.Status != jobs.Queued || j.RunAt.Sub(db.Now()) < 50*time.Minute {
			t.Errorf("enqueued for in an hour: %+v", j)
		}
	})
}

// If a job is canceled while its attempt fails, it ends as canceled. A queued job is
// never a canceled one.
func TestCanceledJobIsNotRetried(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		k := kind("test.meanwhile", func(ctx context.Context, run *jobs.Run) error {
			err := run.DB().Write(ctx, func(tx *store.Tx) error { // without notifying the runner
				_, err := tx.Exec(ctx, `UPDATE jobs SET cancel = TRUE WHERE id = $1`, run.ID)
				return err
			})
			return errors.Join(err, errors.New("no luck"))
		})
		id := enqueue(t, db, k, jobs.Options{})
		start(t, db, k)
		if j := waitForStatus(t, db, uuid.Nil, id, jobs.Canceled); j.FinishedAt == nil || j.Attempts != 1 {
			t.Errorf("%+v", j)
		}
	})
}

// Waiting counts the due jobs that have not started, by kind, with the age of the
// oldest. It counts neither jobs for later nor running jobs.
func TestWaiting(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		busy := kind("test.busy", func(ctx context.Context, _ *jobs.Run) error { <-ctx.Done(); return ctx.Err() })
		idle := kind("test.idle", func(context.Context, *jobs.Run) error { return nil })
		for range 5 {
			enqueue(t, db, busy, jobs.Options{At: db.Now().Add(-time.Hour)})
		}
		enqueue(t, db, busy, jobs.Options{At: db.Now().Add(-time.Minute)})
		enqueue(t, db, busy, jobs.Options{At: db.Now().Add(time.Hour)})
		n := start(t, db, busy, idle)
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
			waiting := n.Waiting()
			if w := waiting["test.busy"]; w.Jobs == 6 && w.Oldest >= time.Hour && w.Oldest < 2*time.Hour {
				if _, known := waiting["test.idle"]; !known || waiting["test.idle"] != (jobs.WaitingJobs{}) {
					t.Errorf("of a kind without waiting jobs: %+v", waiting)
				}
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("waiting: %+v", waiting)
			}
		}
		for deadline := time.Now().Add(time.Minute); n.Waiting()["test.busy"].Jobs != 4; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("two run, and waiting are %+v", n.Waiting())
			}
		}
	})
}
