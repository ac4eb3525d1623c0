package webhooks

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

const (
	maxInFlight = 32  // posts to one endpoint at once
	claimSize   = 200 // rows of one lane in memory, and of one claim

	// claimPause is the least time between two claims of a queue that has work. Each
	// claim reads past the rows that are claimed, so larger claims cost less. A queue
	// without work claims at once.
	claimPause = 2 * time.Millisecond
	// claimRetry is the wait after a claim that failed.
	claimRetry = 250 * time.Millisecond
	// recentEvents is the span of new events that most claims read on PostgreSQL. Index
	// entries of older deliveries are dead but stay until the next vacuum, and each claim
	// would step over them. Once in a span a claim reads from the beginning: it finds
	// events whose transactions took longer.
	recentEvents = 2 * time.Second

	// leastWindow is the window of an endpoint that does not answer: enough to notice
	// that it answers again.
	leastWindow = 4
)

// endpointQueue delivers to one endpoint. Its loop claims due deliveries, keeps them
// in lanes and starts workers. A worker posts one delivery after the other and gives
// each result to the recorder, which releases the delivery once the result is on
// disk.
type endpointQueue struct {
	d         *Deliverer
	team      uuid.UUID
	id        EndpointID
	transport *http.Transport
	wake      chan struct{} // the loop has something to do

	mu       sync.Mutex
	closed   bool                  // the loop ends, and nothing is claimed
	target   *target               // where to post to; nil while the endpoint is off or was not read yet
	revision int64                 // newest known of the endpoint; an older target is read again
	health   Health                // as last read or written
	healthAt time.Time             // when health was last written
	claims   claimPlan             // when to claim, and how many rows
	retryAt  time.Time             // when the next retry is due; zero if none is known
	late     bool                  // a sweep found rows that the queue should have claimed
	claimed  map[claimKey]struct{} // claimed and not yet recorded
	waiting  [lanes]fifo           // claimed and not yet with a worker
	workers  int                   // each has one delivery
	window   int                   // how many workers there may be
	taken    int                   // counts deliveries that workers took
	limit    bucket                // of posts per second
}

func newEndpointQueue(d *Deliverer, team uuid.UUID, id EndpointID) *endpointQueue {
	return &endpointQueue{
		d: d, team: team, id: id,
		transport: newTransport(d.cfg.Guard, d.cfg.Dial, d.cfg.TLS),
		wake:      make(chan struct{}, 1),
		claimed:   map[claimKey]struct{}{},
		window:    maxInFlight,
	}
}

func teamID(id uuid.UUID) teams.ID { return ids.FromUUID[teams.Team](id) }

// run claims deliveries and starts workers for them, until the queue is closed or the
// deliverer stops.
func (q *endpointQueue) run(ctx context.Context) {
	defer q.transport.CloseIdleConnections()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-q.d.halt:
			return
		case <-q.wake:
		case <-timer.C:
		}
		wait, ok := q.step(ctx)
		if !ok {
			return
		}
		timer.Reset(wait)
	}
}

// step claims due deliveries and starts workers. It returns how long the loop may
// sleep, or false if the queue is closed.
func (q *endpointQueue) step(ctx context.Context) (wait time.Duration, ok bool) {
	most, pause := q.plan()
	if most != ([lanes]int{}) {
		got, err := q.claimAtMost(ctx, most)
		if err != nil {
			q.d.cfg.Log.ErrorContext(ctx, "deliveries cannot be claimed", "endpoint", q.id, "error", err)
			q.addDue(most)
			pause = claimRetry
		} else {
			q.accept(got, most)
		}
	}
	if q.needsTarget() {
		if err := q.loadTarget(ctx); err != nil {
			q.d.cfg.Log.ErrorContext(ctx, "a webhook endpoint cannot be read", "endpoint", q.id, "error", err)
			pause = claimRetry
		}
	}
	return q.startWorkers(pause)
}

// notify wakes the loop.
func (q *endpointQueue) notify() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// addEvents notes that there may be new events.
func (q *endpointQueue) addEvents() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.claims.due[laneNew] = true
	q.notify()
}

// addDue notes that the lanes with a number may have due rows.
func (q *endpointQueue) addDue(most [lanes]int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for lane, n := range most {
		if n > 0 {
			q.claims.find(lane)
		}
	}
}

