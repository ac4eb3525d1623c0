package events

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// latest has the greatest numbers of teams on SQLite, where one process numbers all
// events. It saves reads a query.
var latest = store.NewSlot(func() *latestNumbers { return &latestNumbers{of: map[uuid.UUID]int64{}} })

type latestNumbers struct {
	mu sync.Mutex
	of map[uuid.UUID]int64
}

// note records a number. Notes may come in any order.
func (l *latestNumbers) note(team uuid.UUID, number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of[team] = max(l.of[team], number)
}

func (l *latestNumbers) get(team uuid.UUID) (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, ok := l.of[team]
	return n, ok
}

// Latest returns the greatest number of a team's events. Every later transaction sees
// the changes of all events up to it.
func Latest(ctx context.Context, db *store.DB, team uuid.UUID) (n int64, err error) {
	cache := latest.Of(db)
	if n, ok := cache.get(team); ok {
		return n, nil
	}
	err = db.Peek(ctx, func(tx *store.Tx) error {
		n, err = LastNumber(ctx, tx, team)
		return err
	})
	if err == nil && db.Engine() == store.SQLite {
		cache.note(team, n)
	}
	return n, err
}
