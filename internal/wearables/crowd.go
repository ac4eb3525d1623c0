package wearables

import (
	"context"
	"errors"
	"sync"

	"hale/internal/store"
	"hale/internal/teams"
	"hale/internal/users"
)

// Many phones push a few samples at the same moment. Each push on its own is a
// dozen statements; those that wait together are stored together, in one
// transaction, with a few statements for all of them.
//
// What a crowd takes is the ordinary case: a few samples of known series, not
// of history, for a user whose connection is known. Everything else, and every
// push of a crowd that could not be stored, goes the way of a single push, which
// decides.

// mostInCrowd bounds how many pushes one transaction carries.
const mostInCrowd = 64

// crowds is how many transactions of pushes are on their way at once: while one
// commits, the next is planned.
const crowds = 2

// crowd gathers the pushes that wait.
type crowd struct {
	mu      sync.Mutex
	waiting []*pushed
	leaders int
}

// pushed is one push in a crowd.
type pushed struct {
	team  teams.ID
	id    users.ID
	batch *Batch

	user  users.User
	job   *job
	alone bool // must be stored by itself
	done  chan struct{}
}

// Push stores what a phone sends for a user, with its events, in one
// transaction that it may share with others. See Ingest.
func (in *Ingester) Push(ctx context.Context, team teams.ID, id users.ID, b Batch) (users.User, Result, error) {
	if b.small() && b.Stage != Historical && in.Linked != nil && !store.CarriesMore(ctx) {
		p := &pushed{team: team, id: id, batch: &b, done: make(chan struct{})}
		in.crowd.join(in, p)
		<-p.done
		if !p.alone {
			return p.user, p.job.result(), nil
		}
	}
	return in.IngestFor(ctx, func(tx *store.Tx) (users.User, error) { return users.Get(ctx, tx, team, id) }, b)
}

func (c *crowd) join(in *Ingester, p *pushed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, p)
	if c.leaders < crowds {
		c.leaders++
		go c.lead(in)
	}
}

// lead stores crowds until nobody waits.
func (c *crowd) lead(in *Ingester) {
	for {
		group := c.next()
		if group == nil {
			return
		}
		in.storeCrowd(group)
		for _, p := range group {
			close(p.done)
		}
	}
}

// next takes those who go together: one team, one provider, each user once.
func (c *crowd) next() []*pushed {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.leaders--
		return nil
	}
	first := c.waiting[0]
	group, rest := make([]*pushed, 0, min(len(c.waiting), mostInCrowd)), c.waiting[:0:0]
	seen := make(map[users.ID]bool, len(c.waiting))
	for _, p := range c.waiting {
		if len(group) == mostInCrowd || p.team != first.team || p.batch.Provider != first.batch.Provider || seen[p.id] {
			rest = append(rest, p)
			continue
		}
		seen[p.id] = true
		group = append(group, p)
	}
	c.waiting = rest
	return group
}

// storeCrowd stores the group in one transaction. Those that need more than it
// does are told to go alone, and so is everybody when it fails: then each gets
// the error that is its own.
func (in *Ingester) storeCrowd(group []*pushed) {
	ctx := store.WithTeam(context.Background(), group[0].team.UUID())
	if err := in.tryCrowd(ctx, group); err != nil {
		for _, p := range group {
			p.alone = true
		}
	}
}

func (in *Ingester) tryCrowd(ctx context.Context, group []*pushed) error {
	if in.DB.Engine() == store.Postgres {
		// One transaction less: reading takes no locks there.
		return in.DB.Write(ctx, func(tx *store.Tx) error {
			if err := in.planCrowd(ctx, tx, group); err != nil {
				return err
			}
			return in.writeCrowd(ctx, tx, group)
		})
	}
	var before int64
	if err := in.DB.Peek(ctx, func(tx *store.Tx) (err error) {
		if before, err = partings(ctx, tx); err != nil {
			return err
		}
		return in.planCrowd(ctx, tx, group)
	}); err != nil {
		return err
	}
	return in.DB.Write(ctx, func(tx *store.Tx) error {
		now, err := partings(ctx, tx)
		if err == nil && now != before { // somebody may be gone who was there
			err = in.planCrowd(ctx, tx, group)
		}
		if err != nil {
			return err
		}
		return in.writeCrowd(ctx, tx, group)
	})
}

// partings is how often a connection of anybody was removed or paused: SQLite
// counts them, so that one row tells whether a plan still holds.
func partings(ctx context.Context, tx *store.Tx) (n int64, err error) {
	err = tx.QueryRow(ctx, `SELECT partings FROM instance WHERE id = 1`).Scan(&n)
	return n, err
}

// planCrowd looks up the users with their connections, then the blocks, and
// merges the samples.
func (in *Ingester) planCrowd(ctx context.Context, tx *store.Tx, group []*pushed) error {
	ids := make([]users.ID, len(group))
	for i, p := range group {
		ids[i], p.alone = p.id, false
	}
	column, brings := in.Linked(group[0].batch.Provider)
	var b store.Batch
	var who users.Crowd
	who.Ask(tx, &b, group[0].team, ids, column)
	if err := tx.Run(ctx, &b); err != nil {
		return err
	}
	found, err := who.Open(ctx, tx)
	if err != nil {
		return err
	}
	for _, p := range group {
		user, ok := found[p.id]
		if !ok {
			p.alone = true
			continue
		}
		p.user = user.User
		p.job = in.intake(user.User, p.batch)
		p.alone = in.ended(user.User) || !p.job.ordinary() || !brings(user.Beside, p.job.resources)
	}
	heads, err := readHeads(ctx, tx, group)
	if err != nil {
		return err
	}
	for _, p := range group {
		if p.alone {
			continue
		}
		if err := p.job.planOn(ctx, tx, heads); errors.Is(err, errCrowded) {
			p.alone = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// ordinary tells that a job is a few samples of known series and nothing else,
// and notes those series.
func (j *job) ordinary() bool {
	if len(j.summaries)+len(j.streams) > 0 || len(j.series) == 0 {
		return false
	}
	for _, w := range j.series {
		known, ok := j.in.cache.get(j.user, w.id)
		if !ok {
			return false
		}
		w.series = known
	}
	return true
}
