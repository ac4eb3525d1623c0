package appointments

import (
	"context"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
)

// After the visit the dates of the results are known.
//
// Reference 1.14.
func TestResultDates(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		o := r.order(catalogue.AtHome, false)
		slot := r.slots(Phlebotomy)[0]
		d := r.booked(o, Phlebotomy, slot.Key)
		r.clock.Advance(slot.End.Sub(r.DB.Now()) + time.Minute)
		if before := r.now(o); before.ExpectedBy != nil || before.WorstBy != nil {
			r.t.Errorf("before the draw: %v and %v", before.ExpectedBy, before.WorstBy)
		}
		r.reportVisit(o, networks.Visit{BookingID: d.ProviderID, Status: "completed", Start: slot.Start, End: slot.End})
		var common, worst *int
		userstest.Read(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error {
			facts, err := orders.ReadFacts(ctx, tx, r.team.ID, []orders.Order{o})
			common, worst = catalogue.TAT(facts[0].Markers)
			return err
		})
		now, day := r.now(o), civil.DateOf(slot.End.UTC())
		if now.Status != orders.DrawCompleted || now.CollectedAt == nil || now.ExpectedBy == nil || now.WorstBy == nil ||
			*now.ExpectedBy != day.AddDays(*common) || *now.WorstBy != day.AddDays(*worst) {
			r.t.Errorf("%s: collected at %v, results by %v, by %v at the latest", now.Full(), now.CollectedAt, now.ExpectedBy, now.WorstBy)
		}
	})
}

// The end of a visit does not replace a time of collection that is known
// already.
func TestCollectionTimeBeforeTheVisitEnds(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		o := r.order(catalogue.AtHome, false)
		slot := r.slots(Phlebotomy)[0]
		d := r.booked(o, Phlebotomy, slot.Key)
		r.clock.Advance(slot.End.Sub(r.DB.Now()) + time.Minute)
		written := slot.End.Add(-20 * time.Minute)
		r.setCollected(o, written)
		r.reportVisit(o, networks.Visit{BookingID: d.ProviderID, Status: "completed", Start: slot.Start, End: slot.End})
		if now := r.now(o); now.Status != orders.DrawCompleted || now.CollectedAt == nil || !now.CollectedAt.Equal(written) {
			r.t.Errorf("%s: collected at %v, want %v", now.Full(), now.CollectedAt, written)
		}
	})
}

// setCollected sets the time of collection of an order's sample.
func (r *fixture) setCollected(o orders.Order, at time.Time) {
	r.t.Helper()
	userstest.Write(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, r.team.ID, o.ID)
		if err != nil {
			return err
		}
		return orders.Amend(ctx, tx, &o, func(o *orders.Order) { o.SetStatedCollection(networks.Moment{Time: at}, time.Time{}, nil, nil) })
	})
}

// A visit that was not booked here gives the time of the draw as well, also
// one to a service center, which moves no order. The time on the sample counts
// for more.
func TestCollectionTimeOfVisitsBookedElsewhere(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		end := noon.Add(-3 * time.Hour)
		foreign := networks.Visit{BookingID: "of another laboratory", Status: "completed", Start: end.Add(-time.Hour), End: end}
		ahead := foreign
		ahead.End = noon.Add(24 * time.Hour)
		for name, c := range map[string]struct {
			method orders.Method
			visit  networks.Visit
			moved  bool
			stated time.Time // written on the sample, known before
			want   time.Time // zero: the present
		}{
			"at home":                    {catalogue.AtHome, foreign, true, time.Time{}, end},
			"at home, with a sample":     {catalogue.AtHome, foreign, true, end.Add(-time.Minute), end.Add(-time.Minute)},
			"at home, ahead of time":     {catalogue.AtHome, ahead, true, time.Time{}, time.Time{}},
			"at a service center":        {catalogue.WalkIn, foreign, false, time.Time{}, end},
			"at a center, with a sample": {catalogue.WalkIn, foreign, false, end.Add(-time.Minute), end.Add(-time.Minute)},
		} {
			o := r.order(c.method, false)
			before := r.now(o).Status
			if !c.stated.IsZero() {
				r.setCollected(o, c.stated)
			}
			r.reportVisit(o, c.visit)
			now := r.now(o)
			if moved := now.Status == orders.DrawCompleted; moved != c.moved || !moved && now.Status != before {
				r.t.Errorf("%s: the order has the status %s", name, now.Full())
			}
			if c.want.IsZero() {
				c.want = now.UpdatedAt
			}
			if now.CollectedAt == nil || now.CollectedAt.Sub(c.want).Abs() > time.Second {
				r.t.Errorf("%s: collected at %v, want %v", name, now.CollectedAt, c.want)
			}
		}
	})
}

// A booking without an answer is settled even if the team can no longer order
// under the order's account.
func TestSettleAfterAccountIsUnlinked(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		o := r.order(catalogue.AtHome, false)
		slot := r.slots(Phlebotomy)[0]
		r.agency.deaf = 1
		if _, err := r.book(o, Phlebotomy, slot.Key); err == nil {
			r.t.Fatal("the agency answered")
		}
		owner := userstest.Team(r.t, r.DB).ID
		userstest.Write(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error {
			id, err := catalogue.AddAccount(ctx, tx, catalogue.NewAccount{Owner: &owner, Lab: o.Lab, Status: catalogue.AccountActive, Flow: catalogue.NotDelegated, Number: "L-100"})
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `UPDATE orders SET account_id = $1 WHERE id = $2`, id, o.ID)
			return err
		})
		r.clock.Advance(time.Minute)
		r.work()
		if n := r.agency.holds(o.ID); n != 0 {
			r.t.Errorf("%d slots stay booked", n)
		}
		r.check(o, Phlebotomy)
	})
}
