package orders

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Ready returns when lists of the team can be answered. While the orders are
// loaded after a start, it waits for at most loadTimeout and then returns an
// Unavailable fault. Call it before the transaction that lists: that one would
// load the orders itself, without a limit of time.
func (x *Index) Ready(ctx context.Context, db *store.DB, team teams.ID) error {
	t := x.team(team, db.Now())
	t.mu.RLock()
	loaded := t.loaded
	t.mu.RUnlock()
	if loaded {
		return nil
	}
	waiting, stop := context.WithTimeout(ctx, loadTimeout)
	defer stop()
	for {
		count, done, err := t.loadNext(waiting, db, team)
		x.setSize(t, count)
		switch {
		case done:
			return nil
		case err != nil && ctx.Err() == nil && errors.Is(waiting.Err(), context.DeadlineExceeded):
			return fault.New(fault.Unavailable, "The team's orders are being loaded after a start; try again in a few seconds")
		case err != nil:
			return err
		}
	}
}

// Warm loads the orders of all teams, up to the limit, and logs its progress.
// Lists load the rest. The context must see all teams.
func (x *Index) Warm(ctx context.Context, db *store.DB, log *slog.Logger) {
	var all []teams.Team
	err := db.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = teams.List(ctx, tx)
		return err
	})
	total := 0
	for _, t := range all {
		if err = resetStamps(ctx, db, t.ID); err != nil {
			break
		}
		var count int
		if count, err = x.warmTeam(ctx, db, t.ID, log); err != nil {
			break
		}
		if total += count; total >= x.limit {
			log.WarnContext(ctx, "the orders of some teams are not loaded; their first lists are slow", "orders", total)
			return
		}
	}
	if err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "orders cannot be loaded; first lists are slow", "error", err)
	}
}

func (x *Index) warmTeam(ctx context.Context, db *store.DB, team teams.ID, log *slog.Logger) (int, error) {
	t, began, logged := x.team(team, db.Now()), db.Now(), 0
	for {
		count, done, err := t.loadNext(ctx, db, team)
		if err != nil {
			return 0, err
		}
		if count-logged >= logInterval || done && count >= loadBatch {
			log.InfoContext(ctx, "orders loaded for lists", "team", team, "orders", count, "all", done, "took", db.Now().Sub(began).String())
			logged = count
		}
		if done {
			x.setSize(t, count)
			return count, nil
		}
	}
}

