package orders

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"sort"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// A list by creation continues after the last order of the page before: neither the
// time nor the id of an order changes.
//
// The other sort keys change while a client reads page after page. Such a list keeps
// the order in which it began. The cursor has the snapshot of the first page. Every
// change of an order leaves its former version in order_past, and the index sorts by
// the versions of that snapshot. Orders that were created later are not in the list.

// Cursor is the place in a list where a page ended. It has no personal data.
type Cursor struct {
	Began  int64    `json:"t"`           // when the first page was read, in microseconds
	Filter uint32   `json:"f"`           // the checksum of the filter
	After  []Anchor `json:"a"`           // the last order; then orders before it, in case that it was erased
	Next   int64    `json:"n,omitempty"` // the snapshot of the first page; 0 for a list by creation
	Ago    []int64  `json:"o,omitempty"` // its transactions in progress, counted back from Next
}

// Anchor is an order in a cursor.
type Anchor struct {
	Created int64 `json:"c"`
	ID      ID    `json:"i"`
}

func (a Anchor) key() key { return key{a.Created, a.ID} }

const (
	// CursorLifetime is the time for which a list keeps the order in which it began.
	CursorLifetime = 6 * time.Hour
	// pastRetention is longer, so that a request with an old cursor can end.
	pastRetention = CursorLifetime + time.Hour
	// maxAnchors is the number of orders, each of another user, that a cursor names.
	maxAnchors = 4
)

// snapshotMark returns the snapshot of the first page.
func (c *Cursor) snapshotMark() snapshotMark {
	m := snapshotMark{next: c.Next, inProgress: make([]int64, len(c.Ago))}
	for i, n := range c.Ago {
		m.inProgress[i] = c.Next - n
	}
	return m
}

// check returns a fault if the cursor does not fit the filter or is too old.
func (f *Filter) check(now time.Time) error {
	c := f.After
	switch {
	case c == nil:
		return nil
	case f.Page > 1:
		return fault.New(fault.Invalid, "Value error, give next_cursor or page, not both").At("query", "page")
	case c.Filter != f.checksum() || len(c.After) == 0 || f.byCreation() != (c.Next == 0):
		return fault.New(fault.Invalid, "Value error, this cursor belongs to a list with other parameters").At("query", "next_cursor")
	case !f.byCreation() && now.Sub(store.FromMicros(c.Began)) > CursorLifetime:
		return fault.Newf(fault.Invalid, "Value error, this cursor is older than %d hours; start again without it", int(CursorLifetime.Hours())).At("query", "next_cursor")
	}
	return nil
}

func (f *Filter) byCreation() bool { return f.Key == "" || f.Key == ByCreation }

// checksum identifies the filter and its order, without the page.
func (f *Filter) checksum() uint32 {
	plain := *f
	plain.Page, plain.Size, plain.After = 0, 0, nil
	if plain.Key == "" {
		plain.Key = ByCreation
	}
	text, err := json.Marshal(plain)
	if err != nil {
		panic("orders: a filter must marshal: " + err.Error())
	}
	return crc32.ChecksumIEEE(text)
}

// cursor returns the cursor of the place after a page. The index is in the snapshot
// of the page.
func (t *teamIndex) cursor(page []int32, f *Filter, now time.Time) *Cursor {
	c := &Cursor{Began: store.Micros(now), Filter: f.checksum()}
	var before []Anchor
	switch {
	case f.After != nil:
		c.Began, c.Next, c.Ago, before = f.After.Began, f.After.Next, f.After.Ago, f.After.After
	case !f.byCreation():
		c.Next = t.snapshot.next
		for _, n := range t.snapshot.inProgress {
			c.Ago = append(c.Ago, c.Next-n)
		}
	}
	for i := len(page) - 1; i >= 0 && len(c.After) < maxAnchors; i-- {
		// All orders of a user are erased together, so one is enough.
		if row := page[i]; !slices.ContainsFunc(page[i+1:], func(later int32) bool { return t.users[later] == t.users[row] }) {
			c.After = append(c.After, Anchor{t.created[row], t.ids[row]})
		}
	}
	c.After = append(c.After, before[:min(len(before), maxAnchors-len(c.After))]...)
	return c
}

// pastOrder is a former version of an order.
type pastOrder struct {
	key
	was, replaced int64 // the stamps of the version and of its successor
	at            int64 // when it was replaced, in microseconds
	updated       int64
	kind          uint8
	patient       int32 // line of names
}

