package webhooks

import (
	"context"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// claim takes due rows into hand and sees that somebody posts them.
func (l *line) claim(ctx context.Context) {
	l.mu.Lock()
	l.offered, l.claiming, l.claimed = false, true, l.d.db.Now()
	c := claim{known: l.target, unsure: l.unsure, reload: l.reload}
	switch {
	case l.unsure:
		c.ours = l.claimed
	case l.checking:
		c.ours = l.claimed.Add(-overdue)
	}
	l.reload = false
	for lane := range c.most {
		if c.most[lane] = l.room(lane); c.most[lane] > 0 {
			l.wanted[lane] = false
		}
	}
	l.mu.Unlock()

	err := l.take(ctx, &c)
	back := l.settle(ctx, &c, err)
	if l.d.db.Engine() == store.SQLite {
		return // nothing was marked, so there is nothing to give back
	}
	for _, p := range back {
		l.d.results.Add(result{line: l, parcel: p, fate: returned})
	}
}

// settle takes in what a claim brought, or returns it to be given back.
func (l *line) settle(ctx context.Context, c *claim, err error) (back []*parcel) {
	l.mu.Lock()
	defer l.mu.Unlock()
	back = l.takeIn(ctx, c, err)
	if l.closed || l.target == nil { // or closed and opened while the claim ran
		back, l.fresh = append(back, l.fresh...), nil
	}
	l.takeFresh()
	return back
}

func (l *line) takeIn(ctx context.Context, c *claim, err error) (back []*parcel) {
	l.claiming = false
	for _, h := range l.freed {
		delete(l.inHand, h)
	}
	l.freed = nil
	switch {
	case err != nil:
		l.d.cfg.Log.ErrorContext(ctx, "claiming deliveries", "endpoint", l.id, "error", err)
		l.unsure, l.reload = true, l.reload || c.reload
		l.askLater(c.most)
		return c.parcels()
	case l.closed:
		return c.parcels()
	case c.fresh == nil && l.target != c.known: // closed and opened while the claim ran
		for lane, n := range c.most {
			l.wanted[lane] = l.wanted[lane] || n > 0
		}
		l.ask()
		return c.parcels()
	}
	if c.fresh != nil {
		l.target = c.fresh
	}
	if l.target != nil {
		l.bucket.setRate(float64(l.target.rate) / float64(l.d.peers()))
	}
	l.unsure = l.unsure && !c.unsure
	more := false // than one claim takes
	for lane, h := range c.got {
		l.accept(lane, h, c.most[lane])
		more = more || h.left > 0 && len(h.parcels) == c.most[lane]
	}
	l.checking, l.idle = l.checking && more, false
	l.staff()
	l.ask()
	return nil
}

// accept puts what a claim brought into the queue of its lane.
func (l *line) accept(lane int, h haul, most int) {
	for _, p := range h.parcels {
		l.inHand[p.hand()] = struct{}{}
		l.queues[lane].push(p)
	}
	if most > 0 && len(h.parcels) == most {
		l.wanted[lane] = true
	}
	if !h.next.IsZero() {
		l.setTimer(h.next)
	}
	stranded := h.left
	if l.idle {
		stranded = len(h.parcels)
	}
	if l.checking && stranded > 0 {
		l.d.cfg.Stranded(stranded)
	}
}

// askLater wants the lanes again in a moment, after a failed claim.
func (l *line) askLater(most [lanes]int) {
	time.AfterFunc(250*time.Millisecond, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for lane, n := range most {
			l.wanted[lane] = l.wanted[lane] || n > 0
		}
		l.ask()
	})
}

// claim is one claim on its way: what is asked and what came.
type claim struct {
	most   [lanes]int
	known  *target
	unsure bool
	ours   time.Time // take rows that are marked as ours and due since then as well
	reload bool      // the endpoint is not as known, whatever the rows say

	got   [lanes]haul
	fresh *target // the endpoint, when it is not as known
}

func (c *claim) parcels() (all []*parcel) {
	for _, h := range c.got {
		all = append(all, h.parcels...)
	}
	return all
}

// stale tells that the endpoint changed since it was read.
func (c *claim) stale() bool {
	revision := int64(0)
	for _, h := range c.got {
		revision = max(revision, h.revision)
	}
	return c.known == nil || c.reload || revision != 0 && revision != c.known.revision
}

// take reads due rows, the endpoint if it changed, and bodies. inHand is read
// without the lock: while a claim runs, only the claim itself would change it.
func (l *line) take(ctx context.Context, c *claim) error {
	// SQLite would read as well on a connection of its own, but there each claim
	// after a commit finds its cache empty; the writer's is warm.
	err := l.d.db.Write(ctx, func(tx *store.Tx) (err error) {
		c.got = [lanes]haul{}
		// A claim need not outlive a crash, which ends the lease as well, so its
		// commit need not wait for the disk.
		if err := events.PreferIndexes(ctx, tx, `SET LOCAL synchronous_commit = off`); err != nil {
			return err
		}
		for lane, n := range c.most {
			if n == 0 {
				continue
			}
			if c.got[lane], err = l.takeLane(ctx, tx, lane, n, c.ours); err != nil {
				return err
			}
		}
		return nil
	})
	all := c.parcels()
	idle := len(all) == 0 && !c.reload
	if err != nil || idle || !c.stale() && !l.lacksBodies(all) {
		return err
	}
	return l.d.db.Read(ctx, func(tx *store.Tx) (err error) {
		if c.stale() {
			if c.fresh, err = loadTarget(ctx, tx, teamID(l.team), l.id, tx.Now()); err != nil {
				return err
			}
		}
		return l.loadBodies(ctx, tx, all)
	})
}

func (l *line) takeLane(ctx context.Context, tx *store.Tx, lane, most int, ours time.Time) (h haul, err error) {
	if tx.Engine() == store.Postgres {
		h, err = claimPostgres(ctx, tx, l.team, l.id, lane, most, l.d.cfg.Node.ID(), ours, l.inHand)
	} else {
		h, err = claimSQLite(ctx, tx, l.team, l.id, lane, most, l.inHand)
	}
	if err == nil && lane == laneRetry && len(h.parcels) < most {
		h.next, err = nextRetry(ctx, tx, l.team, l.id)
	}
	return h, err
}

// bodiesAtOnce bounds the bytes of envelopes that one claim reads ahead.
const bodiesAtOnce = 2 << 20

func (l *line) lacksBodies(all []*parcel) bool {
	lacking := false
	now := l.d.db.Now()
	for _, p := range all {
		p.body = events.Recent(p.event, now)
		lacking = lacking || p.body == nil
	}
	return lacking
}

// loadBodies reads the envelopes that are not in memory, as many as fit. The
// rest is read when its turn comes, and so is one that could not be read.
func (l *line) loadBodies(ctx context.Context, tx *store.Tx, all []*parcel) error {
	budget := bodiesAtOnce
	for from := 0; from < len(all) && budget > 0; from += 16 {
		part := all[from:min(from+16, len(all))]
		wanted := make([]events.ID, len(part))
		for i, p := range part {
			wanted[i] = p.event
		}
		bodies, _, err := events.Bodies(ctx, tx, l.team, wanted)
		if err != nil {
			return err
		}
		for _, p := range part {
			p.body = bodies[p.event]
			budget -= len(p.body)
		}
	}
	return nil
}
