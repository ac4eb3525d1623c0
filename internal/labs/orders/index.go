package orders

import (
	"context"
	"errors"
	"sync"
	"time"

	"hale/internal/labs/labclock"
	"hale/internal/people/users"
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

	// loading is held while rows are read for the index. It is acquired before mu,
	// and mu is never held while waiting for the database.
	loading chan struct{}

	mu       sync.RWMutex
	loaded   bool         // all orders are here, as of snapshot
	snapshot snapshotMark // while loading: the oldest snapshot that rows were read from
	after    mark         // while loading: the last row that was read

	ids        []ID
	users      []users.ID
	created    []int64 // microseconds
	updated    []int64
	changes    []int64  // stamps
	kinds      []uint8  // status and method, see kindOf
	perKind    [256]int // number of orders of each kind
	results    []uint8  // interpretation and criticality, see resultOf
	activates  []int32  // yyyymmdd; 0 for none
	births     []int32  // yyyymmdd; 0 for none
	patients   []int32  // lines of names
	recipients []int32  // lines of names, without their tails
	rows       []int32  // 0, 1, 2 …: the rows of a list without filters

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
		names:   nameTable{lines: make([]nameLine, 1), bytes: make([]byteSet, 1), orders: make([]int32, 1), places: map[nameLine]int32{}},
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
	byNumber, err := findByNumber(ctx, tx, team, f.Search)
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
	var s Selection
	var page []int32
	var more bool
	if !narrowed && f.onlyKinds() {
		page, s.Total, _ = t.newestOfKinds(f)
		more = s.Total > (f.Page-1)*f.Size+len(page)
	} else {
		into := t.buffer()
		defer t.buffers.Put(into)
		matches := t.match(*into, f, candidates, t.find(byNumber), Today(now))
		if page, more, err = t.page(matches, f); err != nil {
			return Selection{}, err
		}
		s.Total = len(matches)
	}
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
