package store

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

const (
	mostCachedKeys = 200_000
	// keyLife is how long an opened key serves without another look whether it
	// is still there. What one node shreds, the others can open for that long.
	keyLife = time.Minute
)

// keyCache keeps opened keys in memory; when full it starts over.
type keyCache struct {
	mu    sync.RWMutex
	keys  map[subject]*subjectKeys
	drops atomic.Uint64
}

// get gives the keys of a subject, nil when they are not here or too old at now.
func (c *keyCache) get(s subject, now time.Time) *subjectKeys {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k := c.keys[s]
	if k == nil || now.Sub(k.asOf).Abs() >= keyLife { // a clock can be set back
		return nil
	}
	return k
}

// put keeps what a transaction read. drops is how many there had been when it
// began: one that began before a drop may have read what was dropped.
func (c *keyCache) put(s subject, k *subjectKeys, drops uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if drops != c.drops.Load() {
		return
	}
	if c.keys == nil || len(c.keys) >= mostCachedKeys {
		c.keys = map[subject]*subjectKeys{}
	}
	c.keys[s] = k
}

func (c *keyCache) drop(s subject) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops.Add(1)
	forget(c.keys, s)
}

// forget removes the keys of a subject; with a team's those of its users.
func forget(keys map[subject]*subjectKeys, s subject) {
	delete(keys, s)
	if s.user == uuid.Nil {
		maps.DeleteFunc(keys, func(of subject, _ *subjectKeys) bool { return of.team == s.team })
	}
}