// contains reports whether the snapshot contains the change with a stamp.
func (m snapshotMark) contains(change int64) bool {
	return change < m.next && !slices.Contains(m.inProgress, change)
}

// pastAt returns the versions in a snapshot of the orders that changed since.
func (t *teamIndex) pastAt(m snapshotMark) map[int32]*pastOrder {
	found := map[int32]*pastOrder{}
	for i := range t.past {
		p := &t.past[i]
		if !m.contains(p.was) || m.contains(p.replaced) {
			continue
		}
		if row, ok := t.locate(len(t.ids), p.key); ok {
			found[int32(row)] = p
		}
	}
	return found
}

// addPast adds former versions. It removes those that are too old for a cursor and those
// of erased orders.
func (t *teamIndex) addPast(rows []indexRow, erased map[ID]bool, now time.Time) {
	oldest := store.Micros(now.Add(-pastRetention))
	t.past = slices.DeleteFunc(t.past, func(p pastOrder) bool {
		gone := p.at < oldest || erased[p.id]
		if gone {
			t.names.replace(&p.patient, nameLine{})
		}
		return gone
	})
	for i := range rows {
		r := &rows[i]
		if r.at < oldest || erased[r.id] {
			continue
		}
		p := pastOrder{key{r.created, r.id}, r.change, r.replaced, r.at, r.updated, r.kind, 0}
		patient, _ := r.names.lines()
		t.names.replace(&p.patient, patient)
		t.past = append(t.past, p)
	}
}

const pastColumns = `was, change, at, order_id, user_id, created_at, updated_at, status, method, names`

// scanPast appends rows of pastColumns to all.
func scanPast(all *[]indexRow) func(from store.Scanner) error {
	return func(from store.Scanner) error {
		var r indexRow
		var status Status
		var method Method
		if err := from.Scan(&r.change, &r.replaced, &r.at, &r.id, &r.user, &r.created, &r.updated, &status, &method, &r.sealed); err != nil {
			return fmt.Errorf("orders: reading former versions: %w", err)
		}
		r.kind = kindOf(status, method)
		*all = append(*all, r)
		return nil
	}
}

// queryPast adds the queries for the versions that were replaced since the snapshot.
func (m snapshotMark) queryPast(b *store.Batch, rows *[]indexRow, team teams.ID) {
	m.queryUnseen(b, scanPast(rows), `SELECT `+pastColumns+` FROM order_past WHERE team_id = $1`, team)
}

// keepPast stores the version of an order before a change. change is the
// expression of the change's stamp. A transaction that changes an order twice
// stores the first version only.
func keepPast(ctx context.Context, tx *store.Tx, o *Order, change string) error {
	_, err := tx.Exec(ctx, `INSERT INTO order_past (team_id, order_id, was, change, at, created_at, updated_at, status, method, user_id, names)
		SELECT team_id, id, change, `+change+`, CAST($3 AS BIGINT), created_at, updated_at, status, method, user_id, names
		FROM orders WHERE team_id = $1 AND id = $2 AND change <> `+change+`
		ON CONFLICT (team_id, order_id, was) DO NOTHING`, o.Team, o.ID, tx.Now())
	if err != nil {
		return fmt.Errorf("orders: keeping the version of %s: %w", o.ID, err)
	}
	return nil
}

// ForgetPast deletes former versions that no cursor needs any more. The context
// must see all teams.
func ForgetPast(ctx context.Context, tx *store.Tx) error {
	_, err := tx.Exec(ctx, `DELETE FROM order_past WHERE at < $1`, tx.Now().Add(-pastRetention))
	if err != nil {
		return fmt.Errorf("orders: deleting former versions: %w", err)
	}
	return nil
}

// following returns up to size rows after the cursor of the filter. Matches are in
// the order of creation.
func (t *teamIndex) following(matches []int32, f *Filter, size int) ([]int32, error) {
	if f.byCreation() {
		return t.followingByCreation(matches, f, size), nil
	}
	m := f.After.snapshotMark()
	past := t.pastAt(m)
	for _, a := range f.After.After {
		last, found := t.locate(len(t.ids), a.key())
		if !found {
			continue
		}
		n := newNextRows(size, f.Ascending, func(row int32) bool { return m.contains(t.changes[row]) })
		row := int32(last)
		n.after = n.place(t.rankOf(f.Key, row, past[row]), row)
		switch f.Key {
		case ByPatientName:
			passRanks(n, matches, t.patients, t.names.ranks())
		case ByLastStatus:
			passRanks(n, matches, t.kinds, kindRanks[:])
		default:
			passTimes(n, matches, t.updated)
		}
		for row, p := range past {
			if _, matched := slices.BinarySearch(matches, row); matched {
				n.add(n.place(t.rankOf(f.Key, row, p), row))
			}
		}
		return n.rows(), nil
	}
	return nil, fault.New(fault.Invalid, "Value error, the orders at this cursor were erased; start again without it").At("query", "next_cursor")
}

