package results

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// OrderResults is an order with its latest results.
type OrderResults struct {
	Order orders.Order
	Revision
}

// OfUser returns the latest results of each of a user's orders, oldest order first.
func OfUser(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) ([]OrderResults, error) {
	rows, err := tx.Query(ctx, `SELECT order_id FROM lab_results WHERE team_id = $1 AND user_id = $2 AND revision = 1`, team, user)
	if err != nil {
		return nil, fmt.Errorf("results: reading the results of a user: %w", err)
	}
	defer rows.Close()
	var found []orders.ID
	for rows.Next() {
		var id orders.ID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("results: reading the results of a user: %w", err)
		}
		found = append(found, id)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("results: reading the results of a user: %w", err)
	}
	slices.SortFunc(found, func(a, b orders.ID) int { return bytes.Compare(a[:], b[:]) }) // by age
	all := make([]OrderResults, 0, len(found))
	for _, id := range found {
		o, err := orders.Get(ctx, tx, team, id)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		r, err := Get(ctx, tx, &o, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, OrderResults{o, r})
	}
	return all, nil
}
