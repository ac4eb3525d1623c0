package ingest

import (
	"context"
	"errors"
	"sync"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
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
const mostInCrowd = 256

// crowds is how many transactions of pushes are on their way at once: while one
// commits, the next is planned on a reader. That is worth a commit and a
// snapshot of its own when enough wait for it; a few are cheaper in the next, and
// planned where they are written, whose pages are at hand.
const (
	crowds = 2
	enough = 64
)

// crowd gathers the pushes that wait.
type crowd struct {
	mu       sync.Mutex
	waiting  []*pushed
	leaders  int
	onTheWay map[users.ID]bool // users of the crowds that are being stored
}

// pushed is one push in a crowd.
type pushed struct {
	team  teams.ID
	id    users.ID
	batch *wearables.Batch

	user  users.User
	job   *job
	alone bool // must be stored by itself
	done  chan struct{}
}

// Push is what is pushed for one user, and what became of it.
type Push struct {
	User  users.ID
	Batch wearables.Batch

	Result wearables.Result
	Err    error // of this user alone; the others' data is stored
}

// Push stores what a phone sends for a user, with its events, in one
// transaction that it may share with others. See Ingest.
func (in *Ingester) Push(ctx context.Context, team teams.ID, id users.ID, b wearables.Batch) (users.User, wearables.Result, error) {
	all := []Push{{User: id, Batch: b}}
	who := in.PushAll(ctx, team, all)
	return who[0], all[0].Result, all[0].Err
}

// PushAll is Push for several users, each of whom is there once. What one sends
// is stored whole or not at all, whatever becomes of the others'.
func (in *Ingester) PushAll(ctx context.Context, team teams.ID, all []Push) []users.User {
	together := make([]*pushed, len(all))
	var waiting []*pushed
	for i := range all {
		b := &all[i].Batch
		if all[i].Err = in.mark(ctx, team, all[i].User, b); all[i].Err != nil {
			continue
		}
		if small(b) && b.Stage != wearables.Historical && in.Linked != nil && !store.HasAlongside(ctx) {
			together[i] = &pushed{team: team, id: all[i].User, batch: b, done: make(chan struct{})}
			waiting = append(waiting, together[i])
		}
	}
	if len(waiting) > 0 {
		in.crowd.join(in, waiting)
	}
	who := make([]users.User, len(all))
	for i := range all {
		p, one := together[i], &all[i]
		if one.Err != nil {
			continue
		}
		if p != nil {
			if <-p.done; !p.alone {
				who[i], one.Result = p.user, p.job.result()
				continue
			}
		}
		who[i], one.Result, one.Err = in.alone(ctx, team, one.User, one.Batch)
	}
	return who
}

// alone is Ingest for a user who is looked up, in the same transaction when the
// batch is small.
func (in *Ingester) alone(ctx context.Context, team teams.ID, id users.ID, b wearables.Batch) (user users.User, r wearables.Result, err error) {
	find := func(tx *store.Tx) error {
		user, err = users.Get(ctx, tx, team, id)
		return err
	}
	if !small(&b) {
		if err := in.DB.Peek(ctx, find); err != nil {
			return user, wearables.Result{}, err
		}
		r, err = in.Ingest(ctx, user, b)
		return user, r, err
	}
	for range persistent {
		var j *job
		err = in.DB.Write(ctx, func(tx *store.Tx) error {
			if err := find(tx); err != nil {
				return err
			}
			if in.ended(user) {
				return wearables.ErrPaused
			}
			j = in.intake(user, &b)
			if err := j.plan(ctx, tx); err != nil || !j.changes() {
				return err
			}
			return j.commit(ctx, tx)
		})
		if err == nil {
			return user, j.result(), nil
		}
		if errors.Is(err, wearables.ErrPaused) {
			return user, pausedResult(&b), nil
		}
		if !errors.Is(err, storage.ErrStale) {
			return user, wearables.Result{}, err
		}
	}
	return user, wearables.Result{}, errBusy
}

func (c *crowd) join(in *Ingester, all []*pushed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, all...)
	apart := !all[0].goesWith(c.waiting[0])
	for c.leaders == 0 || c.leaders < crowds && (apart || len(c.waiting) >= enough) {
		c.leaders++
		go c.lead(in)
	}
}

