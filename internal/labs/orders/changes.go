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

// Every write of an order stamps its row, so that an index of a team's orders
// (index.go) is brought up to date by reading what changed since. SQLite has one writer, and the stamp is a counter. On PostgreSQL a
// counter would make all order transactions of a team wait for each other; the
// stamp is the number of the transaction itself. Transactions do not commit in
// the order of their numbers, so a reader notes which ones were under way when
// it looked, and looks for those the next time.

// stamp counts a change of a team's orders and gives the SQL expression of its
// number. The statement that uses it has the team as $1.
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

// moment is how much of a team's changes a snapshot has: all with stamps below
// next, but for those under way.
type moment struct {
	next     int64
	underWay []int64
}

// currentMoment is the moment of the transaction's snapshot.
func currentMoment(ctx context.Context, tx *store.Tx, team teams.ID) (moment, error) {
	if tx.Engine() == store.Postgres {
		var text string // xmin:xmax:transaction,transaction…
		if err := tx.QueryRow(ctx, `SELECT CAST(pg_current_snapshot() AS TEXT)`).Scan(&text); err != nil {
			return moment{}, fmt.Errorf("orders: asking for the snapshot: %w", err)
		}
		return parseSnapshot(text)
	}
	var n int64
	err := tx.QueryRow(ctx, `SELECT n FROM order_changes WHERE team_id = $1`, team).Scan(&n)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return moment{}, fmt.Errorf("orders: reading the number of changes: %w", err)
	}
	return moment{next: n + 1}, nil
}

func parseSnapshot(text string) (moment, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return moment{}, fmt.Errorf("orders: a snapshot of %d parts", len(parts))
	}
	next, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return moment{}, fmt.Errorf("orders: a snapshot's end: %w", err)
	}
	m := moment{next: next}
	for number := range strings.SplitSeq(parts[2], ",") {
		if number == "" {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return moment{}, fmt.Errorf("orders: a transaction under way: %w", err)
		}
		m.underWay = append(m.underWay, n)
	}
	return m, nil
}

// differs reports whether the moment has seen changes that before has not.
func (m moment) differs(before moment) bool {
	return m.next > before.next || m.next == before.next && !slices.Equal(m.underWay, before.underWay)
}

// earlier is a moment of which both have seen everything: whoever goes on from
// it misses nothing that either has not seen.
func (m moment) earlier(other moment) moment {
	return moment{next: min(m.next, other.next), underWay: slices.Compact(slices.Sorted(slices.Values(slices.Concat(m.underWay, other.underWay))))}
}

// unseen adds the queries for the rows of a table whose stamps the moment has
// not: those from next on, in the order of their stamps, and those that were
// under way. The query has the team as $1.
func (m moment) unseen(b *store.Batch, each func(store.Scanner) error, query string, team teams.ID) {
	b.Query(each, query+` AND change >= $2 ORDER BY change`, team, m.next)
	for under := range slices.Chunk(m.underWay, underWayAtOnce) {
		args := []any{team}
		for i := range underWayAtOnce { // the last one again: one text to prepare
			args = append(args, under[min(i, len(under)-1)])
		}
		b.Query(each, query+` AND change IN `+store.Placeholders(2, underWayAtOnce), args...)
	}
}

const underWayAtOnce = 8

// resetStamps clears stamps that are ahead of the database. On PostgreSQL stamps
// are numbers of transactions, which start from the beginning in a database that
// was restored from a dump.
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
		for _, query := range []string{`UPDATE orders SET change = 0 WHERE team_id = $1` + ahead, `DELETE FROM order_erasures WHERE team_id = $1` + ahead} {
			if _, err := tx.Exec(ctx, query, team); err != nil {
				return fmt.Errorf("orders: after a restore: %w", err)
			}
		}
		return nil
	})
}
