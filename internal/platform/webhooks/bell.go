package webhooks

import (
	"sync"

	"hale/internal/platform/teams"
)

// changed tells the deliverer of this process that a team's endpoints changed.
var changed bell

type bell struct {
	mu        sync.Mutex
	next      int
	listeners map[int]func(team teams.ID)
}

func (b *bell) add(fn func(teams.ID)) (remove func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[int]func(teams.ID){}
	}
	own := b.next
	b.next++
	b.listeners[own] = fn
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, own)
	}
}

func (b *bell) ring(team teams.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, fn := range b.listeners {
		fn(team)
	}
}