func (t *teamIndex) followingByCreation(matches []int32, f *Filter, size int) []int32 {
	last, found := t.locate(len(t.ids), f.After.After[0].key())
	if !f.Ascending {
		end := sort.Search(len(matches), func(i int) bool { return int(matches[i]) >= last })
		page := slices.Clone(matches[max(0, end-size):end])
		slices.Reverse(page)
		return page
	}
	if found {
		last++
	}
	start := sort.Search(len(matches), func(i int) bool { return int(matches[i]) >= last })
	return matches[start:min(start+size, len(matches))]
}

// rankOf returns the rank of an order for a sort key, by a former version if that
// is not nil.
func (t *teamIndex) rankOf(k SortKey, row int32, past *pastOrder) int64 {
	if past == nil {
		past = &pastOrder{updated: t.updated[row], kind: t.kinds[row], patient: t.patients[row]}
	}
	switch k {
	case ByPatientName:
		return int64(t.names.ranks()[past.patient])
	case ByLastStatus:
		return int64(kindRanks[past.kind])
	default:
		return past.updated
	}
}

// rankedRow is the place of a row in a list: the rank of its value, then the order of
// creation.
type rankedRow struct {
	rank int64
	row  int32
}

func (r rankedRow) compare(other rankedRow) int {
	return cmp.Or(cmp.Compare(r.rank, other.rank), cmp.Compare(r.row, other.row))
}

// nextRows selects the first rows of a list after a place. In a descending list,
// places are negative.
type nextRows struct {
	after     rankedRow
	sign      int64
	size      int
	unchanged func(row int32) bool // since the first page
	best      []rankedRow          // sorted
	limit     int64                // rows with a higher rank are not among the best
}

func newNextRows(size int, ascending bool, unchanged func(int32) bool) *nextRows {
	n := &nextRows{sign: 1, size: size, unchanged: unchanged, best: make([]rankedRow, 0, size+1), limit: math.MaxInt64}
	if !ascending {
		n.sign = -1
	}
	return n
}

func (n *nextRows) place(rank int64, row int32) rankedRow {
	return rankedRow{n.sign * rank, int32(n.sign) * row}
}

// add adds a row if it is among the first ones.
func (n *nextRows) add(r rankedRow) {
	if r.compare(n.after) <= 0 || len(n.best) == n.size && r.compare(n.best[n.size-1]) >= 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(n.best, r, rankedRow.compare)
	n.best = slices.Insert(n.best, at, r)
	if len(n.best) > n.size {
		n.best = n.best[:n.size]
	}
	if len(n.best) == n.size {
		n.limit = n.best[n.size-1].rank
	}
}

func (n *nextRows) rows() []int32 {
	rows := make([]int32, len(n.best))
	for i, r := range n.best {
		rows[i] = int32(n.sign) * r.row
	}
	return rows
}

// passRanks adds unchanged rows by the ranks of their values in a column. It begins
// at the end at which the first rows of equal rank are.
func passRanks[T uint8 | int32](n *nextRows, rows []int32, column []T, ranks []int32) {
	for i, row := range rows {
		if n.sign < 0 {
			row = rows[len(rows)-1-i]
		}
		rank := n.sign * int64(ranks[column[row]])
		if rank >= n.after.rank && rank <= n.limit && n.unchanged(row) {
			n.add(rankedRow{rank, int32(n.sign) * row})
		}
	}
}

// passTimes adds unchanged rows by their values in a column of times, like passRanks. In
// a descending list it begins at the last row, because the newest orders are likely the
// last ones to change.
func passTimes(n *nextRows, rows []int32, column []int64) {
	for i, row := range rows {
		if n.sign < 0 {
			row = rows[len(rows)-1-i]
		}
		rank := n.sign * column[row]
		if rank >= n.after.rank && rank <= n.limit && n.unchanged(row) {
			n.add(rankedRow{rank, int32(n.sign) * row})
		}
	}
}
