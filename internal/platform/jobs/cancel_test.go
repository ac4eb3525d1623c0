package jobs_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

func TestPeopleStopOnlyWhatIsCancelable(t *testing.T) {
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
			t.Errorf("what was promised: %v", err)
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
			t.Errorf("what is over: %v", err)
		}
	})
}

// A job that is canceled and asked for again while it runs is stopped, and its
// new order is carried out.
func TestAskedForAgainAfterACancel(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var runs atomic.Int32
		started := make(chan struct{})
		k := kind("test.again", func(ctx context.Context, run *jobs.Run) error {
			if runs.Add(1) == 1 {
				close(started)
				<-ctx.Done()
				return ctx.Err()
			}
			return run.Progress(ctx, 1, 1, "again") // asks whether it is to stop
		})
		id := enqueue(t, db, k, jobs.Options{Key: "a"})
		start(t, db, k)
		<-started
		err := db.Write(system, func(tx *store.Tx) error {
			_, err := jobs.Cancel(system, tx, uuid.Nil, id)
			if err != nil {
				return err
			}
			_, err = k.Enqueue(system, tx, nothing{}, jobs.Options{Key: "a"})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		becomes(t, db, uuid.Nil, id, jobs.Succeeded)
		if runs.Load() != 2 {
			t.Errorf("%d runs", runs.Load())
		}
	})
}

// The same when the node of the first order dies: the new one begins with
// nothing counted.
func TestAskedForAgainOnADeadNode(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		k := kind("test.again", func(ctx context.Context, run *jobs.Run) error {
			if run.Saved().Done != 0 {
				return errors.New("it goes on where the other order was")
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
			if j := becomes(t, db, uuid.Nil, id, jobs.Succeeded); j.Attempts != 1 {
				t.Errorf("%+v", j)
			}
		}
		if j := get(t, db, uuid.Nil, later); j.Status != jobs.Queued || j.RunAt.Sub(db.Now()) < 50*time.Minute {
			t.Errorf("asked for in an hour: %+v", j)
		}
	})
}

// A cancel that comes while the attempt fails of itself ends the job all the
// same: a queued job is never one that somebody canceled.
func TestACanceledJobIsNotTriedAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		k := kind("test.meanwhile", func(ctx context.Context, run *jobs.Run) error {
			err := run.DB().Write(ctx, func(tx *store.Tx) error { // unheard by the runner
				_, err := tx.Exec(ctx, `UPDATE jobs SET cancel = TRUE WHERE id = $1`, run.ID)
				return err
			})
			return errors.Join(err, errors.New("no luck"))
		})
		id := enqueue(t, db, k, jobs.Options{})
		start(t, db, k)
		if j := becomes(t, db, uuid.Nil, id, jobs.Canceled); j.FinishedAt == nil || j.Attempts != 1 {
			t.Errorf("%+v", j)
		}
	})
}
