package orders

import (
	"context"
	"fmt"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	return []users.Records{{Name: "orders", Erase: erase, OnReturn: resume}}
}

// IsHeld reports whether an order waits because its user is deleted. Nothing is sent for
// the order until resume. An order that the lab has is not held, except for a kit that is
// still to ship.
func IsHeld(ctx context.Context, tx *store.Tx, o *Order) (bool, error) {
	if o.Status.HasRequisition() && !awaitsShipping(o) {
		return false, nil
	}
	return isUserDeleted(ctx, tx, o)
}

// RefuseHeld returns a Refused fault for an order that waits because its user is deleted.
func RefuseHeld(ctx context.Context, tx *store.Tx, o *Order) error {
	held, err := IsHeld(ctx, tx, o)
	if err == nil && held {
		err = fault.New(fault.Refused, "The user is deleted, and the order waits: undo the deletion first").WithType("order_held")
	}
	return err
}

func isUserDeleted(ctx context.Context, tx *store.Tx, o *Order) (bool, error) {
	err := users.Exists(ctx, tx, o.Team, o.User)
	if fault.Is(err, fault.NotFound) {
		return true, nil
	}
	return false, err
}

// heldQuery selects the orders of a user that no lab has yet, or whose kit may be to ship.
var heldQuery = `SELECT id FROM orders WHERE team_id = $1 AND user_id = $2
	AND status IN (` + unplacedStatuses() + `, '` + string(RequisitionCreated) + `', '` + string(RequisitionBypassed) + `')`

// resume enqueues what a restored user's orders still have to send. Networks ignore
// duplicates.
func resume(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
	held, err := ListHeld(ctx, tx, team, user)
	if err != nil {
		return err
	}
	for i := range held {
		o := &held[i]
		if o.awaitsPlacing() {
			err = dispatch(ctx, tx, o)
		} else if awaitsShipping(o) && o.Network != SandboxNetwork {
			err = enqueueJob(ctx, tx, shipKind, o, time.Time{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ListHeld returns the orders of a user that wait while the user is deleted.
func ListHeld(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (all []Order, err error) {
	found, err := idsOf(ctx, tx, heldQuery, team, user)
	if err != nil {
		return nil, err
	}
	for _, id := range found {
		o, err := Get(ctx, tx, team, id)
		if err != nil {
			return nil, err
		}
		if !o.Status.HasRequisition() || awaitsShipping(&o) {
			all = append(all, o)
		}
	}
	return all, nil
}

// eraseAtOnce is the number of orders that one transaction erases.
const eraseAtOnce = 50

// erase deletes orders of a user and records the change for the indexes. A
// transaction is deleted with its last order.
func erase(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (more bool, err error) {
	all, err := idsOf(ctx, tx, `SELECT id FROM orders WHERE team_id = $1 AND user_id = $2 LIMIT $3`, team, user, eraseAtOnce)
	if err != nil || len(all) == 0 {
		return false, err
	}
	change, err := stamp(ctx, tx, team)
	if err != nil {
		return false, err
	}
	for _, id := range all {
		for _, query := range []string{
			`DELETE FROM order_events WHERE team_id = $1 AND order_id = $2`,
			`DELETE FROM order_reports WHERE team_id = $1 AND order_id = $2`,
			`DELETE FROM order_numbers WHERE team_id = $1 AND order_id = $2`,
			`DELETE FROM order_past WHERE team_id = $1 AND order_id = $2`,
			`INSERT INTO order_erasures (team_id, order_id, change) VALUES ($1, $2, ` + change + `)`,
			`DELETE FROM order_transactions WHERE team_id = $1 AND id = (SELECT o.transaction_id FROM orders o WHERE o.team_id = $1 AND o.id = $2)
				AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.team_id = $1 AND o.transaction_id = order_transactions.id AND o.id <> $2)`,
			`DELETE FROM orders WHERE team_id = $1 AND id = $2`,
		} {
			if _, err := tx.Exec(ctx, query, team, id); err != nil {
				return false, fmt.Errorf("orders: erasing: %w", err)
			}
		}
	}
	return len(all) == eraseAtOnce, nil
}

func idsOf(ctx context.Context, tx *store.Tx, query string, args ...any) ([]ID, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("orders: reading ids: %w", err)
	}
	defer rows.Close()
	var all []ID
	for rows.Next() {
		var id ID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		all = append(all, id)
	}
	return all, rows.Err()
}
