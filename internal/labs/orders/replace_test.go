package orders_test

import (
	"context"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// An order that went to the wrong lab is replaced. The old order is cancelled
// and withdrawn. The new order is in the same transaction, and its account is
// chosen again. A repeated call returns the same order.
func TestReplaceForTheRightLab(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		replace := func(id orders.ID, r orders.Replacement) (next orders.Order, already bool, err error) {
			err = db.Write(store.WithTeam(t.Context(), team.ID.UUID()), func(tx *store.Tx) (err error) {
				next, already, err = orders.Replace(t.Context(), tx, team.ID, id, r)
				return err
			})
			return next, already, err
		}
		other := orderstest.Test(t, db, team.ID, catalogue.OnSite) // at another lab than the walk-in test
		answers := orderstest.Answers(t, db, team.ID, other)
		var lab int64
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			offered, err := catalogue.Load(ctx, tx, team.ID)
			if err != nil {
				return err
			}
			crl, _ := offered.LabBySlug("crl")
			lab = crl.ID
			return nil
		})
		o := orderstest.New(t, db, team.ID, catalogue.WalkIn)
		orderstest.MoveTo(t, db, &o, orders.RequisitionCreated)
		for _, bad := range []struct {
			r    orders.Replacement
			kind fault.Kind
		}{
			{orders.Replacement{Reason: "BORED"}, fault.Invalid},
			{orders.Replacement{Reason: orders.IncorrectLab, Test: &unknownID}, fault.NotFound},
			{orders.Replacement{Reason: orders.IncorrectLab, Test: &other.ID, Account: &o.Account}, fault.Refused}, // of the first lab
		} {
			if _, _, err := replace(o.ID, bad.r); !fault.Is(err, bad.kind) {
				t.Errorf("%+v: %v", bad.r, err)
			}
		}
		next, already, err := replace(o.ID, orders.Replacement{Reason: orders.IncorrectLab, Test: &other.ID, Answers: answers})
		if err != nil || already || next.Lab != lab || next.Account == o.Account || next.LabTest != other.ID || next.Method != catalogue.OnSite ||
			next.Origin != orders.Recreation || next.Parent == nil || *next.Parent != o.ID || next.Transaction != o.Transaction || next.SampleID != "" ||
			next.Status != orders.Ordered || next.Body.Patient.LastName != o.Body.Patient.LastName || len(next.Body.Answers) < len(answers) {
			t.Fatalf("%v, %v: %+v", err, already, next)
		}
		again, already, err := replace(o.ID, orders.Replacement{Reason: orders.IncorrectLab})
		if err != nil || !already || again.ID != next.ID {
			t.Errorf("repeated: %v, %v, %s", err, already, again.ID)
		}
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			old, err := orders.Get(ctx, tx, team.ID, o.ID)
			if old.Status != orders.Cancelled {
				t.Errorf("the old order is %s", old.Status)
			}
			if err != nil {
				return err
			}
			page := make([]orders.Order, 30) // more than one statement
			for i := range page {
				page[i] = []orders.Order{old, next}[i%2]
			}
			facts, err := orders.ReadFacts(ctx, tx, team.ID, page)
			if err == nil && len(facts[0].Transaction.Members) != 2 {
				t.Errorf("in a list, the transaction of two orders has %d", len(facts[0].Transaction.Members))
			}
			return err
		})
		checkOrder(t, db, next)

		cancelled := orderstest.New(t, db, team.ID, catalogue.WalkIn)
		orderstest.MoveTo(t, db, &cancelled, orders.Cancelled)
		if same, _, err := replace(cancelled.ID, orders.Replacement{Reason: orders.IncorrectLab}); err != nil || same.LabTest != cancelled.LabTest || len(same.Body.Answers) != len(cancelled.Body.Answers) {
			t.Errorf("a cancelled order: %v", err)
		}
		completed := orderstest.New(t, db, team.ID, catalogue.WalkIn)
		orderstest.MoveTo(t, db, &completed, orders.Completed)
		kit := orderstest.Kit(t, db, team.ID)
		for name, id := range map[string]orders.ID{"completed": completed.ID, "an unregistered kit": kit.ID} {
			if _, _, err := replace(id, orders.Replacement{Reason: orders.IncorrectLab}); !fault.Is(err, fault.Refused) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, _, err := replace(ids.MustParse[orders.Order]("019f0000-0000-7000-8000-000000000000"), orders.Replacement{Reason: orders.IncorrectLab}); !fault.Is(err, fault.NotFound) {
			t.Errorf("unknown: %v", err)
		}
	})
}
