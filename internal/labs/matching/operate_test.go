package matching_test

import (
	"context"
	"testing"

	"hale/internal/labs/matching"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// decide makes a decision in a transaction of the team.
func (d desk) decide(fn func(ctx context.Context, tx *store.Tx) error) error {
	return d.db.Write(d.ctx(), func(tx *store.Tx) error { return fn(d.ctx(), tx) })
}

func (d desk) reviews(on bool) {
	d.t.Helper()
	d.team.Settings.ResultReviews = &on
	userstest.Write(d.t, d.db, func(ctx context.Context, tx *store.Tx) error { return teams.Update(ctx, tx, d.team) })
}

func (d desk) operatorAccepts(id matching.ID) (o orders.Order, err error) {
	err = d.decide(func(ctx context.Context, tx *store.Tx) (err error) {
		o, err = matching.OperatorAccept(ctx, tx, d.team.ID, id, matching.Choice{})
		return err
	})
	return o, err
}

func (d desk) handsBack(id matching.ID) error {
	return d.decide(func(ctx context.Context, tx *store.Tx) error {
		_, err := matching.HandBack(ctx, tx, d.team.ID, id, nil)
		return err
	})
}

// The operator decides what a team does not: an accepted result is the order's,
// a rejected one nobody's, and the team hears of the order only.
func TestOperatorDecides(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		d.reviews(false)
		o := d.order(orders.RequisitionCreated)
		good, bad := d.arrive(d.report(o)), d.arrive(d.report(o))
		got, err := d.operatorAccepts(good)
		if err != nil || got.ID != o.ID || got.Status != orders.Completed {
			t.Fatalf("accepted for %s, which is %s: %v", got.ID, got.Status, err)
		}
		d.read(func(tx *store.Tx) error {
			r, err := results.Get(d.ctx(), tx, &got, 0)
			if len(r.Results) == 0 {
				t.Error("the order has no results")
			}
			return err
		})
		note := "a sample of the lab itself"
		if err := d.decide(func(ctx context.Context, tx *store.Tx) error {
			_, err := matching.OperatorReject(ctx, tx, d.team.ID, bad, &note)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if i := d.get(bad); i.Status != matching.Resolved || i.Action != matching.Reject || i.Summary.Note != note {
			t.Errorf("rejected: %s, %s", i.Status, i.Action)
		}
		if _, err := d.operatorAccepts(bad); !fault.Is(err, fault.NotFound) {
			t.Errorf("accepted what was rejected: %v", err)
		}
		if err := d.handsBack(bad); !fault.Is(err, fault.Refused) {
			t.Errorf("left to a team that does not decide: %v", err)
		}
		if told := d.announced(); len(told) != 0 {
			t.Errorf("a team without a queue was told of %v", told)
		}
	})
}

// What waits for the operator when a team gets a queue of its own can be left
// to it; what a team was unsure of comes back to it, too.
func TestOperatorHandsBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		d.reviews(false)
		one, other := d.order(orders.RequisitionCreated), d.order(orders.RequisitionCreated)
		old := d.arrive(d.report(one))
		d.reviews(true)
		fresh := d.arrive(d.report(other))
		if _, err := d.operatorAccepts(fresh); !fault.Is(err, fault.NotFound) {
			t.Errorf("the operator decides what waits for the team: %v", err)
		}
		if _, err := d.resolve(fresh, matching.Unsure); err != nil {
			t.Fatal(err)
		}
		for id, order := range map[matching.ID]orders.ID{old: one.ID, fresh: other.ID} {
			if err := d.handsBack(id); err != nil {
				t.Fatal(err)
			}
			if i := d.get(id); i.Status != matching.ByTeam || i.Action != "" || i.ReviewedAt != nil || len(i.Actions()) != 3 {
				t.Errorf("handed back: %s, %s, %v", i.Status, i.Action, i.Actions())
			}
			if _, err := d.accept(id, matching.Choice{Order: &order}); err != nil {
				t.Errorf("the team cannot accept it: %v", err)
			}
		}
		if told := d.announced(); len(told) != 6 { // fresh: came, unsure, back, accepted; old: came, accepted
			t.Errorf("events %v", told)
		}
	})
}
