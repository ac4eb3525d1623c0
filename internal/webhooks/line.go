package webhooks

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/events"
	"hale/internal/ids"
	"hale/internal/store"
	"hale/internal/teams"
)

// line is one endpoint's share of the deliverer: what it has in hand, who is
// posting, and what is known to wait in the database.
type line struct {
	d         *Deliverer
	team      uuid.UUID
	id        EndpointID
	transport *http.Transport
	pace      chan struct{} // whoever is in it may take the next token

	mu       sync.Mutex
	target   *target
	queues   [lanes]queue
	inHand   map[hand]struct{} // claimed and not yet recorded
	freed    []hand            // recorded while a claim was reading
	wanted   [lanes]bool       // the database may have due rows
	claiming bool
	offered  bool // waits for a claimer
	closed   bool
	checking bool // a sweep found old rows although the line was idle
	unsure   bool // rows may be marked as ours that are not in hand
	claimed  time.Time // when the last claim began
	pausing  bool      // the next claim waits for more to come together

	workers int
	window  int // how many workers there may be
	turn    int
	bucket  bucket
	noted   time.Time // when the endpoint's health was last written

	retryAt time.Time // when the timer goes off; zero when it is not set
	timer   *time.Timer
}

// claimPause is the least time between two claims of a line that has work in
// hand. Each claim reads past what is in hand, so a few events more at a time
// save much of it; a line with nothing to do claims at once.
const claimPause = 2 * time.Millisecond

// fewest is the window of an endpoint that does not answer: enough to notice
// that it is back.
const fewest = 4

func newLine(d *Deliverer, team uuid.UUID, id EndpointID) *line {
	return &line{
		d: d, team: team, id: id,
		transport: newTransport(d.cfg.Guard, d.cfg.Dial, d.cfg.TLS),
		pace:      make(chan struct{}, 1),
		inHand:    map[hand]struct{}{},
		window:    maxInFlight,
	}
}

func teamID(id uuid.UUID) teams.ID { return ids.From[teams.Team](id) }

// poke says that there may be due rows in lanes.
func (l *line) poke(which ...int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, lane := range which {
		l.wanted[lane] = true
	}
	l.ask()
}

// found takes in what a sweep saw of the endpoint.
func (l *line) found(b *backlog, starting bool) {
	now := l.d.db.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	idle := len(l.inHand) == 0 && !l.claiming && !l.offered
	for lane, at := range b.earliest {
		switch {
		case at.IsZero():
		case at.After(now):
			l.setTimer(at)
		default:
			l.wanted[lane] = true
			if idle && !starting && now.Sub(at) > overdue {
				l.checking = true
			}
		}
	}
	if l.target != nil && l.target.revision != b.revision {
		l.wanted[laneFirst] = true // claiming reloads it
	}
	l.ask()
}

// ask offers the line to the claimers if a lane wants rows and has room. l.mu
// is held, here and in what follows.
func (l *line) ask() {
	if l.offered || l.claiming || l.closed || l.pausing {
		return
	}
	for lane := range l.wanted {
		if l.room(lane) == 0 {
			continue
		}
		if wait := claimPause - l.d.db.Now().Sub(l.claimed); wait > 0 && len(l.inHand) > 0 {
			l.pause(wait)
			return
		}
		l.offered = true
		l.d.offer(l)
		return
	}
}

// pause asks again in a moment.
func (l *line) pause(wait time.Duration) {
	l.pausing = true
	time.AfterFunc(min(wait, claimPause), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.pausing = false
		l.ask()
	})
}

// room is how many rows to claim of a lane: none until few are left, so that
// claims are large when there is much to do.
func (l *line) room(lane int) int {
	if have := l.queues[lane].len(); l.wanted[lane] && have <= maxInFlight {
		return claimSize - have
	}
	return 0
}

// setTimer makes sure that retries are looked for at a moment.
func (l *line) setTimer(at time.Time) {
	if l.closed || !l.retryAt.IsZero() && !at.Before(l.retryAt) {
		return
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	l.retryAt = at
	l.timer = time.AfterFunc(max(0, at.Sub(l.d.db.Now())), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.retryAt = time.Time{}
		l.wanted[laneRetry] = true
		l.ask()
	})
}

// claim takes due rows into hand and sees that somebody posts them.
func (l *line) claim(ctx context.Context) {
	l.mu.Lock()
	l.offered, l.claiming, l.claimed = false, true, l.d.db.Now()
	c := claim{known: l.target, unsure: l.unsure || l.checking}
	for lane := range c.most {
		if c.most[lane] = l.room(lane); c.most[lane] > 0 {
			l.wanted[lane] = false
		}
	}
	l.mu.Unlock()

	err := l.take(ctx, &c)
	for _, p := range l.settle(ctx, &c, err) {
		l.d.results.Add(result{line: l, parcel: p, fate: returned})
	}
}

