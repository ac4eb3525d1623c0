package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

const (
	sweepEvery = 5 * time.Second
	stopGrace  = 10 * time.Second
	retention  = 7 * 24 * time.Hour // of ended jobs
)

// Config of a Runner.
type Config struct {
	Node  *Node
	Kinds []Handler
	Log   *slog.Logger
	// Observe, when set, is called after each attempt. outcome is succeeded, retried,
	// failed, canceled or stranded. A stranded job was queued again because its node
	// died, or because a claim was committed without an answer.
	Observe func(kind, outcome string, took time.Duration)
	// CheckClock, when set, returns an error while the clock of this node cannot be
	// trusted. Jobs of kinds that delete data by age wait meanwhile.
	CheckClock func(ctx context.Context) error
	// Held, when set, reports whether jobs that act on other systems wait.
	Held func() bool
}

// Runner runs the jobs of some kinds.
type Runner struct {
	db      *store.DB
	node    *Node
	log     *slog.Logger
	observe func(kind, outcome string, took time.Duration)
	clock   func(ctx context.Context) error
	held    func() bool
	kinds   []Handler
	wakeups chan struct{}
	results *Batcher[outcome]
	noticed waitingCounts

	mu      sync.Mutex
	running map[ID]*Run
	busy    map[string]int // number of running jobs by kind
	wg      sync.WaitGroup
}

