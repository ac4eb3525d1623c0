package results_test

import (
	"context"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// Everything is erased with the user, and nothing of another user.
func TestErasure(t *testing.T) {
	now := morning
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		now = morning
		b := newFixture(t, db, catalogue.WalkIn)
		whole := networks.ResultSet{Results: b.all("F"), PDF: []byte("%PDF-1.7")}
		b.report(1, whole)
		gone := b.order.User
		b.orderAgain(catalogue.WalkIn)
		b.report(2, whole)
		rows := func(user users.ID, want int) {
			t.Helper()
			for _, table := range []string{"lab_reports", "lab_report_documents", "lab_results"} {
				var n int
				b.read(func(tx *store.Tx) error {
					return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM `+table+` WHERE user_id = $1`, user).Scan(&n)
				})
				if n != want {
					t.Errorf("%s has %d rows, want %d", table, n, want)
				}
			}
		}
		rows(gone, 1)
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, b.team.ID, gone) })
		now = now.Add(users.Grace + time.Second)
		erase(t, db)
		rows(gone, 0)
		rows(b.order.User, 1)
	})
}

// erase runs the job that erases users.
func erase(t *testing.T, db *store.DB) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	node, err := jobs.Join(ctx, db, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended, done := make(chan string, 100), make(chan error)
	runner := jobs.NewRunner(db, jobs.Config{
		Node: node, Kinds: []jobs.Handler{users.EraseJob},
		Observe: func(kind, outcome string, _ time.Duration) {
			if kind == users.EraseJob.Name() {
				ended <- outcome
			}
		},
	})
	go func() { done <- runner.Run(ctx) }()
	select {
	case outcome := <-ended:
		if outcome != "succeeded" {
			t.Errorf("the job %s", outcome)
		}
	case <-time.After(90 * time.Second):
		t.Error("no job was due")
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
