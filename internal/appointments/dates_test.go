package appointments

import (
	"context"
	"testing"
	"time"

	"hale/internal/civil"
	"hale/internal/labs"
	"hale/internal/networks"
	"hale/internal/orders"
	"hale/internal/store"
	"hale/internal/users/userstest"
)

// From the visit on it is known when results are due.
//
// Reference 1.14.
func TestDatesOfResults(t *testing.T) {
	each(t, func(r *rig) {
		o := r.order(labs.AtHome, false)
		slot := r.slots(Phlebotomy)[0]
		d := r.booked(o, Phlebotomy, slot.Key)
		r.clock.turn(slot.End.Sub(r.DB.Now()) + time.Minute)
		if before := r.now(o); before.ExpectedBy != nil || before.WorstBy != nil {
			r.t.Errorf("before the draw: %v and %v", before.ExpectedBy, before.WorstBy)
		}
		r.says(o, networks.Visit{BookingID: d.ProviderID, Status: "completed", Start: slot.Start, End: slot.End})
		var common, worst *int
		userstest.Read(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error {
			facts, err := orders.Around(ctx, tx, r.team.ID, []orders.Order{o})
			common, worst = labs.TAT(facts[0].Markers)
			return err
		})
		now, day := r.now(o), civil.DateOf(slot.End.UTC())
		if now.Status != orders.DrawCompleted || now.CollectedAt == nil || now.ExpectedBy == nil || now.WorstBy == nil ||
			*now.ExpectedBy != day.AddDays(*common) || *now.WorstBy != day.AddDays(*worst) {
			r.t.Errorf("%s: collected at %v, results by %v, by %v at the latest", now.Full(), now.CollectedAt, now.ExpectedBy, now.WorstBy)
		}
	})
}

// A booking whose answer is still to come is settled, also when the order's
// account is not the team's to order under any more.
func TestSettledWithoutTheLinkToTheAccount(t *testing.T) {
	each(t, func(r *rig) {
		o := r.order(labs.AtHome, false)
		slot := r.slots(Phlebotomy)[0]
		r.agency.deaf = 1
		if _, err := r.book(o, Phlebotomy, slot.Key); err == nil {
			r.t.Fatal("the agency answered")
		}
		owner := userstest.Team(r.t, r.DB).ID
		userstest.Write(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error {
			id, err := labs.AddAccount(ctx, tx, labs.NewAccount{Owner: &owner, Lab: o.Lab, Status: labs.AccountActive, Flow: labs.NotDelegated, Number: "L-100"})
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `UPDATE orders SET account_id = $1 WHERE id = $2`, id, o.ID)
			return err
		})
		r.clock.turn(time.Minute)
		r.work()
		if n := r.agency.holds(o.ID); n != 0 {
			r.t.Errorf("%d slots stay booked", n)
		}
		r.check(o, Phlebotomy)
	})
}