// NewRunner returns a runner. Run starts it.
func NewRunner(db *store.DB, cfg Config) *Runner {
	r := &Runner{
		db: db, node: cfg.Node, log: cfg.Log, observe: cfg.Observe, clock: cfg.CheckClock, held: cfg.Held, wakeups: make(chan struct{}, 1),
		running: map[ID]*Run{}, busy: map[string]int{},
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.clock == nil {
		r.clock = func(context.Context) error { return nil }
	}
	if r.held == nil {
		r.held = func() bool { return false }
	}
	if r.observe == nil {
		r.observe = func(string, string, time.Duration) {}
	}
	own := Define("jobs.tidy", func(ctx context.Context, run *Run, _ struct{}) error {
		return run.DB().Write(ctx, func(tx *store.Tx) error { return deleteEnded(ctx, tx, tx.Now().Add(-retention)) })
	}).Every(time.Hour).Deletes()
	r.kinds = append([]Handler{own}, cfg.Kinds...)
	return r
}

// KindNames returns the names of the kinds that the runner runs.
func (r *Runner) KindNames() []string {
	names := make([]string, len(r.kinds))
	for i, k := range r.kinds {
		names[i] = k.Name()
	}
	return names
}

// Run runs jobs until ctx ends. Then it interrupts the running jobs and queues them
// again.
func (r *Runner) Run(ctx context.Context) error {
	system := store.AsSystem(context.WithoutCancel(ctx))
	for {
		err := r.enqueuePeriodic(system)
		if err == nil {
			break
		}
		if !fault.Is(err, fault.Unavailable) {
			return err
		}
		r.log.ErrorContext(ctx, "regular jobs cannot be enqueued; trying again", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
	r.results = NewBatcher(100, 2*time.Millisecond, func(group []outcome) { r.flush(system, group) })
	defer r.db.OnCommit(topicChange, func(uuid.UUID) { r.wake() })()
	base, interrupt := context.WithCancelCause(context.WithoutCancel(ctx))
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	lapsed := r.node.Lapsed()
	r.sweep(system)
	for ctx.Err() == nil {
		next := r.startDue(system, base)
		select {
		case <-ctx.Done():
		case <-r.wakeups:
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

// wake makes the runner look for due jobs now.
func (r *Runner) wake() {
	select {
	case r.wakeups <- struct{}{}:
	default:
	}
}

// enqueuePeriodic enqueues the job of each periodic kind.
func (r *Runner) enqueuePeriodic(ctx context.Context) error {
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

// startDue starts the due jobs and returns the time until the next one.
func (r *Runner) startDue(ctx, base context.Context) time.Duration {
	wait := sweepEvery
	for _, k := range r.kinds {
		free := r.freeSlots(k)
		if free == 0 || r.waits(k) {
			continue
		}
		due, err := r.nextDueTime(ctx, k.Name())
		if err != nil {
			r.log.ErrorContext(ctx, "due jobs cannot be read", "kind", k.Name(), "error", err)
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

// waits reports whether the jobs of a kind stay queued, because sending is held.
func (r *Runner) waits(k Handler) bool { return k.isSending() && r.held() }

func (r *Runner) freeSlots(k Handler) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(0, k.bounds().Concurrency-r.busy[k.Name()])
}

func (r *Runner) nextDueTime(ctx context.Context, kind string) (at time.Time, err error) {
	err = r.db.Read(ctx, func(tx *store.Tx) error {
		at, err = nextDue(ctx, tx, kind)
		return err
	})
	return at, err
}

// start claims up to limit jobs of a kind and runs each on a goroutine. A claim that
// failed may still be committed, if PostgreSQL did not answer the COMMIT.
func (r *Runner) start(ctx, base context.Context, k Handler, limit int) int {
	var all []claimedJob
	err := r.db.Write(ctx, func(tx *store.Tx) (err error) {
		all, err = claim(ctx, tx, r.node.ID(), k.Name(), limit)
		return err
	})
	if err != nil {
		r.log.ErrorContext(ctx, "jobs cannot be claimed", "kind", k.Name(), "error", err)
		r.requeueUnstarted(ctx)
		return 0
	}
	for _, c := range all {
		r.launch(base, k, c)
	}
	return len(all)
}

// drain waits for interrupted functions to return, at most for stopGrace. The remaining
// rows become free when the node leaves.
func (r *Runner) drain() {
	done := make(chan struct{})
	go func() { r.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(stopGrace):
		r.log.Warn("jobs did not stop in time")
	}
}

// flush records outcomes and returns after they are durable.
func (r *Runner) flush(ctx context.Context, group []outcome) {
	left := group
	for wait := 10 * time.Millisecond; len(left) > 0; wait = min(2*wait, time.Second) {
		err := r.write(ctx, left...)
		if err == nil || errors.Is(err, store.ErrClosed) {
			break
		}
		r.log.ErrorContext(ctx, "job outcomes cannot be recorded; trying again", "error", err)
		if r.db.Ping(ctx) == nil {
			left = r.recordSeparately(ctx, left)
		}
		time.Sleep(wait)
	}
	r.mu.Lock()
	for _, o := range group {
		if r.running[o.id] == o.run { // not a later attempt
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

// recordSeparately records each outcome of a group in a transaction of its own, and
// returns those that failed. So an outcome that the database refuses does not block the
// others. It is recorded again without its error text and progress.
func (r *Runner) recordSeparately(ctx context.Context, group []outcome) (left []outcome) {
	for _, o := range group {
		err := r.write(ctx, o)
		if err != nil {
			r.log.ErrorContext(ctx, "the outcome of a job cannot be recorded", "kind", o.kind, "job", o.id, "error", err)
			bare := o
			bare.err, bare.progress = "its result could not be recorded; see the log", nil
			err = r.write(ctx, bare)
		}
		if err != nil {
			left = append(left, o)
		}
	}
	return left
}

// Settle waits until no job is due or running. Run must be running. It is for tests.
func (r *Runner) Settle(ctx context.Context) error {
	system := store.AsSystem(ctx)
	for {
		r.wake()
		quiet, err := r.isIdle(system)
		if err != nil || quiet {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("jobs: waiting for jobs: %w", ctx.Err())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// isIdle reads all kinds in one statement. With a statement for each kind, a running job
// could end and enqueue a job of a kind that was read already.
func (r *Runner) isIdle(ctx context.Context) (idle bool, err error) {
	var kinds []any
	for _, k := range r.kinds {
		if !r.waits(k) {
			kinds = append(kinds, k.Name())
		}
	}
	err = r.db.Read(ctx, func(tx *store.Tx) error {
		pending, err := isPending(ctx, tx, kinds)
		idle = !pending
		return err
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	return idle && len(r.running) == 0, err
}

// jobContext returns a context that is limited to the job's team.
func jobContext(ctx context.Context, team uuid.UUID) context.Context {
	if team == uuid.Nil {
		return store.AsSystem(ctx)
	}
	return store.WithTeam(ctx, team)
}

// sweep queues the jobs of dead nodes again, and the unstarted jobs of this node, and counts
// the waiting jobs.
func (r *Runner) sweep(ctx context.Context) {
	var n int64
	err := r.db.Write(ctx, func(tx *store.Tx) (err error) {
		n, err = requeueOrphans(ctx, tx)
		return err
	})
	if err != nil {
		r.log.ErrorContext(ctx, "jobs of dead nodes cannot be queued again", "error", err)
	}
	for range n {
		r.observe("", "stranded", 0)
	}
	r.requeueUnstarted(ctx)
	r.countWaiting(ctx)
}

// stopCanceled interrupts the running jobs that were canceled.
func (r *Runner) stopCanceled(ctx context.Context) {
	r.mu.Lock()
	idle := len(r.running) == 0
	r.mu.Unlock()
	if !idle {
		r.findUnstarted(ctx)
	}
}

// requeueUnstarted queues unstarted jobs again: jobs that this node claimed in a transaction whose
// commit was not answered. The attempt does not count. Only the goroutine that claims
// jobs may call it, because all its other claims are running then.
func (r *Runner) requeueUnstarted(ctx context.Context) {
	unstarted := r.findUnstarted(ctx)
	if len(unstarted) == 0 {
		return
	}
	var back []outcome
	err := r.db.Write(ctx, func(tx *store.Tx) error {
		back = back[:0]
		for _, o := range unstarted {
			recorded, err := record(ctx, tx, o) // false if it has ended since
			if err != nil {
				return err
			}
			if recorded {
				back = append(back, o)
			}
		}
		return nil
	})
	if err != nil {
		r.log.ErrorContext(ctx, "unstarted jobs cannot be queued again", "error", err)
		return
	}
	for _, o := range back {
		r.log.WarnContext(ctx, "a job was claimed and not started; it is queued again", "kind", o.kind, "job", o.id)
		r.observe(o.kind, "stranded", 0)
	}
	if len(back) > 0 {
		r.wake()
	}
}

// findUnstarted compares the jobs that are running here according to their rows with those
// that do run. It interrupts the canceled ones. It returns those that do not run, as
// attempts that never happened. Jobs that have just ended may be among them.
func (r *Runner) findUnstarted(ctx context.Context) (unstarted []outcome) {
	var all []runningJob
	err := r.db.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = runningOn(ctx, tx, r.node.ID())
		return err
	})
	if err != nil {
		r.log.ErrorContext(ctx, "running jobs cannot be read", "error", err)
		return nil
	}
	now := r.db.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range all {
		run := r.running[h.id]
		switch {
		case run == nil || run.job.node != h.node || run.job.startedAt != h.startedAt:
			unstarted = append(unstarted, outcome{claimedJob: h.claimedJob, status: Queued, runAt: now, attempts: h.attempts - 1, ended: now})
		case h.cancel:
			run.cancel(ErrCanceled)
		}
	}
	return unstarted
}

// WaitingJobs counts the due jobs of a kind that have not started.
type WaitingJobs struct {
	Jobs   int
	Oldest time.Duration // since the oldest of them was due
}

// dueJobs is the count of a kind at the last sweep.
type dueJobs struct {
	jobs      int
	oldestDue time.Time // due time of the oldest; zero for none
}

// waitingCounts has the counts of the last sweep by kind.
type waitingCounts struct {
	mu   sync.Mutex
	kind map[string]dueJobs
}

// Waiting returns the waiting jobs of each kind that this node runs, enqueued by any
// node. The counts are from the last sweep, at most five seconds ago.
func (r *Runner) Waiting() map[string]WaitingJobs {
	now := r.db.Now()
	r.noticed.mu.Lock()
	defer r.noticed.mu.Unlock()
	all := make(map[string]WaitingJobs, len(r.noticed.kind))
	for kind, due := range r.noticed.kind {
		w := WaitingJobs{Jobs: due.jobs}
		if !due.oldestDue.IsZero() {
			w.Oldest = max(0, now.Sub(due.oldestDue))
		}
		all[kind] = w
	}
	return all
}

// countWaiting counts the due jobs, with the index of queued jobs.
func (r *Runner) countWaiting(ctx context.Context) {
	all := make(map[string]dueJobs, len(r.kinds))
	err := r.db.Read(ctx, func(tx *store.Tx) error {
		for _, k := range r.kinds {
			due, err := countDue(ctx, tx, k.Name())
			if err != nil {
				return err
			}
			all[k.Name()] = due
		}
		return nil
	})
	if err != nil {
		r.log.ErrorContext(ctx, "due jobs cannot be counted", "error", err)
		return
	}
	r.noticed.mu.Lock()
	defer r.noticed.mu.Unlock()
	r.noticed.kind = all
}

func countDue(ctx context.Context, tx *store.Tx, kind string) (dueJobs, error) {
	var due dueJobs
	var first *time.Time
	err := tx.QueryRow(ctx, `SELECT COUNT(*), MIN(run_at) FROM jobs WHERE kind = $1 AND status = 'queued' AND run_at <= $2`,
		kind, store.Micros(tx.Now())).Scan(&due.jobs, store.ScanNullTime(&first))
	if err != nil {
		return due, fmt.Errorf("jobs: counting due jobs: %w", err)
	}
	if first != nil {
		due.oldestDue = *first
	}
	return due, nil
}
