package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// off is a clock that is wrong.
func off(by time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(by) }
}

// However far the clocks of two nodes are apart: what a living node runs no
// other runs as well, and what a dead node ran is taken over in time.
func TestNodesWhoseClocksDiffer(t *testing.T) {
	for name, by := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			d := storetest.NewPostgres(t)
			wrong, right := d.Open(t, off(by)), d.Open(t, nil)
			var runs atomic.Int32
			k := kind("test.clocks", func(ctx context.Context, _ *jobs.Run) error {
				if runs.Add(1) == 1 {
					<-ctx.Done()
				}
				return context.Cause(ctx)
			})
			id := enqueue(t, right, k, jobs.Options{At: time.Now().Add(-2 * time.Hour)})
			first := startLeased(t, wrong, shortLease, k)
			becomes(t, right, uuid.Nil, id, jobs.Running)
			second := startLeased(t, right, shortLease, k)
			time.Sleep(2 * shortLease)
			if n := runs.Load(); n != 1 || first.membership.Peers() != 2 || second.membership.Peers() != 2 {
				t.Fatalf("%d runs; of %d and %d nodes", n, first.membership.Peers(), second.membership.Peers())
			}
			first.membership.Freeze()
			killed := time.Now()
			becomes(t, right, uuid.Nil, id, jobs.Succeeded)
			if took := time.Since(killed); took > shortLease+noticing {
				t.Errorf("taken over after %v", took)
			}
		})
	}
}

// A lease that ended without anybody's noticing goes on.
func TestALeaseThatNobodyMissed(t *testing.T) {
	db := storetest.Postgres(t)
	n, err := jobs.Join(system, db, shortLease, nil)
	if err != nil {
		t.Fatal(err)
	}
	lost, id := n.Lost(), n.ID()
	err = db.Write(system, func(tx *store.Tx) error { // as after the machine slept
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

func TestAClockThatIsWrongIsTold(t *testing.T) {
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
		n, err := jobs.Join(system, d.Open(t, off(test.by)), 0, slog.New(slog.NewTextHandler(&text, nil)))
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

// What an attempt writes after it lost its job is rolled back: another attempt
// does the same.
func TestADisplacedAttemptSavesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		displaced := make(chan struct{})
		saved := make(chan error, 1)
		k := kind("test.displaced", func(ctx context.Context, run *jobs.Run) error {
			<-displaced
			err := run.DB().Write(ctx, func(tx *store.Tx) error {
				if _, err := enqueued.Enqueue(ctx, tx, nothing{}, jobs.Options{}); err != nil {
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
		becomes(t, db, uuid.Nil, id, jobs.Running)
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
		time.Sleep(50 * time.Millisecond) // its outcome is recorded, if it were
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

var enqueued = jobs.Named[nothing]("test.enqueued")
