package matching_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/inbox"
	"hale/internal/labs/matching"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A report from the inbox belongs to the team, is judged in a job, and belongs
// to the user once it is accepted.
func TestFromTheInbox(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		queue := &matching.Queue{Log: discardLog(), Orders: orders.NewIndex()}
		box := &inbox.Service{DB: db, Log: discardLog(), Handlers: inbox.Handlers{Unmatched: queue}}
		r := d.report(o, func(r *networks.Report) {
			r.SampleID, r.Placer = o.SampleID, o.ID.String()
			r.Patient.LastName = "Lovelace"
		})
		ctx := store.AsSystem(t.Context())
		raw := []byte("MSH|canary of a raw message")
		for range 2 {
			if err := box.Put(ctx, networks.Message{Network: "sandboxlab", Key: "m-1", Raw: raw, Reports: []networks.Report{r}}); err != nil {
				t.Fatal(err)
			}
		}
		runJobs(t, db, append(queue.Jobs(), box.Job()))
		var page []matching.Item
		d.read(func(tx *store.Tx) (err error) {
			page, _, err = matching.List(d.ctx(), tx, d.team.ID, matching.Filter{Limit: 5})
			return err
		})
		if len(page) != 1 || page[0].Decision != matching.OtherPerson || page[0].Candidates[0].Kind != matching.Provenance {
			t.Fatalf("in the queue: %+v", page)
		}
		if _, err := d.accept(page[0].ID, matching.Choice{Order: &o.ID, ConfirmIdentity: true}); err != nil {
			t.Fatal(err)
		}
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			var id, team, user uuid.UUID
			var sealed []byte
			if err := tx.QueryRow(ctx, `SELECT id, team_id, user_id, raw FROM inbox_messages`).Scan(&id, &team, &user, &sealed); err != nil {
				return err
			}
			got, err := tx.Unseal(ctx, team, user, "inbox_messages.raw:"+id.String(), sealed)
			if !bytes.Equal(got, raw) {
				t.Error("the raw message is not what came")
			}
			return err
		})
		if n := count(t, db, `SELECT COUNT(*) FROM inbox_messages WHERE user_id = $1`, o.User); n != 1 {
			t.Errorf("%d messages are the user's", n)
		}
		eraseUser(t, db, d, o.User)
		for _, table := range []string{"unmatched_results", "unmatched_candidates", "inbox_messages", "inbox_reports"} {
			if n := count(t, db, `SELECT COUNT(*) FROM `+table); n != 0 {
				t.Errorf("%d rows of %s outlive the user", n, table)
			}
		}
	})
}

// A waiting result that can only be one user's is erased with the user. Others
// stay, without the user among their candidates.
func TestErasureOfACandidate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		theirs := d.receive(d.report(o))
		other := d.receive(d.report(o, func(r *networks.Report) {
			r.SampleID, r.Patient.FirstName, r.Patient.LastName = o.SampleID, "Grace", "Hopper"
		}))
		eraseUser(t, db, d, o.User)
		d.read(func(tx *store.Tx) error {
			if _, err := matching.Get(d.ctx(), tx, d.team.ID, theirs); !fault.Is(err, fault.NotFound) {
				t.Errorf("the user's result is still there: %v", err)
			}
			i, err := matching.Get(d.ctx(), tx, d.team.ID, other)
			if len(i.Candidates) != 0 || i.Summary == nil {
				t.Errorf("the other has %d candidates", len(i.Candidates))
			}
			return err
		})
		if n := count(t, db, `SELECT COUNT(*) FROM sealing_keys WHERE subject_id = $1`, theirs); n != 0 {
			t.Error("its key is still there")
		}
	})
}

// The content of a rejected result is deleted after its retention, but not the
// fact that there was one.
func TestRejectedIsForgotten(t *testing.T) {
	moment := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return moment }, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		rejected, waiting := d.receive(d.report(o)), d.receive(d.report(o))
		if _, err := d.resolve(rejected, matching.Reject); err != nil {
			t.Fatal(err)
		}
		for _, later := range []struct {
			after     time.Duration
			forgotten bool
		}{{0, false}, {time.Second, true}} {
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				_, err := matching.Forget(ctx, tx, tx.Now().Add(later.after))
				return err
			})
			i := d.get(rejected)
			if (i.Summary == nil) != later.forgotten || (len(i.Candidates) == 0) != later.forgotten || i.Status != matching.Resolved || i.Action != matching.Reject {
				t.Errorf("after %v: %v", later.after, i.Status)
			}
		}
		if i := d.get(waiting); i.Summary == nil {
			t.Error("one that waits was forgotten")
		}
		if n := count(t, db, `SELECT COUNT(*) FROM sealing_keys WHERE subject_id = $1`, rejected); n != 0 {
			t.Error("its key is still there")
		}
	})
}

func count(t *testing.T, db *store.DB, query string, args ...any) (n int) {
	t.Helper()
	userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error { return tx.QueryRow(ctx, query, args...).Scan(&n) })
	return n
}

// eraseUser deletes a user and moves past the grace period.
func eraseUser(t *testing.T, db *store.DB, d reviewFixture, user users.ID) {
	t.Helper()
	userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, d.team.ID, user) })
	endGrace(t, db, user)
}

// endGrace moves past the grace period of a deleted user, and erases the user.
func endGrace(t *testing.T, db *store.DB, user users.ID) {
	t.Helper()
	userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE users SET deleted_at = $2 WHERE user_id = $1`, user, tx.Now().Add(-users.Grace-time.Hour))
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE jobs SET run_at = $1 WHERE kind = 'users.erase'`, tx.Now())
		return err
	})
	runJobs(t, db, []jobs.Handler{users.EraseJob})
	if n := count(t, db, `SELECT COUNT(*) FROM users WHERE user_id = $1`, user); n != 0 {
		t.Fatal("the user is still there")
	}
}

// runJobs runs all jobs to their end.
func runJobs(t *testing.T, db *store.DB, kinds []jobs.Handler) {
	t.Helper()
	ctx, stop := context.WithCancel(store.AsSystem(t.Context()))
	node, err := jobs.Join(ctx, db, 0, discardLog())
	if err != nil {
		t.Fatal(err)
	}
	runner := jobs.NewRunner(db, jobs.Config{Node: node, Log: discardLog(), Kinds: kinds})
	done := make(chan error, 1)
	go func() { done <- runner.Run(ctx) }()
	if err := runner.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	stop()
	<-done
	if err := node.Leave(context.WithoutCancel(ctx)); err != nil {
		t.Fatal(err)
	}
}
