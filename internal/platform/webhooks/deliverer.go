package webhooks

import (
	"context"
	"crypto/tls"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

const (
	maxInFlight = 32  // posts to one endpoint at once
	claimSize   = 200 // rows of one lane in hand, and of one claim
	sweepEvery  = 10 * time.Second
	overdue     = time.Minute // what a sweep finds later than this was stranded
)

// Config says how to deliver. The zero value of each field is good.
type Config struct {
	Node     *jobs.Node // this process; needed on PostgreSQL
	Guard    Guard
	Schedule Schedule // DefaultSchedule
	Log      *slog.Logger
	// Observe is told of each attempt once it is recorded.
	Observe func(Attempted)
	// Stranded is told of deliveries that only the sweep found. Any number
	// above zero is a fault of this program.
	Stranded func(n int)
	// Dial and TLS replace the network, for tests.
	Dial Dial
	TLS  *tls.Config
}

// Attempted is what there is to measure of an attempt.
type Attempted struct {
	Outcome string        // sent, retried or failed
	Took    time.Duration // of the exchange
	Delay   time.Duration // from the event's commit to the end of the exchange
}

// Deliverer posts what is due, until it is stopped.
type Deliverer struct {
	db      *store.DB
	cfg     Config
	results *jobs.Batcher[result]

	mu       sync.Mutex
	lines    map[EndpointID]*line
	byTeam   map[uuid.UUID][]*line
	looked   map[uuid.UUID]time.Time // when a team without lines was last looked up
	reload   map[uuid.UUID]bool      // teams whose endpoints changed
	holding  map[EndpointID]bool     // those whose waiting deliveries are being held
	claims   []*line                 // those that want to claim, in order of asking
	stopping bool
	oldest   time.Time // when the longest waiting due delivery was due, as of the last sweep

	claimable chan struct{} // a token for each claimer that should look at claims
	news      chan struct{} // reload has something
	halt      chan struct{} // closed when stopping
	posts     sync.WaitGroup
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
		cfg.Observe = func(Attempted) {}
	}
	if cfg.Stranded == nil {
		cfg.Stranded = func(int) {}
	}
	return &Deliverer{
		db: db, cfg: cfg,
		lines: map[EndpointID]*line{}, byTeam: map[uuid.UUID][]*line{},
		looked: map[uuid.UUID]time.Time{}, reload: map[uuid.UUID]bool{}, holding: map[EndpointID]bool{},
		claimable: make(chan struct{}, claimers), news: make(chan struct{}, 1), halt: make(chan struct{}),
	}
}

// claimers is how many endpoints are claimed for at once.
const claimers = 4

// Run delivers until ctx ends. Then it claims no more, lets the posts on their
// way come to an end, and records them.
func (d *Deliverer) Run(ctx context.Context) error {
	work := store.AsSystem(context.WithoutCancel(ctx))
	d.results = jobs.NewBatcher(recordMost, recordWait, func(group []result) { d.record(work, group) })
	defer events.OnDue(d.ready)()
	defer events.HandTo(d)()
	defer changed.add(func(team teams.ID) { d.changed(team.UUID()) })()
	var claiming sync.WaitGroup
	for range claimers {
		claiming.Go(func() { d.claimLoop(work) })
	}
	lapsed := d.lapsed()
	d.sweep(work, true)
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-lapsed:
			lapsed = d.lapsed()
			d.sweep(work, false)
		case <-tick.C:
			d.sweep(work, false)
		case <-d.news:
			d.refresh(work)
		}
	}
	d.stop()
	claiming.Wait()
	d.posts.Wait()
	d.results.Close()
	for _, l := range d.all() {
		l.transport.CloseIdleConnections()
	}
	return nil
}

// ready is called when deliveries of a team were committed that nobody has in
// hand.
func (d *Deliverer) ready(team uuid.UUID) {
	d.mu.Lock()
	own := d.byTeam[team]
	d.mu.Unlock()
	if len(own) == 0 {
		d.lookAt(team)
	}
	for _, l := range own {
		l.poke(laneFirst)
	}
}

// lookAt reloads the endpoints of a team that has none, now and then: another
// node may have made one.
func (d *Deliverer) lookAt(team uuid.UUID) {
	now := d.db.Now()
	d.mu.Lock()
	due := now.Sub(d.looked[team]) >= time.Second
	if due {
		if len(d.looked) > 10_000 {
			clear(d.looked)
		}
		d.looked[team] = now
	}
	d.mu.Unlock()
	if due {
		d.changed(team)
	}
}

// changed is called when endpoints of a team, or what is due for them, changed
// other than by new events.
func (d *Deliverer) changed(team uuid.UUID) {
	d.mu.Lock()
	d.reload[team] = true
	d.mu.Unlock()
	select {
	case d.news <- struct{}{}:
	default:
	}
}

func (d *Deliverer) all() []*line {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]*line, 0, len(d.lines))
	for _, l := range d.lines {
		all = append(all, l)
	}
	return all
}

// Lag is how long the oldest due delivery has been waiting, as of the last
// sweep, ten seconds ago at most. Rate limits and slow endpoints count.
func (d *Deliverer) Lag() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.oldest.IsZero() {
		return 0
	}
	return max(0, d.db.Now().Sub(d.oldest))
}

// InHand is the number of deliveries that are claimed and not yet recorded.
func (d *Deliverer) InHand() (n int) {
	for _, l := range d.all() {
		l.mu.Lock()
		n += len(l.inHand)
		l.mu.Unlock()
	}
	return n
}

// offer puts a line into the queue of those that want to claim.
func (d *Deliverer) offer(l *line) {
	d.mu.Lock()
	d.claims = append(d.claims, l)
	d.mu.Unlock()
	select {
	case d.claimable <- struct{}{}:
	default: // enough claimers are awake, and each empties the queue
	}
}

func (d *Deliverer) claimLoop(ctx context.Context) {
	for {
		select {
		case <-d.halt:
			return
		case <-d.claimable:
		}
		for l := d.nextClaim(); l != nil; l = d.nextClaim() {
			l.claim(ctx)
		}
	}
}

func (d *Deliverer) nextClaim() *line {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopping || len(d.claims) == 0 {
		return nil
	}
	l := d.claims[0]
	d.claims = d.claims[1:]
	return l
}

func (d *Deliverer) stop() {
	d.mu.Lock()
	d.stopping = true
	d.mu.Unlock()
	close(d.halt)
	for _, l := range d.all() {
		l.close()
	}
}

// peers is how many nodes share the work.
func (d *Deliverer) peers() int {
	if d.cfg.Node == nil {
		return 1
	}
	return d.cfg.Node.Peers()
}

// lapsed is closed when the deliveries of another node have become free.
func (d *Deliverer) lapsed() <-chan struct{} {
	if d.cfg.Node == nil {
		return nil
	}
	return d.cfg.Node.Lapsed()
}
