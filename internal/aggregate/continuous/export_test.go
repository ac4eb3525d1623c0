package continuous

import (
	"context"
	"testing"

	"hale/internal/store"
	"hale/internal/users"
)

var (
	// Backfill does what BackfillJob does, at once.
	Backfill = backfill
	// Reschedule does what RescheduleJob does, at once.
	Reschedule = reschedule
)

// Begin starts a run as Job does and gives what is left of it to do; nil when
// there is nothing.
func Begin(ctx context.Context, t *testing.T, db *store.DB, q Query, user users.User) (end func()) {
	t.Helper()
	run, err := begin(ctx, db, q.Team.UUID(), jobArgs{Query: q.ID, User: user.ID})
	if err != nil {
		t.Fatal(err)
	}
	if run == nil {
		return nil
	}
	return func() {
		t.Helper()
		if err := db.Read(ctx, func(tx *store.Tx) error { return run.compute(ctx, tx) }); err != nil {
			t.Fatal(err)
		}
		if err := db.Write(ctx, func(tx *store.Tx) error { return run.finish(ctx, tx) }); err != nil {
			t.Fatal(err)
		}
	}
}