// lead stores crowds until nobody waits.
func (c *crowd) lead(in *Ingester) {
	var group []*pushed
	for {
		if group = c.next(group); len(group) == 0 {
			return
		}
		in.storeCrowd(group)
		for _, p := range group {
			close(p.done)
		}
	}
}

// next takes those who go together: one team, one provider, each user once, and
// none of whom another crowd is being stored, which would be a race. stored is
// the crowd that this leader has stored. Who waits for another leader's crowd is
// that leader's to take.
func (c *crowd) next(stored []*pushed) []*pushed {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range stored {
		delete(c.onTheWay, p.id)
	}
	if c.onTheWay == nil {
		c.onTheWay = map[users.ID]bool{}
	}
	group, rest := make([]*pushed, 0, min(len(c.waiting), mostInCrowd)), c.waiting[:0:0]
	for _, p := range c.waiting {
		if len(group) == mostInCrowd || c.onTheWay[p.id] || len(group) > 0 && !p.goesWith(group[0]) {
			rest = append(rest, p)
			continue
		}
		c.onTheWay[p.id] = true
		group = append(group, p)
	}
	if c.waiting = rest; len(group) == 0 {
		c.leaders--
	}
	return group
}

func (p *pushed) goesWith(o *pushed) bool {
	return p.team == o.team && p.batch.Provider == o.batch.Provider
}

// storeCrowd stores the group in one transaction. Those that need more than it
// does are told to go alone, and so is everybody when it fails: then each gets
// the error that is its own.
func (in *Ingester) storeCrowd(group []*pushed) {
	ctx := store.WithTeam(context.Background(), group[0].team.UUID())
	err := in.tryCrowd(ctx, group)
	if errors.Is(err, storage.ErrStale) { // with who went alone, or with another node
		err = in.tryCrowd(ctx, group)
	}
	if err != nil {
		for _, p := range group {
			p.alone = true
		}
	}
}

func (in *Ingester) tryCrowd(ctx context.Context, group []*pushed) error {
	if len(group) <= enough || in.DB.Engine() == store.Postgres { // on which nobody waits for one who writes
		return in.DB.Write(ctx, func(tx *store.Tx) error {
			d, err := in.prepareCrowd(ctx, tx, group)
			if err != nil {
				return err
			}
			return d.write(ctx, tx)
		})
	}
	var before int64
	var d *crowdDraft
	if err := in.DB.Peek(ctx, func(tx *store.Tx) (err error) {
		if before, err = partings(ctx, tx); err != nil {
			return err
		}
		d, err = in.prepareCrowd(ctx, tx, group)
		return err
	}); err != nil || len(d.jobs) == 0 {
		return err
	}
	return in.DB.Write(ctx, func(tx *store.Tx) error {
		now, err := partings(ctx, tx)
		if err != nil {
			return err
		}
		if now == before {
			return d.write(ctx, tx)
		}
		again, err := in.prepareCrowd(ctx, tx, group) // somebody may be gone who was there
		if err != nil {
			return err
		}
		return again.write(ctx, tx)
	})
}

// prepareCrowd does all that comes before writing.
func (in *Ingester) prepareCrowd(ctx context.Context, tx *store.Tx, group []*pushed) (*crowdDraft, error) {
	if err := in.planCrowd(ctx, tx, group); err != nil {
		return nil, err
	}
	return in.draftCrowd(ctx, tx, group)
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
	if in.Hold != nil {
		in.Hold(tx, &b, group[0].team)
	}
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
	stored, err := readStored(ctx, tx, group)
	if err != nil {
		return err
	}
	for _, p := range group {
		if p.alone {
			continue
		}
		if err := p.job.planOn(ctx, tx, stored); errors.Is(err, errCrowded) {
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
