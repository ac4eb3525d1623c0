package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Every write of an order stamps its row. An index of a team's orders (index.go)
// is updated by reading the rows with newer stamps. SQLite has one writer, so
// the stamp is a counter. On PostgreSQL a counter would serialize all order
// transactions of a team, so the stamp is the transaction number. Transactions
// do not commit in the order of their numbers. A reader therefore remembers
// which transactions were in progress, and reads their rows the next time.

// stamp counts a change of a team's orders and returns the SQL expression of its
// stamp. The statement that uses it must have the team as $1.
func stamp(ctx context.Context, tx *store.Tx, team teams.ID) (string, error) {
	if tx.Engine() == store.Postgres {
		return `CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)`, nil
	}
	_, err := tx.Exec(ctx, `INSERT INTO order_changes (team_id, n) VALUES ($1, 1)
		ON CONFLICT (team_id) DO UPDATE SET n = order_changes.n + 1`, team)
	if err != nil {
		return "", fmt.Errorf("orders: counting a change: %w", err)
	}
	return `(SELECT c.n FROM order_changes c WHERE c.team_id = $1)`, nil
}

// snapshotMark identifies the changes of a team that a snapshot contains: all with
// stamps below next, except those in progress.
type snapshotMark struct {
	next       int64
	inProgress []int64
}

// currentSnapshotMark returns the mark of the transaction's snapshot.
func currentSnapshotMark(ctx context.Context, tx *store.Tx, team teams.ID) (snapshotMark, error) {
	if tx.Engine() == store.Postgres {
		var text string // xmin:xmax:transaction,transaction…
		if err := tx.QueryRow(ctx, `SELECT CAST(pg_current_snapshot() AS TEXT)`).Scan(&text); err != nil {
			return snapshotMark{}, fmt.Errorf("orders: asking for the snapshot: %w", err)
		}
		return parseSnapshot(text)
	}
	var n int64
	err := tx.QueryRow(ctx, `SELECT n FROM order_changes WHERE team_id = $1`, team).Scan(&n)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return snapshotMark{}, fmt.Errorf("orders: reading the number of changes: %w", err)
	}
	return snapshotMark{next: n + 1}, nil
}

// ChangeMark is a point in the changes of a team's orders.
type ChangeMark int64

// MarkChanges returns a mark before all later changes, and perhaps before some earlier ones.
func MarkChanges(ctx context.Context, tx *store.Tx, team teams.ID) (ChangeMark, error) {
	m, err := currentSnapshotMark(ctx, tx, team)
	if err != nil {
		return 0, err
	}
	return ChangeMark(slices.Min(append(m.inProgress, m.next))), nil
}

// ChangedSince returns orders that changed after a mark, at most limit.
func ChangedSince(ctx context.Context, tx *store.Tx, team teams.ID, mark ChangeMark, limit int) ([]ID, error) {
	rows, err := tx.Query(ctx, `SELECT id FROM orders WHERE team_id = $1 AND change >= $2 ORDER BY change LIMIT $3`, team, int64(mark), limit)
	if err != nil {
		return nil, fmt.Errorf("orders: reading changed orders: %w", err)
	}
	defer rows.Close()
	var all []ID
	for rows.Next() {
		var id ID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("orders: reading changed orders: %w", err)
		}
		all = append(all, id)
	}
	return all, rows.Err()
}

func parseSnapshot(text string) (snapshotMark, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return snapshotMark{}, fmt.Errorf("orders: a snapshot of %d parts", len(parts))
	}
	next, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return snapshotMark{}, fmt.Errorf("orders: a snapshot's end: %w", err)
	}
	m := snapshotMark{next: next}
	for number := range strings.SplitSeq(parts[2], ",") {
		if number == "" {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return snapshotMark{}, fmt.Errorf("orders: a transaction in progress: %w", err)
		}
		m.inProgress = append(m.inProgress, n)
	}
	return m, nil
}

// isAfter reports whether the snapshot contains changes that before does not.
func (m snapshotMark) isAfter(before snapshotMark) bool {
	return m.next > before.next || m.next == before.next && slices.ContainsFunc(before.inProgress, m.contains)
}

// intersection returns a mark whose changes both snapshots contain. Reading from it
// misses no change that one of them lacks.
func (m snapshotMark) intersection(other snapshotMark) snapshotMark {
	return snapshotMark{next: min(m.next, other.next), inProgress: slices.Compact(slices.Sorted(slices.Values(slices.Concat(m.inProgress, other.inProgress))))}
}

// queryUnseen adds the queries for the rows of a table that the snapshot does not
// contain. One reads rows with stamps from next, sorted by stamp. The others read
// rows with the stamps that were in progress. The query must have the team as $1.
func (m snapshotMark) queryUnseen(b *store.Batch, each func(store.Scanner) error, query string, team teams.ID) {
	b.Query(each, query+` AND change >= $2 ORDER BY change`, team, m.next)
	for under := range slices.Chunk(m.inProgress, inProgressAtOnce) {
		args := []any{team}
		for i := range inProgressAtOnce { // repeat the last one, so that one prepared statement is enough
			args = append(args, under[min(i, len(under)-1)])
		}
		b.Query(each, query+` AND change IN `+store.Placeholders(2, inProgressAtOnce), args...)
	}
}

const inProgressAtOnce = 8

// resetStamps clears stamps that are ahead of the database. On PostgreSQL stamps
// are transaction numbers, which start again in a database that was restored
// from a dump.
func resetStamps(ctx context.Context, db *store.DB, team teams.ID) error {
	if db.Engine() != store.Postgres {
		return nil
	}
	const ahead = ` AND change > CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT)`
	var any bool
	err := db.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM orders WHERE team_id = $1`+ahead+`)`, team).Scan(&any)
	})
	if err != nil || !any {
		return err
	}
	return db.Write(ctx, func(tx *store.Tx) error {
		for _, query := range []string{
			`UPDATE orders SET change = 0 WHERE team_id = $1` + ahead,
			`DELETE FROM order_erasures WHERE team_id = $1` + ahead,
			`DELETE FROM order_past WHERE team_id = $1` + ahead,
		} {
			if _, err := tx.Exec(ctx, query, team); err != nil {
				return fmt.Errorf("orders: after a restore: %w", err)
			}
		}
		return nil
	})
}
