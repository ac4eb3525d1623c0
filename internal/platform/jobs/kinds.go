package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/ids"
	"hale/internal/platform/store"
)

// ID identifies a job.
type ID = ids.Of[Job]

// Kind is a sort of job whose function takes Args. Args are stored as JSON;
// they hold ids and settings and never personal data.
type Kind[Args any] struct {
	name       string
	limits     Limits
	every      time.Duration
	cancelable bool
	run        func(ctx context.Context, run *Run, args Args) error
}

// Limits bound a kind. Zero values mean the defaults.
type Limits struct {
	Concurrency int           // jobs of the kind at once on this node; 2
	Timeout     time.Duration // of one attempt; one hour
	Attempts    int           // before a job has failed for good; 10
}

// Named makes a kind that has no function yet: its jobs can be asked for, and
// Do makes the kind that runs them. Its name is lower case with dots, such as
// users.erase.
func Named[Args any](kind string) Kind[Args] {
	return Kind[Args]{name: kind, limits: Limits{Concurrency: 2, Timeout: time.Hour, Attempts: 10}}
}

// Do gives the kind its function. fn may be called more than once for one job,
// on any node, and must cope.
func (k Kind[Args]) Do(fn func(ctx context.Context, run *Run, args Args) error) Kind[Args] {
	k.run = fn
	return k
}

// Define makes a kind whose function needs nothing but the database.
func Define[Args any](kind string, fn func(ctx context.Context, run *Run, args Args) error) Kind[Args] {
	return Named[Args](kind).Do(fn)
}

// With sets limits.
func (k Kind[Args]) With(l Limits) Kind[Args] {
	if l.Concurrency > 0 {
		k.limits.Concurrency = l.Concurrency
	}
	if l.Timeout > 0 {
		k.limits.Timeout = l.Timeout
	}
	if l.Attempts > 0 {
		k.limits.Attempts = l.Attempts
	}
	return k
}

// Every makes the kind periodic: the runner keeps one job of it, with zero
// Args and no team, that runs again each time after it ends. However many
// nodes there are, one runs it at a time.
func (k Kind[Args]) Every(d time.Duration) Kind[Args] {
	k.every = d
	return k
}

// Cancelable lets people cancel jobs that this kind enqueues. It is for work that
// may end anywhere, such as an import, and not for what was promised already:
// an erasure that is canceled would never come.
func (k Kind[Args]) Cancelable() Kind[Args] {
	k.cancelable = true
	return k
}

// Name is the kind's name.
func (k Kind[Args]) Name() string { return k.name }

// Handler is a Kind whatever its Args, for the runner's list.
type Handler interface {
	Name() string
	bounds() Limits
	period() time.Duration
	call(ctx context.Context, run *Run, args []byte) error
}

func (k Kind[Args]) bounds() Limits        { return k.limits }
func (k Kind[Args]) period() time.Duration { return k.every }

func (k Kind[Args]) call(ctx context.Context, run *Run, raw []byte) error {
	if k.run == nil {
		return fmt.Errorf("jobs: %s has no function here", k.name)
	}
	var args Args
	if err := json.Unmarshal(raw, &args); err != nil {
		return Permanent(fmt.Errorf("jobs: reading the arguments of %s: %w", k.name, err))
	}
	return k.run(ctx, run, args)
}

// Run is one attempt at a job, in the hands of its function.
type Run struct {
	ID      ID
	Team    uuid.UUID // zero for a job of no team
	Key     string
	Attempt int // 1 for the first

	runner *Runner
	job    claimed
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	latest  Progress
	written time.Time
}

// DB is the database; the context given to the function sees the job's team,
// or everything when the job has none.
func (r *Run) DB() *store.DB { return r.runner.db }

// Permanent marks an error that trying again will not cure.
func Permanent(err error) error { return permanent{err} }

type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Later asks for the job to run again after a while, without counting the
// attempt: what it waits for is not there yet.
func Later(after time.Duration) error { return later{after} }

type later struct{ after time.Duration }

func (l later) Error() string { return "not yet" }

// ErrCanceled is the cause of a job's context when somebody canceled the job.
var ErrCanceled = errors.New("jobs: canceled")

// ErrLost is the cause of a job's context when this node's lease lapsed, or the
// job is another attempt's by now; Save and Progress return it then as well.
var ErrLost = errors.New("jobs: the job is no longer this attempt's")
