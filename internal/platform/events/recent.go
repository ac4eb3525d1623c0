package events

import (
	"sync"
	"time"
)

// cache holds envelopes by event id, up to a number of bytes and an age. The
// oldest go first.
type cache struct {
	mu     sync.Mutex
	limit  int
	maxAge time.Duration
	size   int
	bodies map[ID]kept
	order  []cached // from oldest to newest, starting at head
	head   int
}

type kept struct {
	body []byte
	at   time.Time
}

type cached struct {
	id ID
	at time.Time
}

func newCache(limit int, maxAge time.Duration) *cache {
	return &cache{limit: limit, maxAge: maxAge, bodies: map[ID]kept{}}
}

func (c *cache) put(id ID, body []byte, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(id)
	c.bodies[id] = kept{body, at}
	c.size += len(body)
	c.order = append(c.order, cached{id, at})
	for c.head < len(c.order) && (c.size > c.limit || at.Sub(c.order[c.head].at) > c.maxAge) {
		c.drop(c.order[c.head].id)
		c.head++
	}
	if c.head > 1024 && c.head > len(c.order)/2 {
		c.order = append(c.order[:0], c.order[c.head:]...)
		c.head = 0
	}
}

func (c *cache) drop(id ID) {
	c.size -= len(c.bodies[id].body)
	delete(c.bodies, id)
}

// get gives the envelope, or nil when it is not here or too old at now.
func (c *cache) get(id ID, now time.Time) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.bodies[id]
	if now.Sub(k.at) > c.maxAge {
		return nil
	}
	return k.body
}

// clear forgets everything.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.bodies)
	c.order, c.head, c.size = nil, 0, 0
}
