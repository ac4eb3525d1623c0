package orders

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// statusOf is what a transaction is when its orders are where they are: active
// while more is expected of any, cancelled when all were, else completed.
//
// Reference 1.7.
func statusOf(members []Member) TransactionStatus {
	cancelled := true
	for _, m := range members {
		if !m.Status.Terminal() {
			return TransactionActive
		}
		cancelled = cancelled && m.Status.Stage(m.Method) == StageCancelled
	}
	if cancelled {
		return TransactionCancelled
	}
	return TransactionCompleted
}

// begin makes the transaction of an initial order.
func begin(ctx context.Context, tx *store.Tx, team teams.ID) (TransactionID, error) {
	id := ids.From[Transaction](tx.NewUUID())
	_, err := tx.Exec(ctx, `INSERT INTO order_transactions (team_id, id, status, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)`,
		team, id, string(TransactionActive), store.Micros(tx.Now()))
	if err != nil {
		return TransactionID{}, fmt.Errorf("orders: beginning a transaction: %w", err)
	}
	return id, nil
}

// settle computes a transaction's status anew after one of its orders moved.
// The first statement makes other orders of it wait, so that the members read
// by the second are the last word.
func settle(ctx context.Context, tx *store.Tx, team teams.ID, id TransactionID) error {
	var before TransactionStatus
	err := tx.QueryRow(ctx, `UPDATE order_transactions SET updated_at = $3 WHERE team_id = $1 AND id = $2 RETURNING status`,
		team, id, store.Micros(tx.Now())).Scan(&before)
	if err != nil {
		return fmt.Errorf("orders: settling transaction %s: %w", id, err)
	}
	members, err := readMembers(ctx, tx, team, id)
	if err != nil {
		return err
	}
	if status := statusOf(members); status != before {
		_, err = tx.Exec(ctx, `UPDATE order_transactions SET status = $3 WHERE team_id = $1 AND id = $2`, team, id, string(status))
	}
	if err != nil {
		return fmt.Errorf("orders: settling transaction %s: %w", id, err)
	}
	return nil
}

// lockTransaction makes other changes of a transaction wait.
func lockTransaction(ctx context.Context, tx *store.Tx, team teams.ID, id TransactionID) error {
	_, err := tx.Exec(ctx, `UPDATE order_transactions SET updated_at = $3 WHERE team_id = $1 AND id = $2`, team, id, store.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("orders: locking transaction %s: %w", id, err)
	}
	return nil
}

// GetTransaction returns a transaction of the team with its orders, or a
// NotFound fault.
//
// Reference 1.14, GET /v3/order_transaction/{transaction_id}.
func GetTransaction(ctx context.Context, tx *store.Tx, team teams.ID, id TransactionID) (Transaction, error) {
	t := Transaction{ID: id, Team: team}
	err := tx.QueryRow(ctx, `SELECT status, created_at, updated_at FROM order_transactions WHERE team_id = $1 AND id = $2`, team, id).
		Scan(&t.Status, store.ScanTime(&t.CreatedAt), store.ScanTime(&t.UpdatedAt))
	if errors.Is(err, store.ErrNoRows) {
		return Transaction{}, fault.New(fault.NotFound, "Order transaction not found")
	}
	if err != nil {
		return Transaction{}, fmt.Errorf("orders: reading transaction %s: %w", id, err)
	}
	t.Members, err = readMembers(ctx, tx, team, id)
	return t, err
}

// OfTransaction returns the orders of a transaction, oldest first.
func OfTransaction(ctx context.Context, tx *store.Tx, team teams.ID, id TransactionID) ([]Order, error) {
	return many(ctx, tx, `SELECT `+columns+` FROM orders WHERE team_id = $1 AND transaction_id = $2 ORDER BY created_at, id`, team, id)
}

func readMembers(ctx context.Context, tx *store.Tx, team teams.ID, id TransactionID) ([]Member, error) {
	rows, err := tx.Query(ctx, `SELECT `+memberColumns+` FROM orders WHERE team_id = $1 AND transaction_id = $2 ORDER BY created_at, id`, team, id)
	if err != nil {
		return nil, fmt.Errorf("orders: reading the orders of transaction %s: %w", id, err)
	}
	defer rows.Close()
	var all []Member
	for rows.Next() {
		m, err := scanMember(rows)
		if err != nil {
			return nil, fmt.Errorf("orders: reading the orders of transaction %s: %w", id, err)
		}
		all = append(all, m)
	}
	return all, rows.Err()
}

const memberColumns = `id, parent_id, origin, method, status, status_at, created_at, updated_at`

// memberColumnsOf is memberColumns of a table's alias.
func memberColumnsOf(alias string) string {
	return alias + "." + strings.ReplaceAll(memberColumns, ", ", ", "+alias+".")
}

func scanMember(from scanner, first ...any) (Member, error) {
	var m Member
	var parent ID
	dest := append(first, &m.ID, &parent, &m.Origin, &m.Method, &m.Status, store.ScanTime(&m.StatusAt), store.ScanTime(&m.CreatedAt), store.ScanTime(&m.UpdatedAt))
	err := from.Scan(dest...)
	if !parent.IsZero() {
		m.Parent = &parent
	}
	return m, err
}
