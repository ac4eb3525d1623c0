package sandboxlab

import (
	"context"
	"errors"

	"hale/internal/labs/labclock"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	all := users.RowsOf("sandbox_orders", "sandbox_steps", "sandbox_bookings")
	all[0].OnReturn = resume
	return all
}

// errHeld means that the step is not run, because the order waits for its deleted user.
var errHeld = errors.New("sandboxlab: the user of the order is deleted")

// hold deletes the plan of an order that waits for its deleted user. resume plans the
// order again.
func (l *Lab) hold(ctx context.Context, team teams.ID, order orders.ID) error {
	err := l.DB.Write(ctx, func(tx *store.Tx) error { return deletePlan(ctx, tx, team, order) })
	if err != nil {
		return err
	}
	return errHeld
}

// resume plans the orders of a restored user again, from now. An order that no step was
// due for keeps its plan. The next advance runs the steps.
func resume(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
	held, err := orders.ListHeld(ctx, tx, team, user)
	if err != nil || len(held) == 0 {
		return err
	}
	now, err := labclock.TimeOf(ctx, tx, team)
	if err != nil {
		return err
	}
	for i := range held {
		o := &held[i]
		planned, err := PlannedSteps(ctx, tx, team, &o.ID, 1)
		if err != nil {
			return err
		}
		if len(planned) > 0 {
			continue
		}
		var fresh bool
		scheduled := o.ActivateBy != nil && o.ActivateBy.After(orders.Today(now))
		if o.Network == orders.SandboxNetwork && !o.Status.HasRequisition() && !scheduled {
			fresh, err = acceptFrom(ctx, tx, o, now, now)
		}
		if err == nil && !fresh {
			err = replanAccepted(ctx, tx, o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
