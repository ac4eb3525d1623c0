package inbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/inbox"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// texts counts the messages whose text is stored.
func (r *fixture) texts() int {
	return r.count(`SELECT COUNT(*) FROM inbox_messages WHERE LENGTH(raw) > 0`)
}

// erase erases the rows of a user in this package.
func (r *fixture) erase(user users.ID) {
	r.t.Helper()
	userstest.Write(r.t, r.db, func(ctx context.Context, tx *store.Tx) (err error) {
		for _, records := range inbox.UserRecords() {
			_, failed := records.Erase(ctx, tx, r.team, user)
			err = errors.Join(err, failed)
		}
		return err
	})
}

// The text of a message about two users is deleted with the first of them who is
// erased. This also applies while the report on the other user still waits.
func TestTheTextOfASharedMessageIsErased(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		first, second := r.order(catalogue.TestKit), r.order(catalogue.TestKit)
		about := func(o orders.Order) networks.Report {
			return networks.Report{Placer: o.ID.String(), Status: string(orders.TransitCustomer)}
		}
		r.put("alone", about(second))
		r.put("shared", about(first), about(second))
		r.put("waits", about(first), networks.Report{Placer: "unknown", SampleID: "X1", Lab: "nowhere", Results: &networks.ResultSet{}})
		r.work()
		r.settle()
		if n := r.texts(); n != 3 {
			t.Fatalf("%d texts", n)
		}
		r.erase(first.User)
		if n := r.texts(); n != 1 {
			t.Errorf("%d texts after the erasure of one user, want that of the other user's message", n)
		}
		if n := r.count(`SELECT COUNT(*) FROM inbox_reports WHERE user_id = $1`, second.User); n != 2 {
			t.Errorf("the other user has %d reports, want 2", n)
		}
		// The last report of the third message is assigned to a team later.
		var waiting uuid.UUID
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT id FROM inbox_reports WHERE user_id IS NULL`).Scan(&waiting)
		})
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			return inbox.Transfer(ctx, tx, waiting, r.team.UUID(), second.User.UUID())
		})
		r.erase(second.User)
		if n := r.count(`SELECT COUNT(*) FROM inbox_reports`) + r.texts(); n != 0 {
			t.Errorf("%d reports and texts are left", n)
		}
	})
}

// A message without a report has an end, and a repetition of it is recognized after
// that. A message whose report waits for an operator stays.
func TestTextsOfMessagesEnd(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		o := r.order(catalogue.TestKit)
		r.put("acknowledgement")
		r.put("owned", networks.Report{Placer: o.ID.String(), Status: string(orders.TransitCustomer)})
		r.put("waits", networks.Report{Placer: "unknown", SampleID: "X1", Lab: "nowhere", Results: &networks.ResultSet{}})
		r.work()
		r.settle()
		forget := func(age time.Duration) {
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				_, err := inbox.Forget(ctx, tx, tx.Now().Add(-age))
				return err
			})
		}
		forget(time.Hour)
		if n := r.texts(); n != 3 {
			t.Errorf("%d texts before the retention", n)
		}
		forget(-time.Second)
		if n := r.texts(); n != 2 {
			t.Errorf("%d texts after the retention, want 2", n)
		}
		r.put("acknowledgement")
		if n := r.count(`SELECT COUNT(*) FROM inbox_messages`); n != 3 {
			t.Errorf("%d messages after a repetition", n)
		}
	})
}

// A report without results that names no known order ends with its message. The report of
// another person's results stays, and so does the record that the message arrived.
func TestReportsWithoutResultsEnd(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		known := r.order(catalogue.TestKit)
		stranger := networks.ReportedPatient{FirstName: "Grace", LastName: "Hopper"}
		r.put("status", networks.Report{Placer: "unknown", SampleID: "X1", Lab: "nowhere", Patient: stranger, Status: string(orders.TransitLab)})
		r.put("wrong patient", networks.Report{Placer: known.ID.String(), Patient: stranger, Status: string(orders.TransitLab)})
		r.put("two", networks.Report{SampleID: "X2", Lab: "nowhere", Patient: stranger}, networks.Report{Placer: known.ID.String(), Status: string(orders.TransitCustomer)})
		r.put("waits", networks.Report{SampleID: "X3", Lab: "nowhere", Results: &networks.ResultSet{}}, networks.Report{SampleID: "X4", Lab: "nowhere"})
		r.work()
		r.settle()
		forget := func(age time.Duration) {
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				_, err := inbox.Forget(ctx, tx, tx.Now().Add(-age))
				return err
			})
		}
		forget(time.Hour)
		if reports, texts := r.count(`SELECT COUNT(*) FROM inbox_reports`), r.texts(); reports != 6 || texts != 4 {
			t.Errorf("%d reports and %d texts before the retention", reports, texts)
		}
		forget(-time.Second)
		if n := r.count(`SELECT COUNT(*) FROM inbox_reports WHERE user_id IS NULL`); n != 1 {
			t.Errorf("%d reports without an owner after the retention, want that of the operator", n)
		}
		if reports, texts := r.count(`SELECT COUNT(*) FROM inbox_reports`), r.texts(); reports != 2 || texts != 1 {
			t.Errorf("%d reports and %d texts after the retention", reports, texts)
		}
		r.put("status", networks.Report{Placer: "unknown", SampleID: "X1", Lab: "nowhere", Patient: stranger, Status: string(orders.TransitLab)})
		if n := r.count(`SELECT COUNT(*) FROM inbox_messages`); n != 4 {
			t.Errorf("%d messages after a repetition", n)
		}
	})
}

// A report without results that is not applied, but names the orders of one user only, is
// erased with the user. An erasure also ends reports without an owner of a shared message.
func TestReportsWithoutResultsAreErased(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		o := r.order(catalogue.TestKit)
		r.put("another lab", networks.Report{Placer: o.ID.String(), Lab: "another lab", Status: string(orders.TransitLab)})
		r.put("shared", networks.Report{Placer: o.ID.String(), Status: string(orders.TransitCustomer)}, networks.Report{SampleID: "X1", Lab: "nowhere"})
		r.work()
		r.settle()
		if n := r.count(`SELECT COUNT(*) FROM inbox_reports WHERE state = 'unmatched' AND user_id = $1`, o.User); n != 1 {
			t.Errorf("%d reports of another laboratory have an owner", n)
		}
		r.erase(o.User)
		if reports, texts := r.count(`SELECT COUNT(*) FROM inbox_reports`), r.texts(); reports != 0 || texts != 0 {
			t.Errorf("%d reports and %d texts after the erasure", reports, texts)
		}
	})
}
