package orders

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/labclock"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Index keeps in memory what lists of orders filter and sort by: some 90 bytes
// per order, one slice per column. A list is one pass over the columns that it
// names; SQL then reads the rows of the page. Names are sealed in the database,
// so SQL cannot search them. No set of SQL indexes answers every combination of
// filters and sorts with an exact total. Measurements: docs/decisions/0007.
//
// Each process has one Index. Before a list, the index reads the rows that
// changed since the previous list (changes.go). It does so in the transaction of
// the list, so a list never misses a committed change.
type Index struct {
	limit int // orders of all teams
	mu    sync.Mutex
	teams map[teams.ID]*teamIndex
}

const (
	indexLimit     = 4_000_000      // orders of all teams
	indexRetention = 24 * time.Hour // after a team's last list

	// loadBatch is the number of rows that one transaction loads.
	loadBatch = 5000
	// loadTimeout bounds the time that a caller waits for the orders of its team.
	loadTimeout = 10 * time.Second
	// logInterval is the number of loaded orders between two lines of the log.
	logInterval = 250_000
)

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{limit: indexLimit, teams: map[teams.ID]*teamIndex{}}
}

// teamIndex has the orders of one team, sorted by creation, then by id. Row i of
// every column is the same order.
type teamIndex struct {
	used time.Time // guarded by Index.mu, as is size
	size int

	// loading is held while rows are read for the index. It is taken before mu,
	// and mu is never held while waiting for the database.
	loading chan struct{}

	mu     sync.RWMutex
	loaded bool   // all orders are here, as of moment
	moment moment // while loading: the oldest snapshot that rows were read from
	after  mark   // while loading: the last row that was read

	ids        []ID
	users      []users.ID
	created    []int64 // microseconds
	updated    []int64
	changes    []int64 // stamps
	kinds      []uint8 // status and method, see kindOf
	results    []uint8 // interpretation and criticality, see resultOf
	activates  []int32 // yyyymmdd; 0 for none
	births     []int32 // yyyymmdd; 0 for none
	patients   []int32 // lines of names
	recipients []int32 // lines of names, without their tails
	rows       []int32 // 0, 1, 2 …: the rows of a list without filters

	names     nameTable
	byPatient patientRows
	past      []pastOrder // former versions, for cursors

	buffers sync.Pool // of *[]int32, for the rows that a list selects
}

// buffer returns a buffer for all rows. The caller puts it back into buffers.
func (t *teamIndex) buffer() *[]int32 {
	b, _ := t.buffers.Get().(*[]int32)
	if b == nil || len(*b) < len(t.rows) {
		b = new(make([]int32, len(t.rows)))
	}
	return b
}

func newTeamIndex() *teamIndex {
	return &teamIndex{
		loading: make(chan struct{}, 1),
		names:   nameTable{lines: make([]nameLine, 1), orders: make([]int32, 1), places: map[nameLine]int32{}},
	}
}

// team returns the index of a team. It drops indexes that had no list for a day,
// and the least recently used one when all together exceed the limit. An index
// that exceeds the limit alone stays.
func (x *Index) team(id teams.ID, now time.Time) *teamIndex {
	x.mu.Lock()
	defer x.mu.Unlock()
	total, oldest := 0, id
	for other, t := range x.teams {
		if now.Sub(t.used) > indexRetention {
			delete(x.teams, other)
			continue
		}
		total += t.size
		if other != id && (oldest == id || t.used.Before(x.teams[oldest].used)) {
			oldest = other
		}
	}
	if total > x.limit && oldest != id {
		delete(x.teams, oldest)
	}
	t := x.teams[id]
	if t == nil {
		t = newTeamIndex()
		x.teams[id] = t
	}
	t.used = now
	return t
}

func (x *Index) setSize(t *teamIndex, size int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t.size = size
}

// Selection has the ids of one page of a team's orders.
type Selection struct {
	IDs   []ID
	Total int     // of all pages
	Next  *Cursor // of the next page; nil at the end
}

