package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

const (
	sweepEvery = 5 * time.Second
	grace      = 10 * time.Second
	kept       = 7 * 24 * time.Hour // ended jobs stay to be looked at
)

// Config says what a Runner runs.
type Config struct {
	Node  *Node
	Kinds []Handler
	Log   *slog.Logger
	// Observe is told of each attempt that ended, with succeeded, retried,
	// failed, canceled or stranded, which means rescued from a dead node, or
	// claimed without this one's knowing.
	Observe func(kind, outcome string, took time.Duration)
}

// Runner runs the jobs of the kinds it was given.
type Runner struct {
	db      *store.DB
	node    *Node
	log     *slog.Logger
	observe func(kind, outcome string, took time.Duration)
	kinds   []Handler
	poke    chan struct{}
	results *Batcher[outcome]
	noticed noticed

	mu      sync.Mutex
	running map[ID]*Run
	busy    map[string]int // running jobs of each kind
	wg      sync.WaitGroup
}

// NewRunner makes a runner; Run starts it.
func NewRunner(db *store.DB, cfg Config) *Runner {
	r := &Runner{
		db: db, node: cfg.Node, log: cfg.Log, observe: cfg.Observe, poke: make(chan struct{}, 1),
		running: map[ID]*Run{}, busy: map[string]int{},
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.observe == nil {
		r.observe = func(string, string, time.Duration) {}
	}
	own := Define("jobs.tidy", func(ctx context.Context, run *Run, _ struct{}) error {
		return run.DB().Write(ctx, func(tx *store.Tx) error { return tidy(ctx, tx, tx.Now().Add(-kept)) })
	}).Every(time.Hour)
	r.kinds = append([]Handler{own}, cfg.Kinds...)
	return r
}

// Run works until ctx ends, then interrupts what is running and gives it back.
func (r *Runner) Run(ctx context.Context) error {
	system := store.AsSystem(context.WithoutCancel(ctx))
	if err := r.plant(system); err != nil {
		return err
	}
	r.results = NewBatcher(100, 2*time.Millisecond, func(group []outcome) { r.flush(system, group) })
	defer r.db.OnCommit(changed, func(uuid.UUID) { r.wake() })()
	base, interrupt := context.WithCancelCause(context.WithoutCancel(ctx))
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	lapsed := r.node.Lapsed()
	r.sweep(system)
	for ctx.Err() == nil {
		next := r.pass(system, base)
		select {
		case <-ctx.Done():
		case <-r.poke:
			r.stopCanceled(system)
		case <-lapsed:
			lapsed = r.node.Lapsed()
			r.sweep(system)
		case <-sweep.C:
			r.sweep(system)
		case <-time.After(next):
		}
	}
	interrupt(errStopping)
	r.drain()
	r.results.Close()
	return nil
}

var errStopping = errors.New("jobs: the process stops")

// wake makes the runner look for due jobs now, as after the clock was moved.
func (r *Runner) wake() {
	select {
	case r.poke <- struct{}{}:
	default:
	}
}

// plant makes sure that each periodic kind has its job.
func (r *Runner) plant(ctx context.Context) error {
	return r.db.Write(ctx, func(tx *store.Tx) error {
		for _, k := range r.kinds {
			if k.period() == 0 {
				continue
			}
			periodic := Kind[struct{}]{name: k.Name(), limits: k.bounds()}
			if _, err := periodic.Enqueue(ctx, tx, struct{}{}, Options{Key: "periodic", At: tx.Now()}); err != nil {
				return err
			}
		}
		return nil
	})
}

// pass starts what is due and says how long to wait for the next.
func (r *Runner) pass(ctx, base context.Context) time.Duration {
	wait := sweepEvery
	for _, k := range r.kinds {
		free := r.free(k)
		if free == 0 {
			continue
		}
		due, err := r.due(ctx, k.Name())
		if err != nil {
			r.log.ErrorContext(ctx, "looking for jobs", "kind", k.Name(), "error", err)
			continue
		}
		switch until := due.Sub(r.db.Now()); {
		case due.IsZero():
		case until > 0:
			wait = min(wait, until)
		default:
			if r.start(ctx, base, k, free) == free {
				wait = 0 // there may be more
			}
		}
	}
	return wait
}

func (r *Runner) free(k Handler) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(0, k.bounds().Concurrency-r.busy[k.Name()])
}

