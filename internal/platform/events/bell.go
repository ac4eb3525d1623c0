package events

import (
	"sync"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// A process serves one database, so who waits for events of a team waits on
// one list. Listeners are called on the goroutine that committed: they note
// the team and return.
var (
	committed = bell{} // committed, perhaps not yet numbered
	ready     = bell{} // committed and numbered: may be read
	due       = bell{} // committed and numbered, with deliveries that nobody has in hand
)

// OnReady calls fn, from any goroutine, whenever a team has new events to read,
// until remove is called. fn must not block. A call may come without
// news; on PostgreSQL, events of another node come without a call.
func OnReady(fn func(team uuid.UUID)) (remove func()) { return ready.add(fn) }

// OnDue calls fn as OnReady does, whenever a team has new deliveries that no
// courier took.
func OnDue(fn func(team uuid.UUID)) (remove func()) { return due.add(fn) }

// rung is called after a commit that wrote events.
func rung(engine store.Engine, team uuid.UUID) {
	if engine == store.SQLite {
		ready.ring(team)
		due.ring(team)
	} else {
		committed.ring(team)
	}
}

type bell struct {
	mu        sync.Mutex
	listeners []*func(uuid.UUID)
}

func (b *bell) add(fn func(uuid.UUID)) (remove func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := &fn
	b.listeners = append(b.listeners[:len(b.listeners):len(b.listeners)], own)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		var rest []*func(uuid.UUID)
		for _, l := range b.listeners {
			if l != own {
				rest = append(rest, l)
			}
		}
		b.listeners = rest
	}
}

func (b *bell) ring(team uuid.UUID) {
	b.mu.Lock()
	listeners := b.listeners
	b.mu.Unlock()
	for _, l := range listeners {
		(*l)(team)
	}
}
