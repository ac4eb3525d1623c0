package orders

import (
	"context"
	"fmt"

	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Load stores orders of one team as they are, each in a transaction of its own
// and with one row of history, for moving in from elsewhere: nothing is checked,
// announced or placed. An order needs everything but its identifiers. A few
// hundred at once are quickest.
func Load(ctx context.Context, tx *store.Tx, all []Order) error {
	if len(all) == 0 {
		return nil
	}
	change, err := stamped(ctx, tx, all[0].Team)
	if err != nil {
		return err
	}
	var b store.Batch
	for i := range all {
		if err := all[i].load(ctx, tx, &b, change); err != nil {
			return err
		}
	}
	if err := tx.Run(ctx, &b); err != nil {
		return fmt.Errorf("orders: loading: %w", err)
	}
	return nil
}

func (o *Order) load(ctx context.Context, tx *store.Tx, b *store.Batch, change int64) error {
	o.ID, o.Transaction, o.Details = ids.From[Order](tx.NewUUID()), ids.From[Transaction](tx.NewUUID()), tx.NewUUID()
	row, err := o.row(ctx, tx)
	if err != nil {
		return err
	}
	status := statusOf([]Member{{Status: o.Status, Method: o.Method}})
	b.Insert(nil, `INSERT INTO order_transactions (team_id, id, status, created_at, updated_at)`,
		[]any{o.Team, o.Transaction, string(status), o.CreatedAt, o.UpdatedAt}, ``)
	b.Insert(nil, `INSERT INTO orders (`+columns+`, names, change)`, append(row, change), ``)
	b.Insert(nil, `INSERT INTO order_events (team_id, order_id, status, created_at)`, []any{o.Team, o.ID, string(o.Status), o.StatusAt}, ``)
	return nil
}

// stamped is the number that changes of this transaction have, after counting
// one.
func stamped(ctx context.Context, tx *store.Tx, team teams.ID) (n int64, err error) {
	expression, err := stamp(ctx, tx, team)
	if err != nil {
		return 0, err
	}
	query, args := `SELECT `+expression, []any{team}
	if tx.Engine() == store.Postgres {
		args = nil
	}
	if err := tx.QueryRow(ctx, query, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("orders: asking for the number of a change: %w", err)
	}
	return n, nil
}