func (r *Runner) due(ctx context.Context, kind string) (at time.Time, err error) {
	err = r.db.Read(ctx, func(tx *store.Tx) error {
		at, err = nextDue(ctx, tx, kind)
		return err
	})
	return at, err
}

// start claims up to most jobs of a kind and runs each on a goroutine. A claim
// that failed may be committed all the same: of one whose commit PostgreSQL did
// not answer, nobody knows.
func (r *Runner) start(ctx, base context.Context, k Handler, most int) int {
	var all []claimed
	err := r.db.Write(ctx, func(tx *store.Tx) (err error) {
		all, err = claim(ctx, tx, r.node.ID(), k.Name(), most)
		return err
	})
	if err != nil {
		r.log.ErrorContext(ctx, "claiming jobs", "kind", k.Name(), "error", err)
		r.giveBackStrays(ctx)
		return 0
	}
	for _, c := range all {
		r.launch(base, k, c)
	}
	return len(all)
}

// drain waits for interrupted functions to return, but not for ever: a row
// that is not given back in time becomes free when the node leaves.
func (r *Runner) drain() {
	done := make(chan struct{})
	go func() { r.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(grace):
		r.log.Warn("jobs did not stop in time")
	}
}

// flush records outcomes and does not return before they are safe.
func (r *Runner) flush(ctx context.Context, group []outcome) {
	left := group
	for wait := 10 * time.Millisecond; len(left) > 0; wait = min(2*wait, time.Second) {
		err := r.write(ctx, left...)
		if err == nil || errors.Is(err, store.ErrClosed) {
			break
		}
		r.log.ErrorContext(ctx, "recording jobs", "error", err)
		if r.db.Ping(ctx) == nil {
			left = r.oneByOne(ctx, left)
		}
		time.Sleep(wait)
	}
	r.mu.Lock()
	for _, o := range group {
		if r.running[o.id] == o.run { // and not the attempt after it
			delete(r.running, o.id)
		}
		r.busy[o.kind]--
	}
	r.mu.Unlock()
	r.wake()
}

func (r *Runner) write(ctx context.Context, group ...outcome) error {
	return r.db.Write(ctx, func(tx *store.Tx) error {
		for _, o := range group {
			if _, err := record(ctx, tx, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// oneByOne records each outcome of a group by itself and returns those that are
// left. What the database refuses of one must not keep the others waiting, nor
// its job running: of that is recorded only how it ended.
func (r *Runner) oneByOne(ctx context.Context, group []outcome) (left []outcome) {
	for _, o := range group {
		err := r.write(ctx, o)
		if err != nil {
			r.log.ErrorContext(ctx, "recording a job", "kind", o.kind, "job", o.id, "error", err)
			bare := o
			bare.err, bare.progress = "what came of it could not be recorded; see the log", nil
			err = r.write(ctx, bare)
		}
		if err != nil {
			left = append(left, o)
		}
	}
	return left
}

// Settle waits until nothing is due and nothing runs. Run must be running.
func (r *Runner) Settle(ctx context.Context) error {
	system := store.AsSystem(ctx)
	for {
		r.wake()
		quiet, err := r.quiet(system)
		if err != nil || quiet {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("jobs: settling: %w", ctx.Err())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func (r *Runner) quiet(ctx context.Context) (bool, error) {
	for _, k := range r.kinds {
		due, err := r.due(ctx, k.Name())
		if err != nil || !due.IsZero() && !due.After(r.db.Now()) {
			return false, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.running) == 0, nil
}

// scope is the context of a job's own transactions.
func scope(ctx context.Context, team uuid.UUID) context.Context {
	if team == uuid.Nil {
		return store.AsSystem(ctx)
	}
	return store.WithTeam(ctx, team)
}
