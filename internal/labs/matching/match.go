package matching

import (
	"context"
	"fmt"

	"hale/internal/labs/inbox"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Match judges a result that has arrived. It looks for candidates in a reading
// transaction, and judges them anew where it writes, since they may have moved.
// review keeps even what is beyond doubt in the queue.
func Match(ctx context.Context, db *store.DB, team teams.ID, id ID, review bool) error {
	var likely []orders.ID
	err := db.Read(ctx, func(tx *store.Tx) error {
		likely = nil
		_, r, err := arrived(ctx, tx, team, id)
		if err != nil {
			return err
		}
		found, err := find(ctx, tx, team, incomingOf(r))
		if err != nil {
			return err
		}
		among, err := look(ctx, tx, team, found)
		if err != nil {
			return err
		}
		for _, c := range judge(incomingOf(r), among).Candidates {
			likely = append(likely, c.Order)
		}
		return nil
	})
	if err == nil {
		err = db.Write(ctx, func(tx *store.Tx) error { return settle(ctx, tx, team, id, likely, review) })
	}
	if fault.Is(err, fault.NotFound) { // judged before, or erased
		return nil
	}
	return err
}

// arrived reads a result that waits to be judged.
func arrived(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Item, networks.Report, error) {
	i, err := read(ctx, tx, team, id)
	if err == nil && i.Status != Arrived {
		err = notThere()
	}
	if err != nil {
		return Item{}, networks.Report{}, err
	}
	r, err := i.report(ctx, tx)
	return i, r, err
}

// settle gives a result to its order, or puts it into the queue.
func settle(ctx context.Context, tx *store.Tx, team teams.ID, id ID, likely []orders.ID, review bool) error {
	i, r, err := arrived(ctx, tx, team, id)
	if err != nil {
		return err
	}
	among, err := look(ctx, tx, team, likely)
	if err != nil {
		return err
	}
	v := judge(incomingOf(r), among)
	i.Decision, i.AccountDiffers, i.Candidates, i.UpdatedAt = v.Decision, v.AccountDiffers, v.Candidates, tx.Now()
	if v.Safe != nil && !review {
		o, err := orders.Get(ctx, tx, team, *v.Safe)
		if err != nil {
			return err
		}
		i.Status = Matched
		return record(ctx, tx, &i, Arrived, &o, r)
	}
	of, err := teams.Get(ctx, tx, team)
	if err != nil {
		return err
	}
	i.Status = ByOps
	if of.ReviewsResults() {
		i.Status = ByTeam
	}
	if err := save(ctx, tx, &i, Arrived, true); err != nil {
		return err
	}
	if err := setCandidates(ctx, tx, &i); err != nil {
		return err
	}
	if i.Status != ByTeam {
		return nil
	}
	return announce(ctx, tx, &i, CreatedEvent)
}

// record makes a report the result of an order. What the queue keeps of it is
// from then on sealed with the key of the order's user, and goes with them.
func record(ctx context.Context, tx *store.Tx, i *Item, from Status, o *orders.Order, r networks.Report) error {
	if r.Results == nil {
		return fmt.Errorf("matching: the report %s has no results", i.ID)
	}
	a := results.Arrival{Key: i.Key, At: r.At, SampleID: r.SampleID, Account: r.Account, Set: *r.Results}
	if err := results.Take(ctx, tx, o, a); err != nil {
		return err
	}
	alone := i.subject()
	i.User, i.Order = &o.User, &o.ID
	if err := inbox.Give(ctx, tx, i.ID.UUID(), i.Team.UUID(), o.User.UUID()); err != nil {
		return err
	}
	if err := save(ctx, tx, i, from, false); err != nil {
		return err
	}
	return tx.Shred(ctx, i.Team.UUID(), alone)
}