// refresh notes that the endpoint, or its due deliveries, may have changed. Waiting
// deliveries use the newest revision.
func (q *endpointQueue) refresh(revision int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for lane := range lanes {
		q.claims.find(lane)
	}
	q.revision = max(q.revision, revision)
	q.notify()
}

// discover notes the backlog that a sweep found.
func (q *endpointQueue) discover(b *backlog, starting bool) {
	now := q.d.db.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	for lane, at := range b.earliest {
		switch {
		case at.IsZero():
		case at.After(now):
			q.retryBy(at)
		default:
			q.claims.find(lane)
			q.late = q.late || !starting && now.Sub(at) > overdueAge && q.claims.at.Before(at)
		}
	}
	q.revision = max(q.revision, b.revision)
	q.notify()
}

// retryBy makes the loop look for retries at a moment. q.mu is held.
func (q *endpointQueue) retryBy(at time.Time) {
	if q.retryAt.IsZero() || at.Before(q.retryAt) {
		q.retryAt = at
		q.notify()
	}
}

// plan returns how many rows of each lane to claim, see claimPlan. pause is the time until
// the next claim, or 0 without a pause.
func (q *endpointQueue) plan() (most [lanes]int, pause time.Duration) {
	now := q.d.db.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.retryAt.IsZero() && !now.Before(q.retryAt) {
		q.claims.due[laneRetry], q.retryAt = true, time.Time{}
	}
	var waiting [lanes]int
	for lane := range waiting {
		waiting[lane] = q.waiting[lane].len()
	}
	return q.claims.next(now, waiting, len(q.claimed) > 0, q.d.db.Engine() == store.Postgres)
}

// claimAtMost claims when few other queues are claiming.
func (q *endpointQueue) claimAtMost(ctx context.Context, most [lanes]int) (got [lanes]claim, err error) {
	select {
	case q.d.claims <- struct{}{}:
		defer func() { <-q.d.claims }()
		return q.claim(ctx, most)
	case <-q.d.halt:
		return got, nil
	}
}

// accept puts claimed rows into their lanes. A queue that was closed meanwhile drops
// them: a later claim claims them again.
func (q *endpointQueue) accept(got [lanes]claim, most [lanes]int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	var took [lanes]int
	for lane, c := range got {
		took[lane] = len(c.deliveries)
		for _, d := range c.deliveries {
			q.claimed[d.key()] = struct{}{}
			q.waiting[lane].push(d)
		}
		q.revision = max(q.revision, c.revision)
		if !c.nextRetry.IsZero() {
			q.retryBy(c.nextRetry)
		}
		if q.late && len(c.deliveries) > 0 {
			q.d.cfg.Stranded(len(c.deliveries))
		}
	}
	q.late = false
	q.claims.finish(took, most)
}

// hasClaimed reports whether a delivery is claimed and not yet recorded.
func (q *endpointQueue) hasClaimed(key claimKey) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, ok := q.claimed[key]
	return ok
}

// claimedKeys lists the claimed deliveries, as two arrays for PostgreSQL.
func (q *endpointQueue) claimedKeys() (ids [][16]byte, attempts []int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	ids, attempts = make([][16]byte, 0, len(q.claimed)), make([]int64, 0, len(q.claimed))
	for key := range q.claimed {
		ids, attempts = append(ids, key.event), append(attempts, int64(key.attempts))
	}
	return ids, attempts
}

// release ends the claim of a delivery whose result is on disk.
func (q *endpointQueue) release(key claimKey, retryAt time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.claimed, key)
	if !retryAt.IsZero() {
		q.retryBy(retryAt)
	}
}

// current returns the target, or nil if it must be read first. q.mu is held.
func (q *endpointQueue) current() *target {
	if q.target == nil || q.target.revision < q.revision {
		return nil
	}
	return q.target
}

// needsTarget reports whether deliveries wait for the endpoint to be read.
func (q *endpointQueue) needsTarget() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.closed && q.lane() >= 0 && q.current() == nil
}

// loadTarget reads the endpoint. One that is off, or was deleted, gets nothing: the
// claims are given up.
func (q *endpointQueue) loadTarget(ctx context.Context) error {
	t, err := q.d.loadTarget(ctx, q.team, q.id)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if t == nil {
		q.target = nil
		q.forget()
		return nil
	}
	q.target, q.health = t, t.health
	q.revision = max(q.revision, t.revision)
	return nil
}

