package orders

import (
	"context"
	"fmt"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	return []users.Records{{Name: "orders", Erase: erase}}
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
