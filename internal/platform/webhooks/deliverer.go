package webhooks

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
)

const (
	sweepEvery = 10 * time.Second
	overdueAge = time.Minute // a sweep reports rows that are due for longer as stranded
	// unknownEvery is the interval at which the endpoints of teams are read that have
	// events and no known endpoint: another node may have added one.
	unknownEvery = time.Second
	// claimers limits the queues that claim at the same time.
	claimers = 4
)

// changedEndpoints is the topic of changed endpoints of a team, and of deliveries that
// become due other than by new events.
const changedEndpoints = store.Topic("webhooks.endpoints")

// Config contains the settings of a Deliverer. The zero value of each field is usable.
type Config struct {
	Node     *jobs.Node // this process; needed on PostgreSQL
	Guard    Guard
	Schedule Schedule // DefaultSchedule
	Log      *slog.Logger
	// Observe is called with each attempt after it is recorded.
	Observe func(AttemptResult)
	// Stranded is called with the number of deliveries that only the sweep found. Any
	// number above zero is a fault of this program.
	Stranded func(n int)
	// CheckSending, when set, returns an error while nothing may be sent. It is called
	// before an example is posted. A Deliverer that must not send is not run.
	CheckSending func() error
	// RecordRetry is the wait before a result that the database refuses is recorded
	// again. Zero means a minute.
	RecordRetry time.Duration
	// Dial and TLS replace the network, for tests.
	Dial Dial
	TLS  *tls.Config
}

// AttemptResult describes an attempt, for metrics.
type AttemptResult struct {
	Outcome string        // sent, retried or failed
	Took    time.Duration // of the exchange
	Delay   time.Duration // from the event's commit to the end of the exchange
}

// Deliverer posts due deliveries. It keeps a queue for each endpoint that is on.
type Deliverer struct {
	db      *store.DB
	cfg     Config
	results *jobs.Batcher[result]
	claims  chan struct{} // holds a token for each queue that is claiming
	wake    chan struct{} // changed has teams
	halt    chan struct{} // closed when stopping
	loops   sync.WaitGroup
	posts   sync.WaitGroup

	mu       sync.Mutex
	stopping bool
	queues   map[EndpointID]*endpointQueue
	byTeam   map[uuid.UUID][]*endpointQueue // the slices do not change
	changed  map[uuid.UUID]struct{}         // teams whose endpoints are to be read
	holding  map[EndpointID]struct{}        // endpoints whose older deliveries are being held
	oldest   time.Time                      // when the oldest due delivery was due, as of the last sweep
}

// NewDeliverer makes a deliverer; Run starts it.
func NewDeliverer(db *store.DB, cfg Config) *Deliverer {
	if cfg.Schedule.Waits == nil {
		cfg.Schedule = DefaultSchedule
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Observe == nil {
		cfg.Observe = func(AttemptResult) {}
	}
	if cfg.Stranded == nil {
		cfg.Stranded = func(int) {}
	}
	if cfg.RecordRetry == 0 {
		cfg.RecordRetry = time.Minute
	}
	return &Deliverer{
		db: db, cfg: cfg,
		claims: make(chan struct{}, claimers), wake: make(chan struct{}, 1), halt: make(chan struct{}),
		queues: map[EndpointID]*endpointQueue{}, byTeam: map[uuid.UUID][]*endpointQueue{},
		changed: map[uuid.UUID]struct{}{}, holding: map[EndpointID]struct{}{},
	}
}

// Run delivers until ctx ends. Then it claims no more, waits for the posts that are
// under way, and records them.
func (d *Deliverer) Run(ctx context.Context) error {
	work := store.AsSystem(context.WithoutCancel(ctx))
	d.results = jobs.NewBatcher(recordMost, recordWait, func(group []result) { d.record(work, group) })
	defer events.OnNumbered(d.db, d.addEvents)()
	defer d.db.OnCommit(changedEndpoints, d.refreshLater)()
	lapsed := d.lapsed()
	d.sweep(work, true)
	sweep, unknown := time.NewTicker(sweepEvery), time.NewTicker(unknownEvery)
	defer sweep.Stop()
	defer unknown.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-lapsed:
			lapsed = d.lapsed()
			d.sweep(work, false)
		case <-sweep.C:
			d.sweep(work, false)
		case <-unknown.C:
			d.refresh(work)
		case <-d.wake:
			d.refresh(work)
		}
	}
	d.mu.Lock()
	d.stopping = true
	d.mu.Unlock()
	close(d.halt)
	d.loops.Wait()
	d.posts.Wait()
	d.results.Close()
	return nil
}

// halted reports whether the deliverer is stopping.
func (d *Deliverer) halted() bool {
	select {
	case <-d.halt:
		return true
	default:
		return false
	}
}

// later runs fn beside the posts, unless the deliverer is stopping.
func (d *Deliverer) later(fn func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stopping {
		d.posts.Go(fn)
	}
}

// addEvents wakes the queues of a team that has new events. Without a queue it marks the
// team, so that Run reads its endpoints within a second.
func (d *Deliverer) addEvents(team uuid.UUID) {
	d.mu.Lock()
	own := d.byTeam[team]
	if len(own) == 0 {
		d.changed[team] = struct{}{}
	}
	d.mu.Unlock()
	for _, q := range own {
		q.addEvents()
	}
}

