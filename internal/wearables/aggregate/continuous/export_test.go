package continuous

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
)

var (
	// Backfill does the work of BackfillJob at once.
	Backfill = backfill
	// Reschedule does the work of RescheduleJob at once.
	Reschedule = reschedule
)

// ScheduleFill asks for a run of a query for a user, at once, as a walk over many
// users does.
func ScheduleFill(ctx context.Context, tx *store.Tx, team uuid.UUID, query ID, user users.ID) error {
	q, err := queryOf(ctx, tx, team, query)
	if err != nil {
		return err
	}
	return q.schedule(ctx, tx, FillJob, user, tx.Now())
}

// Begin starts a run in a job of its own. end computes and stores the result. It is nil
// if there is no work, or if the job has to wait.
func Begin(ctx context.Context, t *testing.T, db *store.DB, q Query, user users.User) (end func()) {
	t.Helper()
	end, _ = BeginFor(ctx, t, db, q, user, ids.FromUUID[jobs.Job](uuid.New()))
	return end
}

// BeginFor does the same as Begin for the given job. It also returns the time that the
// job has to wait. Then end is nil.
func BeginFor(ctx context.Context, t *testing.T, db *store.DB, q Query, user users.User, job jobs.ID) (end func(), wait time.Duration) {
	t.Helper()
	run, wait, err := begin(ctx, db, q.Team.UUID(), job, jobArgs{Query: q.ID, User: user.ID})
	if err != nil {
		t.Fatal(err)
	}
	if run == nil {
		return nil, wait
	}
	return func() {
		t.Helper()
		if err := db.Read(ctx, func(tx *store.Tx) error { return run.compute(ctx, tx) }); err != nil {
			t.Fatal(err)
		}
		if err := db.Write(ctx, func(tx *store.Tx) error { return run.finish(ctx, tx) }); err != nil {
			t.Fatal(err)
		}
	}, wait
}

// Compute begins a run and computes its rows, but does not store them.
func Compute(ctx context.Context, t *testing.T, db *store.DB, q Query, user users.User) error {
	t.Helper()
	run, _, err := begin(ctx, db, q.Team.UUID(), ids.FromUUID[jobs.Job](uuid.New()), jobArgs{Query: q.ID, User: user.ID})
	if err != nil || run == nil {
		t.Fatal("no run", err)
	}
	return db.Read(ctx, func(tx *store.Tx) error { return run.compute(ctx, tx) })
}

// LimitBytes bounds the bytes and the cells of results while a test runs.
func LimitBytes(t *testing.T, bytes, cells int) {
	bytesBefore, cellsBefore := mostBytes, mostCells
	mostBytes, mostCells = bytes, cells
	t.Cleanup(func() { mostBytes, mostCells = bytesBefore, cellsBefore })
}
