package orders

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// A list of orders can be filtered in a dozen ways at once, sorted in three,
// and says how many there are in all: no set of indexes answers every
// combination of that for a million orders, and the names are sealed besides.
// So each process keeps the few columns that lists ask for: some 75 bytes an
// order. A query is one pass over the columns it names, a millisecond or two for
// each; the page's rows are then read by their ids. Before each query the memory
// takes what changed (changes.go), so that it is never behind the transaction
// that asks. How it is filled is in memory_load.go.
//
// docs/decisions/0007-order-search.md has the figures.

// memories is what this process remembers of teams' orders.
var memories = &memoryOf{most: mostRemembered, teams: map[teams.ID]*memory{}}

const (
	mostRemembered = 4_000_000      // orders over all teams
	rememberedFor  = 24 * time.Hour // after the last query
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

	// turn is held by the one who reads from the database for the memory. It
	// comes before mu, which is only held while nothing is waited for.
	turn chan struct{}

	mu     sync.RWMutex
	loaded bool   // the whole team is here, as of moment
	moment moment // before it is loaded: of the oldest snapshot that was read
	after  mark   // how far loading came
	live   bitmap
	places places[ID]

	ids       []ID
	created   []int64 // microseconds
	updated   []int64
	kinds     []uint8 // status and method, see kindOf
	results   []uint8 // interpretation and whether it is critical, see resultOf
	activates []int32 // yyyymmdd; 0 for none
	byTime    []int32 // positions by creation
	names     nameMemory

	people   []users.ID // each once
	peopleAt places[users.ID]
	whose    []int32 // the order's place in people
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
		t = &memory{turn: make(chan struct{}, 1)}
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
	return uint8(slices.Index(Statuses, s)*len(catalogue.Methods) + slices.Index(catalogue.Methods, m))
}

// resultOf packs what lists ask of results.
func resultOf(i Interpretation, critical bool) uint8 {
	return uint8(2*(1+slices.Index(Interpretations, i)) + int(one(critical)))
}

// dayNumber is a date as a number that sorts.
func dayNumber(d civil.Date) int32 { return int32(d.Year*10000 + int(d.Month)*100 + d.Day) }

func (m *memory) len() int { return len(m.ids) }

// wait takes the turn to read for the memory; the caller gives it back.
func (m *memory) wait(ctx context.Context) (done func(), err error) {
	select {
	case m.turn <- struct{}{}:
		return func() { <-m.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// prepare brings the memory to the moment of the transaction's snapshot.
func (m *memory) prepare(ctx context.Context, tx *store.Tx, team teams.ID) error {
	to, err := now(ctx, tx, team)
	if err != nil {
		return err
	}
	m.mu.RLock()
	ready := m.loaded && !to.differs(m.moment)
	m.mu.RUnlock()
	if ready {
		return nil
	}
	done, err := m.wait(ctx)
	if err != nil {
		return err
	}
	defer done()
	for !m.loaded {
		if err := m.load(ctx, tx, team, to); err != nil {
			return err
		}
	}
	if !to.differs(m.moment) {
		return nil
	}
	return m.catchUp(ctx, tx, team, to)
}

// catchUp takes what changed. The caller has the turn.
func (m *memory) catchUp(ctx context.Context, tx *store.Tx, team teams.ID, to moment) error {
	var rows []columnRow
	var erased []ID
	var b store.Batch
	m.moment.unseen(&b, scanInto(&rows), `SELECT `+remembered+` FROM orders WHERE team_id = $1`, team)
	m.moment.unseen(&b, func(from store.Scanner) error {
		var id ID
		err := from.Scan(&id)
		erased = append(erased, id)
		return err
	}, `SELECT order_id FROM order_erasures WHERE team_id = $1`, team)
	if err := tx.Run(ctx, &b); err != nil {
		return err
	}
	if err := openNames(ctx, tx, team, rows); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.len()
	for i := range rows {
		m.put(&rows[i])
	}
	for _, id := range erased {
		m.forget(id)
	}
	m.moment = to
	m.arrange(before)
	return nil
}

// grow makes room for more orders.
func (m *memory) grow(more int) {
	m.ids = slices.Grow(m.ids, more)
	m.places.grow(m.ids, more)
	m.created, m.updated = slices.Grow(m.created, more), slices.Grow(m.updated, more)
	m.kinds, m.results = slices.Grow(m.kinds, more), slices.Grow(m.results, more)
	m.activates, m.whose = slices.Grow(m.activates, more), slices.Grow(m.whose, more)
	m.live = slices.Grow(m.live, more/64+1)
	m.names.grow(more)
}

// put adds an order, or changes what is remembered of it.
func (m *memory) put(r *columnRow) {
	at, known := m.places.find(m.ids, r.id)
	if !known {
		at = int32(m.len())
		m.ids = append(m.ids, r.id)
		m.places.add(m.ids)
		m.created = append(m.created, r.created)
		m.updated = append(m.updated, 0)
		m.kinds = append(m.kinds, 0)
		m.results = append(m.results, 0)
		m.activates = append(m.activates, 0)
		m.whose = append(m.whose, 0)
		if len(m.live)*64 < m.len() {
			m.live = append(m.live, 0)
		}
		m.live.set(at)
	}
	m.updated[at], m.kinds[at], m.results[at], m.activates[at], m.whose[at] = r.updated, r.kind, r.result, r.activate, m.person(r.user)
	m.names.put(at, r.names, !known)
}

// person is the place of a user among the people.
func (m *memory) person(id users.ID) int32 {
	at, known := m.peopleAt.find(m.people, id)
	if !known {
		at = int32(len(m.people))
		m.people = append(m.people, id)
		m.peopleAt.add(m.people)
	}
	return at
}

// forget leaves an erased order out, and nothing of its names.
func (m *memory) forget(id ID) {
	at, known := m.places.find(m.ids, id)
	if !known || !m.live.has(at) {
		return
	}
	m.live.clear(at)
	m.names.put(at, noNames, false)
}

// arrange puts the positions from a first new one, and those whose names
// changed, into their orders. New orders are mostly the newest ones.
func (m *memory) arrange(first int) {
	added := make([]int32, 0, m.len()-first)
	for at := first; at < m.len(); at++ {
		added = append(added, int32(at))
	}
	m.byTime = placeInto(m.byTime, added, m.compareTime)
	m.names.arrange(m.live, m.byTime, m.compareName)
}

func (m *memory) compareTime(a, b int32) int {
	return cmp.Or(cmp.Compare(m.created[a], m.created[b]), bytes.Compare(m.ids[a][:], m.ids[b][:]))
}

func (m *memory) compareName(a, b int32) int {
	if c := m.names.compare(m.names.patients[a], m.names.patients[b]); c != 0 {
		return c
	}
	return m.compareTime(a, b)
}