// refreshLater marks a team and wakes Run, which then reads the endpoints of the team.
func (d *Deliverer) refreshLater(team uuid.UUID) {
	d.mu.Lock()
	d.changed[team] = struct{}{}
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// refresh reads the endpoints of changed teams, and wakes their queues.
func (d *Deliverer) refresh(ctx context.Context) {
	d.mu.Lock()
	changed := d.changed
	d.changed = map[uuid.UUID]struct{}{}
	d.mu.Unlock()
	for team := range changed {
		if err := d.refreshTeam(ctx, team); err != nil {
			d.cfg.Log.ErrorContext(ctx, "webhook endpoints cannot be read", "error", err)
		}
	}
}

func (d *Deliverer) refreshTeam(ctx context.Context, team uuid.UUID) error {
	return d.db.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(ctx, `SELECT id, revision, state = 'on' AND deleted_at IS NULL, hold_before IS NOT NULL
			FROM webhook_endpoints WHERE team_id = $1`, team)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id EndpointID
			var revision int64
			var on, holding bool
			if err := rows.Scan(&id, &revision, &on, &holding); err != nil {
				return err
			}
			if on && holding {
				d.hold(team, id)
			}
			if q := d.known(id); q != nil {
				q.refresh(revision)
			} else if on && !holding {
				d.queue(team, id).refresh(revision)
			}
		}
		return rows.Err()
	})
}

// sweep looks at every endpoint. It finds endpoints that other nodes added, the times
// of retries, and due deliveries. It starts the work after a restart; later it should
// find only deliveries that other nodes left.
func (d *Deliverer) sweep(ctx context.Context, starting bool) {
	var all []backlog
	err := d.db.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = readBacklogs(ctx, tx)
		return err
	})
	if err != nil {
		d.cfg.Log.ErrorContext(ctx, "due deliveries cannot be found", "error", err)
		return
	}
	d.noteOldest(all)
	on := make(map[EndpointID]bool, len(all))
	for i := range all {
		b := &all[i]
		if b.holding {
			d.hold(b.team, b.endpoint)
			continue
		}
		on[b.endpoint] = true
		d.queue(b.team, b.endpoint).discover(b, starting)
	}
	for _, q := range d.all() {
		if !on[q.id] && q.close() {
			d.remove(q)
		}
	}
}

func (d *Deliverer) noteOldest(all []backlog) {
	now := d.db.Now()
	var oldest time.Time
	for i := range all {
		for _, at := range all[i].earliest {
			if !all[i].holding && !at.IsZero() && at.Before(now) && (oldest.IsZero() || at.Before(oldest)) {
				oldest = at
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.oldest = oldest
}

// known returns the queue of an endpoint, or nil.
func (d *Deliverer) known(id EndpointID) *endpointQueue {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.queues[id]
}

// queue finds the queue of an endpoint that is on, or starts one. Only Run's
// goroutine calls it.
func (d *Deliverer) queue(team uuid.UUID, id EndpointID) *endpointQueue {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.queues[id]
	if q == nil {
		q = newEndpointQueue(d, team, id)
		d.queues[id] = q
		d.byTeam[team] = append(slices.Clip(d.byTeam[team]), q)
		d.loops.Go(func() { q.run(store.AsSystem(context.Background())) })
	}
	return q
}

// remove drops a queue that is closed. A queue stays until its posts are recorded, so
// that they are not made twice when the endpoint is switched on again.
func (d *Deliverer) remove(q *endpointQueue) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.queues, q.id)
	rest := slices.DeleteFunc(slices.Clone(d.byTeam[q.team]), func(other *endpointQueue) bool { return other == q })
	d.byTeam[q.team] = rest
	if len(rest) == 0 {
		delete(d.byTeam, q.team)
	}
}

func (d *Deliverer) all() []*endpointQueue {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]*endpointQueue, 0, len(d.queues))
	for _, q := range d.queues {
		all = append(all, q)
	}
	return all
}

// loadTarget reads the target of an endpoint. It returns nil if nothing is to be sent.
func (d *Deliverer) loadTarget(ctx context.Context, team uuid.UUID, id EndpointID) (t *target, err error) {
	err = d.db.Read(ctx, func(tx *store.Tx) (err error) {
		t, err = loadTarget(ctx, tx, teamID(team), id, tx.Now())
		return err
	})
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("webhooks: reading a target: %w", err)
	case !t.on:
		return nil, nil
	}
	return t, nil
}

// Lag returns how long the oldest due delivery has been waiting, as of the last sweep,
// ten seconds ago at most. Rate limits and slow endpoints count.
func (d *Deliverer) Lag() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.oldest.IsZero() {
		return 0
	}
	return max(0, d.db.Now().Sub(d.oldest))
}

// Claimed returns the number of deliveries that are claimed and not yet recorded.
func (d *Deliverer) Claimed() (n int) {
	for _, q := range d.all() {
		q.mu.Lock()
		n += len(q.claimed)
		q.mu.Unlock()
	}
	return n
}

// peers returns the number of nodes that share the work.
func (d *Deliverer) peers() int {
	if d.cfg.Node == nil {
		return 1
	}
	return d.cfg.Node.Peers()
}

// lapsed returns a channel that is closed when another node has left its deliveries.
func (d *Deliverer) lapsed() <-chan struct{} {
	if d.cfg.Node == nil {
		return nil
	}
	return d.cfg.Node.Lapsed()
}