// forget gives up the claims of deliveries that wait. They stay pending in the
// database. q.mu is held.
func (q *endpointQueue) forget() {
	for lane := range q.waiting {
		for c := q.waiting[lane].pop(); c != nil; c = q.waiting[lane].pop() {
			delete(q.claimed, c.key())
		}
	}
}

// close ends a queue that has claimed nothing, and reports whether it did.
func (q *endpointQueue) close() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.target = nil // in case deliveries wait: the loop reads the endpoint and gives them up
	q.closed = len(q.claimed) == 0
	q.notify()
	return q.closed
}

// startWorkers gives waiting deliveries to new workers, as many as the window and
// the rate limit allow. It returns how long the loop may sleep, or false if the
// queue is closed.
func (q *endpointQueue) startWorkers(pause time.Duration) (wait time.Duration, ok bool) {
	now := q.d.db.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	if wait = pause; wait == 0 {
		wait = time.Hour // something wakes the loop before
	}
	if !q.retryAt.IsZero() {
		wait = min(wait, max(0, q.retryAt.Sub(now)))
	}
	if full, ok := q.claims.untilFull(now); ok {
		wait = min(wait, full)
	}
	if q.target != nil {
		q.limit.setRate(float64(q.target.rate) / float64(q.d.peers()))
	}
	for q.workers < q.window {
		c, t, limited := q.next()
		if c == nil {
			if limited > 0 {
				wait = min(wait, limited)
			}
			break
		}
		q.workers++
		q.d.posts.Go(func() { q.work(c, t) })
	}
	return wait, !q.closed
}

// lane returns the lane of the next delivery, or -1 if none waits. New events go
// first, but every eighth delivery is a retry or a replay. So a busy endpoint does
// not starve its retries, and a replay does not delay new events. q.mu is held.
func (q *endpointQueue) lane() int {
	order := [lanes]int{laneNew, laneRetry, laneReplay}
	if q.taken%8 == 7 {
		order = [lanes]int{laneRetry, laneReplay, laneNew}
	}
	for _, lane := range order {
		if q.waiting[lane].len() > 0 {
			return lane
		}
	}
	return -1
}

// next returns the next delivery to post, and its target. If the rate limit delays it,
// next returns how long. q.mu is held.
func (q *endpointQueue) next() (c *claimedDelivery, t *target, wait time.Duration) {
	lane := q.lane()
	if t = q.current(); lane < 0 || t == nil || q.d.halted() {
		return nil, nil, 0
	}
	if wait = q.limit.take(q.d.db.Now()); wait > 0 {
		return nil, nil, wait
	}
	q.taken++
	c = q.waiting[lane].pop()
	if q.claims.due[lane] && q.waiting[lane].len() <= maxInFlight {
		q.notify()
	}
	return c, t, 0
}

// fifo is a first-in, first-out list.
type fifo struct {
	items []*claimedDelivery
	head  int
}

func (f *fifo) len() int { return len(f.items) - f.head }

func (f *fifo) push(c *claimedDelivery) {
	if f.head == len(f.items) {
		f.items, f.head = f.items[:0], 0
	}
	f.items = append(f.items, c)
}

func (f *fifo) pop() *claimedDelivery {
	if f.len() == 0 {
		return nil
	}
	c := f.items[f.head]
	f.items[f.head] = nil
	f.head++
	return c
}

// bucket is a token bucket: it lets rate posts per second through, and up to a
// second's worth at once after a rest. The zero rate is no limit. It takes the
// present moment as an argument and never waits itself.
type bucket struct {
	rate   float64
	tokens float64
	last   time.Time
}

// setRate changes the limit; a bucket that was unlimited starts full.
func (b *bucket) setRate(perSecond float64) {
	if b.rate == 0 {
		b.tokens = max(perSecond, 1)
	}
	b.rate = perSecond
	b.tokens = min(b.tokens, max(perSecond, 1))
}

// take removes one token, or says how long to wait for it.
func (b *bucket) take(now time.Time) (wait time.Duration) {
	if b.rate == 0 {
		return 0
	}
	if elapsed := now.Sub(b.last); elapsed > 0 {
		if !b.last.IsZero() {
			b.tokens = min(b.tokens+elapsed.Seconds()*b.rate, max(b.rate, 1))
		}
		b.last = now
	}
	if b.tokens >= 1 {
		b.tokens--
		return 0
	}
	return time.Duration((1 - b.tokens) / b.rate * float64(time.Second))
}