// lock acquires loading; the caller calls unlock.
func (t *teamIndex) lock(ctx context.Context) (unlock func(), err error) {
	select {
	case t.loading <- struct{}{}:
		return func() { <-t.loading }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// loadNext loads the next rows in a transaction of its own, so that no snapshot
// is held for long. It returns the number of rows so far, and whether all are
// loaded.
func (t *teamIndex) loadNext(ctx context.Context, db *store.DB, team teams.ID) (count int, done bool, err error) {
	unlock, err := t.lock(ctx)
	if err != nil {
		return 0, false, err
	}
	defer unlock()
	if t.loaded {
		return len(t.ids), true, nil
	}
	err = db.Read(ctx, func(tx *store.Tx) error {
		if err := scanByIndex(ctx, tx); err != nil {
			return err
		}
		to, err := currentSnapshotMark(ctx, tx, team)
		if err != nil {
			return err
		}
		return t.load(ctx, tx, team, to)
	})
	return len(t.ids), t.loaded, err
}

// scanByIndex makes PostgreSQL walk the index of stamps in the rest of the
// transaction. Without statistics, as after a restore, it would sort all
// remaining rows for each batch.
func scanByIndex(ctx context.Context, tx *store.Tx) error {
	if tx.Engine() != store.Postgres {
		return nil
	}
	for _, setting := range []string{`SET LOCAL enable_sort = off`, `SET LOCAL enable_bitmapscan = off`} {
		if _, err := tx.Exec(ctx, setting); err != nil {
			return fmt.Errorf("orders: choosing an index: %w", err)
		}
	}
	return nil
}

// refresh updates the index to the snapshot of the transaction.
func (t *teamIndex) refresh(ctx context.Context, tx *store.Tx, team teams.ID) error {
	to, err := currentSnapshotMark(ctx, tx, team)
	if err != nil {
		return err
	}
	t.mu.RLock()
	current := t.loaded && !to.isAfter(t.snapshot)
	t.mu.RUnlock()
	if current {
		return nil
	}
	unlock, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for !t.loaded {
		if err := t.load(ctx, tx, team, to); err != nil {
			return err
		}
	}
	if !to.isAfter(t.snapshot) {
		return nil
	}
	return t.readChanges(ctx, tx, team, to)
}

// mark is a position in the order of stamps.
type mark struct {
	change int64
	id     ID
}

// indexRow is one order in the index.
type indexRow struct {
	mark
	user             users.ID
	created, updated int64
	kind, result     uint8
	activate         int32
	sealed           []byte
	names            searchNames
	replaced, at     int64 // of a former version: the stamp of its successor, and when it was replaced
}

const indexColumns = `change, id, user_id, created_at, updated_at, status, method, is_critical, interpretation, activate_by, names`

// scanInto appends rows of indexColumns to all.
func scanInto(all *[]indexRow) func(from store.Scanner) error {
	return func(from store.Scanner) error {
		var r indexRow
		var status Status
		var method Method
		var interpretation sql.NullString
		var critical bool
		var day *civil.Date
		if err := from.Scan(&r.change, &r.id, &r.user, &r.created, &r.updated, &status, &method, &critical, &interpretation, nullDate{&day}, &r.sealed); err != nil {
			return fmt.Errorf("orders: reading rows for the index: %w", err)
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

// openNames unseals the names of rows.
func openNames(ctx context.Context, tx *store.Tx, team teams.ID, rows []indexRow) error {
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
		if errors.Is(err, store.ErrNoKey) { // the user is being erased, and the order is next
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

// load reads the next rows, in the order of their stamps. A row that changes
// meanwhile gets a higher stamp, so it is read again. A later batch reads it, or
// readChanges does from the oldest snapshot of all batches. The caller holds
// loading.
func (t *teamIndex) load(ctx context.Context, tx *store.Tx, team teams.ID, to snapshotMark) error {
	rows := make([]indexRow, 0, loadBatch)
	var count int
	var b store.Batch
	if len(t.ids) == 0 { // the final capacity: growing in steps leaves as much garbage
		b.Query(func(from store.Scanner) error { return from.Scan(&count) }, `SELECT COUNT(*) FROM orders WHERE team_id = $1`, team)
	}
	b.Query(scanInto(&rows), `SELECT `+indexColumns+` FROM orders WHERE team_id = $1 AND (change, id) > ($2, $3) ORDER BY change, id LIMIT $4`,
		team, t.after.change, t.after.id, loadBatch)
	if err := tx.Run(ctx, &b); err != nil {
		return err
	}
	var past []indexRow
	if len(rows) < loadBatch {
		var b store.Batch
		snapshotMark{}.queryPast(&b, &past, team)
		if err := tx.Run(ctx, &b); err != nil {
			return err
		}
	}
	if err := errors.Join(openNames(ctx, tx, team, rows), openNames(ctx, tx, team, past)); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.ids) == 0 {
		t.snapshot = to
		t.grow(count + count/32)
	}
	t.snapshot = t.snapshot.intersection(to)
	for i := range rows {
		t.append(&rows[i])
	}
	if len(rows) == loadBatch {
		t.after = rows[len(rows)-1].mark
		return nil
	}
	t.arrange(0, nil)
	t.addPast(past, nil, tx.Now())
	t.names.ranks()
	t.byPatient.update(t)
	t.loaded = true
	return nil
}

// readChanges applies the changes between t.snapshot and to. The caller holds
// loading.
func (t *teamIndex) readChanges(ctx context.Context, tx *store.Tx, team teams.ID, to snapshotMark) error {
	var rows, past []indexRow
	erased := map[ID]bool{}
	var b store.Batch
	t.snapshot.queryUnseen(&b, scanInto(&rows), `SELECT `+indexColumns+` FROM orders WHERE team_id = $1`, team)
	t.snapshot.queryUnseen(&b, func(from store.Scanner) error {
		var id ID
		err := from.Scan(&id)
		erased[id] = true
		return err
	}, `SELECT order_id FROM order_erasures WHERE team_id = $1`, team)
	t.snapshot.queryPast(&b, &past, team)
	if err := tx.Run(ctx, &b); err != nil {
		return err
	}
	if err := errors.Join(openNames(ctx, tx, team, rows), openNames(ctx, tx, team, past)); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known, first := len(t.ids), len(t.ids)
	for i := range rows {
		r := &rows[i]
		at, found := t.locate(known, key{r.created, r.id})
		if found {
			t.set(at, r)
			continue
		}
		first = min(first, at)
		t.append(r)
	}
	if len(erased) > 0 {
		first = 0
	}
	if first < len(t.ids) {
		t.arrange(first, erased)
	}
	t.addPast(past, erased, tx.Now())
	t.byPatient.update(t)
	t.snapshot = to
	return nil
}
