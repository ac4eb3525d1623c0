package continuous

import (
	"context"
	"sync"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// remembered is how long a process trusts what it knows of a team's queries.
// A change made by another node is seen after that, which delays the first run
// of a new query to the data that comes next: that run looks at everything.
const remembered = 5 * time.Second

// mostKnown bounds the memory for teams.
const mostKnown = 10_000

// known are the active queries of teams, so that storing data of a team
// without any costs no statement.
var known queries

type queries struct {
	mu    sync.RWMutex
	teams map[teams.ID]entry
}

type entry struct {
	queries []Query
	until   time.Time
}

// of are the team's active queries.
func (k *queries) of(ctx context.Context, tx *store.Tx, team teams.ID) ([]Query, error) {
	k.mu.RLock()
	e, ok := k.teams[team]
	k.mu.RUnlock()
	if now := tx.Now(); ok && now.Before(e.until) && now.After(e.until.Add(-2*remembered)) {
		return e.queries, nil
	}
	all, err := List(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	until := tx.Now().Add(remembered)
	tx.AfterCommit(func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.teams == nil || len(k.teams) >= mostKnown {
			k.teams = map[teams.ID]entry{}
		}
		k.teams[team] = entry{all, until}
	})
	return all, nil
}

func (k *queries) forget(team teams.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.teams, team)
}