// Select selects one page of a team's orders. The transaction must be a reading
// one: a writing one may be undone, and the index would keep its changes.
func (x *Index) Select(ctx context.Context, tx *store.Tx, team teams.ID, f Filter) (Selection, error) {
	if !tx.ReadOnly() {
		return Selection{}, errors.New("orders: a list needs a reading transaction")
	}
	if err := f.check(tx.Now()); err != nil {
		return Selection{}, err
	}
	t := x.team(team, tx.Now())
	if err := t.refresh(ctx, tx, team); err != nil {
		return Selection{}, err
	}
	now, err := labclock.TimeOf(ctx, tx, team)
	if err != nil {
		return Selection{}, err
	}
	some, narrowed, err := f.keys(ctx, tx, team)
	if err != nil {
		return Selection{}, err
	}
	byNumber, err := numbered(ctx, tx, team, f.Search)
	if err != nil {
		return Selection{}, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	x.setSize(t, len(t.ids))
	candidates := t.rows
	if narrowed {
		candidates = t.find(some)
	}
	into := t.buffer()
	defer t.buffers.Put(into)
	matches := t.match(*into, f, candidates, t.find(byNumber), Today(now))
	page, more, err := t.page(matches, f)
	if err != nil {
		return Selection{}, err
	}
	s := Selection{Total: len(matches)}
	for _, row := range page {
		s.IDs = append(s.IDs, t.ids[row])
	}
	if more {
		s.Next = t.cursor(page, &f, tx.Now())
	}
	return s, nil
}

// Count returns the number of a team's orders. The transaction must be a reading
// one.
func (x *Index) Count(ctx context.Context, tx *store.Tx, team teams.ID) (int, error) {
	all, err := x.Select(ctx, tx, team, Filter{Page: 1})
	return all.Total, err
}

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
		log.WarnContext(ctx, "loading orders failed; first lists are slow", "error", err)
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

// lock takes loading; the caller calls unlock.
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
		to, err := currentMoment(ctx, tx, team)
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
	to, err := currentMoment(ctx, tx, team)
	if err != nil {
		return err
	}
	t.mu.RLock()
	current := t.loaded && !to.isAfter(t.moment)
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
	if !to.isAfter(t.moment) {
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
func (t *teamIndex) load(ctx context.Context, tx *store.Tx, team teams.ID, to moment) error {
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
		moment{}.queryPast(&b, &past, team)
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
		t.moment = to
		t.grow(count + count/32)
	}
	t.moment = t.moment.intersection(to)
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

// readChanges applies the changes between t.moment and to. The caller holds
// loading.
func (t *teamIndex) readChanges(ctx context.Context, tx *store.Tx, team teams.ID, to moment) error {
	var rows, past []indexRow
	erased := map[ID]bool{}
	var b store.Batch
	t.moment.queryUnseen(&b, scanInto(&rows), `SELECT `+indexColumns+` FROM orders WHERE team_id = $1`, team)
	t.moment.queryUnseen(&b, func(from store.Scanner) error {
		var id ID
		err := from.Scan(&id)
		erased[id] = true
		return err
	}, `SELECT order_id FROM order_erasures WHERE team_id = $1`, team)
	t.moment.queryPast(&b, &past, team)
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
	t.moment = to
	return nil
}

// key is the sort key of the rows.
type key struct {
	created int64
	id      ID
}

func (t *teamIndex) compare(row int, k key) int {
	return cmp.Or(cmp.Compare(t.created[row], k.created), bytes.Compare(t.ids[row][:], k.id[:]))
}

// locate returns the row of a key among the first n, or the position for it.
func (t *teamIndex) locate(n int, k key) (row int, found bool) {
	return sort.Find(n, func(row int) int { return -t.compare(row, k) })
}

// grow makes room for more orders.
func (t *teamIndex) grow(more int) {
	t.ids, t.users = slices.Grow(t.ids, more), slices.Grow(t.users, more)
	t.created, t.updated = slices.Grow(t.created, more), slices.Grow(t.updated, more)
	t.changes = slices.Grow(t.changes, more)
	t.kinds, t.results = slices.Grow(t.kinds, more), slices.Grow(t.results, more)
	t.activates, t.births = slices.Grow(t.activates, more), slices.Grow(t.births, more)
	t.patients, t.recipients = slices.Grow(t.patients, more), slices.Grow(t.recipients, more)
	t.rows = slices.Grow(t.rows, more)
}

// append adds a row at the end. The caller calls arrange.
func (t *teamIndex) append(r *indexRow) {
	t.ids, t.users = append(t.ids, r.id), append(t.users, r.user)
	t.created, t.updated = append(t.created, r.created), append(t.updated, 0)
	t.changes = append(t.changes, 0)
	t.kinds, t.results = append(t.kinds, 0), append(t.results, 0)
	t.activates, t.births = append(t.activates, 0), append(t.births, 0)
	t.patients, t.recipients = append(t.patients, 0), append(t.recipients, 0)
	t.rows = append(t.rows, int32(len(t.rows)))
	t.set(len(t.ids)-1, r)
}

// set updates the variable columns of an order.
func (t *teamIndex) set(row int, r *indexRow) {
	t.changes[row] = r.change
	t.updated[row], t.kinds[row], t.results[row], t.activates[row], t.births[row] = r.updated, r.kind, r.result, r.activate, r.names.birth
	patient, recipient := r.names.lines()
	before := t.patients[row]
	t.names.replace(&t.patients[row], patient)
	t.names.replace(&t.recipients[row], recipient)
	if t.patients[row] != before {
		t.byPatient.forget(row)
	}
}

// arrange sorts the rows from first on and removes those that were erased. Of
// rows with the same id the last one stays. New orders are nearly always the
// newest, so few rows move.
func (t *teamIndex) arrange(first int, erased map[ID]bool) {
	t.byPatient.forget(first)
	order := slices.Clone(t.rows[first:])
	slices.SortStableFunc(order, func(a, b int32) int { return t.compare(int(a), key{t.created[b], t.ids[b]}) })
	kept := order[:0]
	for i, row := range order {
		if erased[t.ids[row]] || i+1 < len(order) && t.ids[order[i+1]] == t.ids[row] {
			t.names.replace(&t.patients[row], nameLine{})
			t.names.replace(&t.recipients[row], nameLine{})
			continue
		}
		kept = append(kept, row)
	}
	t.ids, t.users = permute(t.ids, first, kept), permute(t.users, first, kept)
	t.created, t.updated = permute(t.created, first, kept), permute(t.updated, first, kept)
	t.changes = permute(t.changes, first, kept)
	t.kinds, t.results = permute(t.kinds, first, kept), permute(t.results, first, kept)
	t.activates, t.births = permute(t.activates, first, kept), permute(t.births, first, kept)
	t.patients, t.recipients = permute(t.patients, first, kept), permute(t.recipients, first, kept)
	t.rows = t.rows[:len(t.ids)]
}

// permute replaces the values from first on by those of rows.
func permute[T any](column []T, first int, rows []int32) []T {
	values := make([]T, len(rows))
	for i, row := range rows {
		values[i] = column[row]
	}
	return append(column[:first], values...)
}

// kindOf packs a status and a method.
func kindOf(s Status, m Method) uint8 {
	return uint8(slices.Index(Statuses, s)*len(catalogue.Methods) + slices.Index(catalogue.Methods, m))
}

// resultOf packs an interpretation and whether it is critical.
func resultOf(i Interpretation, critical bool) uint8 {
	packed := 2 * uint8(1+slices.Index(Interpretations, i))
	if critical {
		packed++
	}
	return packed
}

// dayNumber converts a date to a number that sorts like the date, such as 20260301.
func dayNumber(d civil.Date) int32 { return int32(d.Year*10000 + int(d.Month)*100 + d.Day) }

// keys returns the orders that the filter names by id, user or transaction, from
// the database. narrowed is false when it names none.
func (f *Filter) keys(ctx context.Context, tx *store.Tx, team teams.ID) (found []key, narrowed bool, err error) {
	read := func(query string, args ...any) error {
		rows, err := tx.Query(ctx, query, args...)
		if err != nil {
			return fmt.Errorf("orders: reading the keys of orders: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var k key
			if err := rows.Scan(&k.id, &k.created); err != nil {
				return fmt.Errorf("orders: reading the keys of orders: %w", err)
			}
			if f.IDs == nil || slices.Contains(f.IDs, k.id) {
				found = append(found, k)
			}
		}
		return rows.Err()
	}
	const selected = `SELECT id, created_at FROM orders WHERE `
	switch {
	case f.Transaction != nil && f.User != nil:
		err = read(selected+`team_id = $1 AND transaction_id = $2 AND user_id = $3`, team, *f.Transaction, *f.User)
	case f.Transaction != nil:
		err = read(selected+`team_id = $1 AND transaction_id = $2`, team, *f.Transaction)
	case f.User != nil:
		err = read(selected+`team_id = $1 AND user_id = $2`, team, *f.User)
	case f.IDs != nil:
		named := make([]Order, len(f.IDs))
		for i, id := range f.IDs {
			named[i] = Order{Team: team, ID: id}
		}
		err = forIDLists(named, func(team any, list []any, in string) error {
			return read(selected+byIDOnly+` = $1 AND id IN `+in, append([]any{team}, list...)...)
		})
	default:
		return nil, false, nil
	}
	return found, true, err
}

// find returns the rows of keys, without duplicates. Erased orders have none.
func (t *teamIndex) find(keys []key) []int32 {
	var rows []int32
	for _, k := range keys {
		if row, found := t.locate(len(t.ids), k); found {
			rows = append(rows, int32(row))
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// match returns the candidates that pass the filter, in the order of creation.
// Candidates are sorted. numbered are the rows that the search names by a number.
// The result is in into, which has room for all rows, or is a part of candidates.
func (t *teamIndex) match(into []int32, f Filter, candidates, numbered []int32, today civil.Date) []int32 {
	from, to := f.Created.micros()
	candidates = candidates[sort.Search(len(candidates), func(i int) bool { return t.created[candidates[i]] >= from }):]
	candidates = candidates[:sort.Search(len(candidates), func(i int) bool { return t.created[candidates[i]] > to })]
	if len(f.Statuses) > 0 || len(f.Methods) > 0 {
		candidates = chooseIn(into, candidates, t.kinds, f.kinds())
	}
	if f.Critical != nil || f.Interpretation != "" {
		candidates = chooseIn(into, candidates, t.results, f.results())
	}
	if len(f.Activations) == 1 {
		if day := dayNumber(today); f.Activations[0] == ScheduledOrders {
			candidates = chooseBetween(into, candidates, t.activates, day+1, math.MaxInt32)
		} else {
			candidates = chooseBetween(into, candidates, t.activates, 0, day)
		}
	}
	if f.Updated.From != nil || f.Updated.To != nil {
		from, to := f.Updated.micros()
		candidates = chooseBetween(into, candidates, t.updated, from, to)
	}
	if f.PatientName != "" {
		patients, _ := t.names.find(f.PatientName)
		candidates = t.choosePatients(into, candidates, patients)
	}
	if f.Recipient != "" {
		_, recipients := t.names.find(f.Recipient)
		candidates = chooseIn(into, candidates, t.recipients, recipients)
	}
	if f.Search != "" {
		candidates = t.search(into, candidates, numbered, strings.TrimSpace(f.Search))
	}
	return candidates
}

// chooseIn writes the rows that have a wanted value in a column into a slice, and returns
// them. The slice must be at least as long as rows, and may be rows itself. chooseIn
// writes every row and advances for the wanted ones, because a branch that the processor
// cannot predict takes twice the time.
func chooseIn[T uint8 | int32](into, rows []int32, column []T, wanted []bool) []int32 {
	count := 0
	for _, row := range rows {
		into[count] = row
		if wanted[column[row]] {
			count++
		}
	}
	return into[:count]
}

// chooseBetween chooses rows like chooseIn, by values between two bounds, both included.
func chooseBetween[T int32 | int64](into, rows []int32, column []T, from, to T) []int32 {
	count := 0
	for _, row := range rows {
		into[count] = row
		if v := column[row]; v >= from && v <= to {
			count++
		}
	}
	return into[:count]
}

// search returns the rows that search_input finds. The input may be:
//
//   - a number;
//   - a prefix of the order's or the user's id;
//   - a birth date;
//   - a part of the patient's or the recipient's name.
func (t *teamIndex) search(into, rows, numbered []int32, input string) []int32 {
	prefix, isPrefix := idPrefix(input)
	birth := int32(-1)
	if day, err := civil.ParseDate(input); err == nil {
		birth = dayNumber(day)
	}
	patients, recipients := t.names.find(input)
	isName := slices.Contains(patients, true)
	if !isPrefix && !isName && birth < 0 && len(numbered) == 0 {
		return nil
	}
	chosen := into[:0]
	for _, row := range rows {
		if _, named := slices.BinarySearch(numbered, row); named || isName && (patients[t.patients[row]] || recipients[t.recipients[row]]) || t.births[row] == birth ||
			isPrefix && (bytes.HasPrefix(t.ids[row][:], prefix) || bytes.HasPrefix(t.users[row][:], prefix)) {
			chosen = append(chosen, row)
		}
	}
	return chosen
}

// micros returns the ends of the span.
func (s Span) micros() (from, to int64) {
	from, to = math.MinInt64, math.MaxInt64
	if s.From != nil {
		from = store.Micros(*s.From)
	}
	if s.To != nil {
		to = store.Micros(*s.To)
	}
	return from, to
}

// kinds returns the kinds that pass the filter.
func (f *Filter) kinds() []bool {
	want := make([]bool, 256)
	for _, s := range Statuses {
		for _, m := range catalogue.Methods {
			want[kindOf(s, m)] = (len(f.Statuses) == 0 || slices.Contains(f.Statuses, s)) && (len(f.Methods) == 0 || slices.Contains(f.Methods, m))
		}
	}
	return want
}

// results returns the results that pass the filter.
func (f *Filter) results() []bool {
	want := make([]bool, 256)
	for _, i := range append([]Interpretation{""}, Interpretations...) {
		for _, critical := range []bool{false, true} {
			want[resultOf(i, critical)] = (f.Interpretation == "" || f.Interpretation == i) && (f.Critical == nil || *f.Critical == critical)
		}
	}
	return want
}

// idPrefix parses the beginning of an id: whole bytes, at least four.
func idPrefix(text string) ([]byte, bool) {
	digits := strings.ReplaceAll(text, "-", "")
	if len(digits) < 8 || len(digits) > 32 {
		return nil, false
	}
	prefix, err := hex.DecodeString(digits[:len(digits)&^1])
	return prefix, err == nil
}

// page returns the rows of one page, and whether more follow. Matches are in the
// order of creation.
func (t *teamIndex) page(matches []int32, f Filter) (page []int32, more bool, err error) {
	if f.After != nil {
		page, err = t.following(matches, &f, f.Size+1)
		more = len(page) > f.Size
		return page[:min(len(page), f.Size)], more, err
	}
	skip := (f.Page - 1) * f.Size
	size := min(f.Size, len(matches)-skip)
	if size <= 0 {
		return nil, false, nil
	}
	more = len(matches) > skip+size
	if !f.Ascending { // the pages of the ascending list, from its end
		skip = len(matches) - skip - size
	}
	switch f.Key {
	case ByCreation, "":
		page = matches[skip : skip+size]
	case ByPatientName:
		page = pageByRank(matches, t.patients, t.names.ranks(), skip, size)
	case ByLastStatus:
		page = pageByRank(matches, t.kinds, kindRanks[:], skip, size)
	case ByUpdate:
		page = pageByTime(matches, t.updated, skip, size)
	}
	if !f.Ascending {
		page = slices.Clone(page)
		slices.Reverse(page)
	}
	return page, more, nil
}

// pageByRank sorts matches by the rank of their value in a column, by counting,
// and returns size of them after the first skip.
func pageByRank[T uint8 | int32](matches []int32, column []T, ranks []int32, skip, size int) []int32 {
	next := make([]int, len(ranks)+1) // the place of the next row of each rank
	for _, row := range matches {
		next[ranks[column[row]]+1]++
	}
	for i := range ranks {
		next[i+1] += next[i]
	}
	page := make([]int32, size)
	for _, row := range matches {
		rank := ranks[column[row]]
		if place := next[rank] - skip; place >= 0 && place < size {
			page[place] = row
		}
		next[rank]++
	}
	return page
}

// kindRanks are the ranks of kinds, by event string.
var kindRanks = func() (ranks [256]int32) {
	var texts []string
	for _, s := range Statuses {
		for _, m := range catalogue.Methods {
			texts = append(texts, s.Full(m))
		}
	}
	slices.Sort(texts)
	for _, s := range Statuses {
		for _, m := range catalogue.Methods {
			ranks[kindOf(s, m)] = int32(slices.Index(texts, s.Full(m)))
		}
	}
	return ranks
}()
