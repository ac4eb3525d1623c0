package orders

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// The first list of a team after a start needs all its orders read once. That
// is done in parts, each in a transaction of its own, so that no snapshot is
// held for long: in the background when a node starts (Warm), and by those who
// cannot wait for that (Ready). They take turns and go on where the last one
// stopped.
//
// Parts come in the order of their stamps. An order that changes meanwhile has
// a new stamp, and so comes again later, or with what is caught up afterwards
// from the oldest snapshot that took part.

const (
	readAtOnce = 5000 // rows
	// longestWait is how long a caller waits for a team's orders to be read.
	longestWait = 10 * time.Second
	// tellEvery is how many orders lie between two lines of the log.
	tellEvery = 250_000
)

// mark is a place in the order of stamps.
type mark struct {
	change int64
	id     ID
}

// columnRow is an order as the memory reads it.
type columnRow struct {
	mark
	user             users.ID
	created, updated int64
	kind, result     uint8
	activate         int32
	sealed           []byte
	names            names
}

const remembered = `change, id, user_id, created_at, updated_at, status, method, is_critical, interpretation, activate_by, names`

// scanInto reads rows of the remembered columns.
func scanInto(all *[]columnRow) func(from store.Scanner) error {
	return func(from store.Scanner) error {
		var r columnRow
		var status Status
		var method Method
		var interpretation sql.NullString
		var critical bool
		var day *civil.Date
		if err := from.Scan(&r.change, &r.id, &r.user, &r.created, &r.updated, &status, &method, &critical, &interpretation, nullDate{&day}, &r.sealed); err != nil {
			return fmt.Errorf("orders: reading what lists ask for: %w", err)
		}
		r.kind = kindOf(status, method)
		r.result = resultOf(Interpretation(interpretation.String), critical)
		if day != nil {
			r.activate = dayNumber(*day)
		}
		*all = append(*all, r)
		return nil
	}
}

// openNames unseals what searches look at.
func openNames(ctx context.Context, tx *store.Tx, team teams.ID, rows []columnRow) error {
	subjects := make([]uuid.UUID, len(rows))
	for i := range rows {
		subjects[i] = rows[i].user.UUID()
	}
	if err := tx.WarmKeys(ctx, team.UUID(), subjects); err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		plain, err := tx.Unseal(ctx, team.UUID(), r.user.UUID(), namesPlace+r.id.String(), r.sealed)
		if errors.Is(err, store.ErrNoKey) { // the person is being erased, and the order goes next
			continue
		}
		if err != nil {
			return err
		}
		if r.names, err = parseNames(plain); err != nil {
			return err
		}
	}
	return nil
}

// load reads the next part of the team's orders. The caller has the turn.
func (m *memory) load(ctx context.Context, tx *store.Tx, team teams.ID, to moment) error {
	rows := make([]columnRow, 0, readAtOnce)
	var count int
	var b store.Batch
	if m.len() == 0 { // room for all at once: growing by steps leaves as much again behind
		b.Query(func(from store.Scanner) error { return from.Scan(&count) }, `SELECT COUNT(*) FROM orders WHERE team_id = $1`, team)
	}
	b.Query(scanInto(&rows), `SELECT `+remembered+` FROM orders WHERE team_id = $1 AND (change, id) > ($2, $3) ORDER BY change, id LIMIT $4`,
		team, m.after.change, m.after.id, readAtOnce)
	if err := tx.Run(ctx, &b); err != nil {
		return err
	}
	if err := openNames(ctx, tx, team, rows); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.len() == 0 {
		m.moment = to
		m.grow(count + count/32)
	}
	m.moment = m.moment.earlier(to)
	for i := range rows {
		m.put(&rows[i])
	}
	if len(rows) < readAtOnce {
		m.loaded = true
		m.arrange(0)
		return nil
	}
	m.after = rows[len(rows)-1].mark
	return nil
}

// part reads the next part in a transaction of its own and tells how much is
// here. whole reports that nothing is left to read.
func (m *memory) part(ctx context.Context, db *store.DB, team teams.ID) (count int, whole bool, err error) {
	done, err := m.wait(ctx)
	if err != nil {
		return 0, false, err
	}
	defer done()
	if m.loaded {
		return m.len(), true, nil
	}
	err = db.Read(ctx, func(tx *store.Tx) error {
		if err := inOrder(ctx, tx); err != nil {
			return err
		}
		to, err := now(ctx, tx, team)
		if err != nil {
			return err
		}
		return m.load(ctx, tx, team, to)
	})
	return m.len(), m.loaded, err
}

// inOrder has PostgreSQL walk the index of stamps in the rest of the
// transaction. While it knows nothing yet of how large the table is, as after a
// restore, it would sort all that is left to read for each part.
func inOrder(ctx context.Context, tx *store.Tx) error {
	if tx.Engine() != store.Postgres {
		return nil
	}
	for _, setting := range []string{`SET LOCAL enable_sort = off`, `SET LOCAL enable_bitmapscan = off`} {
		if _, err := tx.Exec(ctx, setting); err != nil {
			return fmt.Errorf("orders: asking for an index: %w", err)
		}
	}
	return nil
}

// Ready returns when lists of the team can be answered quickly. It waits for
// ten seconds at most, while the orders are read after a start; then it asks the
// caller to come again. Call it before the transaction that lists, which would
// else read the orders itself, however long that takes.
func Ready(ctx context.Context, db *store.DB, team teams.ID) error {
	m := memories.of(team, db.Now())
	m.mu.RLock()
	loaded := m.loaded
	m.mu.RUnlock()
	if loaded {
		return nil
	}
	waiting, stop := context.WithTimeout(ctx, longestWait)
	defer stop()
	for {
		count, whole, err := m.part(waiting, db, team)
		memories.resize(m, count)
		switch {
		case whole:
			return nil
		case err != nil && ctx.Err() == nil && errors.Is(waiting.Err(), context.DeadlineExceeded):
			return fault.New(fault.Unavailable, "The team's orders are being read after a start; try again in a few seconds")
		case err != nil:
			return err
		}
	}
}

// Warm reads the orders of all teams, so that their first lists need not, and
// tells the log how far it is. What it cannot read it leaves to those lists.
// The context must see all teams.
func Warm(ctx context.Context, db *store.DB, log *slog.Logger) {
	var all []teams.Team
	err := db.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = teams.List(ctx, tx)
		return err
	})
	total := 0
	for _, t := range all {
		if err = rebase(ctx, db, t.ID); err != nil {
			break
		}
		var count int
		if count, err = warm(ctx, db, t.ID, log); err != nil {
			break
		}
		if total += count; total >= memories.most {
			log.WarnContext(ctx, "not all teams' orders are kept in memory; first lists of the others take longer", "orders", total)
			return
		}
	}
	if err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "orders were not read in advance; first lists take longer", "error", err)
	}
}

func warm(ctx context.Context, db *store.DB, team teams.ID, log *slog.Logger) (int, error) {
	m, began, told := memories.of(team, db.Now()), db.Now(), 0
	for {
		count, whole, err := m.part(ctx, db, team)
		if err != nil {
			return 0, err
		}
		if count-told >= tellEvery || whole && count >= readAtOnce {
			log.InfoContext(ctx, "orders read for lists", "team", team, "orders", count, "all", whole, "took", db.Now().Sub(began).String())
			told = count
		}
		if whole {
			memories.resize(m, count)
			return count, nil
		}
	}
}

// rebase sets stamps back that are ahead of the database: on PostgreSQL they
// are numbers of transactions, which start anew in a database that was restored.
func rebase(ctx context.Context, db *store.DB, team teams.ID) error {
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
