package ingest

import (
	"sync"

	"hale/internal/wearables/storage"

	"github.com/google/uuid"
)

// mostCachedSeries bounds the memory for known series, some 400 bytes each.
const mostCachedSeries = 200_000

// seriesCache remembers series by identity; when full it starts over. Series
// are never renamed or renumbered, so an entry stays true.
type seriesCache struct {
	mu    sync.RWMutex
	known map[userSeries]storage.Series
}

type userSeries struct {
	user uuid.UUID
	storage.SeriesKey
}

func (c *seriesCache) get(user uuid.UUID, id storage.SeriesKey) (storage.Series, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s, ok := c.known[userSeries{user, id}]
	return s, ok
}

func (c *seriesCache) put(s storage.Series, id storage.SeriesKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= mostCachedSeries {
		c.known = map[userSeries]storage.Series{}
	}
	c.known[userSeries{s.User, id}] = s
}
