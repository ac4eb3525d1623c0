package orders

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"time"

	"hale/internal/civil"
	"hale/internal/labs"
	"hale/internal/store"
	"hale/internal/teams"
	"hale/internal/users"
)

// A list of orders can be filtered in a dozen ways at once, sorted in three,
// and says how many there are in all: no set of indexes answers every
// combination of that for a million orders, and the names are sealed besides.
// So each process keeps, for teams that list their orders, the few columns that
// lists ask for: some 80 bytes an order. A query is one pass over the columns
// it names, about a millisecond for each; the page's rows are then read by
// their ids. Before each query the memory takes what changed (changes.go), so
// that it is never behind the transaction that asks.
//
// docs/decisions/0007-order-search.md has the figures.

// memories is what this process remembers of teams' orders.
var memories = memoryOf{most: mostRemembered, teams: map[teams.ID]*memory{}}

const (
	mostRemembered = 4_000_000 // orders over all teams
	rememberedFor  = time.Hour // after the last query
	readAtOnce     = 5000      // rows
)

type memoryOf struct {
	most  int
	mu    sync.Mutex
	teams map[teams.ID]*memory
}

// memory is one team's orders, a column each; position i is the same order in
// all of them. Positions are given as orders come and never change.
type memory struct {
	used time.Time // guarded by memoryOf.mu, as is size
	size int

	mu     sync.RWMutex
	moment moment
	live   bitmap
	at     map[ID]int32

	ids          []ID
	users        []users.ID
	transactions []TransactionID
	created      []int64 // microseconds
	updated      []int64
	kinds        []uint8 // status and method, see kindOf
	critical     []bool
	verdicts     []uint8 // 1 + index of Interpretations; 0 for none
	activates    []int32 // yyyymmdd; 0 for none
	byTime       []int32 // positions by creation
	names        nameMemory
}

// of is the team's memory. Memories that nobody used for long are given up,
// and the longest unused when all are too large together.
func (m *memoryOf) of(team teams.ID, now time.Time) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	total, oldest := 0, team
	for id, t := range m.teams {
		if now.Sub(t.used) > rememberedFor {
			delete(m.teams, id)
			continue
		}
		total += t.size
		if id != team && (oldest == team || t.used.Before(m.teams[oldest].used)) {
			oldest = id
		}
	}
	if total > m.most && oldest != team {
		delete(m.teams, oldest)
	}
	t := m.teams[team]
	if t == nil {
		t = &memory{at: map[ID]int32{}}
		m.teams[team] = t
	}
	t.used = now
	return t
}

func (m *memoryOf) resize(t *memory, size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t.size = size
}

// kindOf packs a status and a method.
func kindOf(s Status, m Method) uint8 {
	return uint8(slices.Index(Statuses, s)*len(labs.Methods) + slices.Index(labs.Methods, m))
}

func (m *memory) len() int { return len(m.ids) }

// catchUp takes what changed. The caller holds mu for writing.
func (m *memory) catchUp(ctx context.Context, tx *store.Tx, team teams.ID, to moment) error {
	before := m.len()
	after := int64(-1)
	var afterID ID
	for {
		rows, err := readColumns(ctx, tx, team, m.moment, after, afterID)
		if err != nil {
			return err
		}
		for i := range rows {
			m.put(&rows[i])
		}
		if len(rows) < readAtOnce {
			break
		}
		last := rows[len(rows)-1]
		after, afterID = last.change, last.id
	}
	erased, err := idsOf(ctx, tx, `SELECT order_id FROM order_erasures WHERE team_id = $1 AND `+m.moment.since("change"), team)
	if err != nil {
		return err
	}
	for _, id := range erased {
		if at, ok := m.at[id]; ok {
			m.live.clear(at)
			delete(m.at, id)
		}
	}
	m.moment = to
	m.arrange(before)
	return nil
}

// columnRow is an order as the memory reads it.
type columnRow struct {
	change           int64
	id               ID
	user             users.ID
	transaction      TransactionID
	created, updated int64
	kind             uint8
	critical         bool
	verdict          uint8
	activate         int32
}

func readColumns(ctx context.Context, tx *store.Tx, team teams.ID, since moment, after int64, afterID ID) ([]columnRow, error) {
	rows, err := tx.Query(ctx, `SELECT change, id, user_id, transaction_id, created_at, updated_at, status, method, is_critical, interpretation, activate_by
		FROM orders WHERE team_id = $1 AND (change, id) > ($2, $3) AND `+since.since("change")+` ORDER BY change, id LIMIT $4`,
		team, after, afterID, readAtOnce)
	if err != nil {
		return nil, fmt.Errorf("orders: reading what changed: %w", err)
	}
	defer rows.Close()
	var all []columnRow
	for rows.Next() {
		var r columnRow
		var status Status
		var method Method
		var interpretation sql.NullString
		var day *civil.Date
		if err := rows.Scan(&r.change, &r.id, &r.user, &r.transaction, &r.created, &r.updated, &status, &method, &r.critical, &interpretation, nullDate{&day}); err != nil {
			return nil, fmt.Errorf("orders: reading what changed: %w", err)
		}
		r.kind = kindOf(status, method)
		r.verdict = uint8(1 + slices.Index(Interpretations, Interpretation(interpretation.String)))
		if day != nil {
			r.activate = dayNumber(*day)
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// dayNumber is a date as a number that sorts.
func dayNumber(d civil.Date) int32 { return int32(d.Year*10000 + int(d.Month)*100 + d.Day) }

// put adds an order, or changes what is remembered of it.
func (m *memory) put(r *columnRow) {
	at, known := m.at[r.id]
	if !known {
		at = int32(m.len())
		m.at[r.id] = at
		m.ids = append(m.ids, r.id)
		m.users = append(m.users, r.user)
		m.transactions = append(m.transactions, r.transaction)
		m.created = append(m.created, r.created)
		m.updated = append(m.updated, 0)
		m.kinds = append(m.kinds, 0)
		m.critical = append(m.critical, false)
		m.verdicts = append(m.verdicts, 0)
		m.activates = append(m.activates, 0)
		if len(m.live)*64 < m.len() {
			m.live = append(m.live, 0)
		}
		m.live.set(at)
	}
	m.users[at], m.updated[at], m.kinds[at], m.critical[at] = r.user, r.updated, r.kind, r.critical
	m.verdicts[at], m.activates[at] = r.verdict, r.activate
}

// arrange puts the positions from a first new one into the order of time. New
// orders are mostly the newest ones.
func (m *memory) arrange(first int) {
	if m.byTime = positions(m.byTime, m.len()); first == m.len() {
		return
	}
	added := m.byTime[first:]
	slices.SortFunc(added, m.compareTime)
	if first > 0 && m.compareTime(m.byTime[first-1], added[0]) > 0 {
		slices.SortFunc(m.byTime, m.compareTime) // two runs in order: quick
	}
}

// positions extends a list of positions to n.
func positions(list []int32, n int) []int32 {
	list = slices.Grow(list, n-len(list))
	for i := len(list); i < n; i++ {
		list = append(list, int32(i))
	}
	return list
}

func (m *memory) compareTime(a, b int32) int {
	return cmp.Or(cmp.Compare(m.created[a], m.created[b]), bytes.Compare(m.ids[a][:], m.ids[b][:]))
}