// settle takes in what a claim brought and returns what is to be given back.
func (l *line) settle(ctx context.Context, c *claim, err error) (back []*parcel) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.claiming = false
	for _, h := range l.freed {
		delete(l.inHand, h)
	}
	l.freed = nil
	if err != nil || l.closed {
		if err != nil {
			l.d.cfg.Log.ErrorContext(ctx, "claiming deliveries", "endpoint", l.id, "error", err)
			l.unsure = true
			l.askLater(c.most)
		}
		return c.parcels()
	}
	if c.fresh != nil {
		l.target = c.fresh
	}
	if l.target != nil {
		l.bucket.setRate(float64(l.target.rate) / float64(l.d.peers()))
	}
	l.unsure = l.unsure && !c.unsure
	for lane, h := range c.got {
		l.accept(lane, h, c.most[lane])
	}
	l.checking = false
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
	if l.checking && len(h.parcels) > 0 {
		l.d.cfg.Stranded(len(h.parcels))
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
	unsure bool // take rows that are marked as ours as well

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
	return c.known == nil || revision != 0 && revision != c.known.revision
}

// take reads due rows, the endpoint if it changed, and bodies. inHand is read
// without the lock: while a claim runs, only the claim itself would change it.
func (l *line) take(ctx context.Context, c *claim) error {
	run := l.d.db.Read
	if l.d.db.Engine() == store.Postgres {
		run = l.d.db.Write
	}
	err := run(ctx, func(tx *store.Tx) (err error) {
		c.got = [lanes]haul{}
		if err := events.PreferIndexes(ctx, tx); err != nil {
			return err
		}
		for lane, n := range c.most {
			if n == 0 {
				continue
			}
			if c.got[lane], err = l.takeLane(ctx, tx, lane, n, c.unsure); err != nil {
				return err
			}
		}
		return nil
	})
	all := c.parcels()
	if err != nil || len(all) == 0 || !c.stale() && !l.lacksBodies(all) {
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

func (l *line) takeLane(ctx context.Context, tx *store.Tx, lane, most int, unsure bool) (h haul, err error) {
	if tx.Engine() == store.Postgres {
		h, err = claimPostgres(ctx, tx, l.team, l.id, lane, most, l.d.cfg.Node.ID(), unsure, l.inHand)
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
// rest is read when its turn comes.
func (l *line) loadBodies(ctx context.Context, tx *store.Tx, all []*parcel) error {
	budget := bodiesAtOnce
	for from := 0; from < len(all) && budget > 0; from += 16 {
		part := all[from:min(from+16, len(all))]
		wanted := make([]events.ID, len(part))
		for i, p := range part {
			wanted[i] = p.event
		}
		bodies, err := events.Bodies(ctx, tx, l.team, wanted)
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

// release lets go of a recorded parcel.
func (l *line) release(h hand, retryAt time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.claiming {
		l.freed = append(l.freed, h) // the claim may have read the row as it was before
	} else {
		delete(l.inHand, h)
	}
	if !retryAt.IsZero() {
		l.setTimer(retryAt)
	}
}

// open lets the line work, again after a close.
func (l *line) open(yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed && yes {
		l.closed, l.target, l.window = false, nil, maxInFlight
	}
}

func (l *line) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.inHand) > 0 || l.claiming || l.workers > 0
}

// close ends the line. Workers finish the post they are at.
func (l *line) close() {
	l.mu.Lock()
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
		l.retryAt = time.Time{}
	}
	var back []*parcel
	for lane := range l.queues {
		for p := l.queues[lane].pop(); p != nil; p = l.queues[lane].pop() {
			back = append(back, p)
		}
	}
	l.mu.Unlock()
	for _, p := range back {
		l.d.results.Add(result{line: l, parcel: p, fate: returned})
	}
	l.transport.CloseIdleConnections()
}

// queue is a first-in, first-out list.
type queue struct {
	items []*parcel
	head  int
}

func (q *queue) len() int { return len(q.items) - q.head }

func (q *queue) push(p *parcel) {
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	q.items = append(q.items, p)
}

func (q *queue) pop() *parcel {
	if q.len() == 0 {
		return nil
	}
	p := q.items[q.head]
	q.items[q.head] = nil
	q.head++
	return p
}

// random spreads retries; it is no secret.
func random() float64 { return rand.Float64() }
