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
type ID = ids.ID[Job]

// Kind is a kind of job whose function has the argument Args. Args are stored as JSON. They
// contain ids and settings, and never personal data.
type Kind[Args any] struct {
	name       string
	limits     Limits
	interval   time.Duration
	cancelable bool
	deletes    bool
	sends      bool
	run        func(ctx context.Context, run *Run, args Args) error
}

// Limits of a kind. Zero values mean the defaults.
type Limits struct {
	Concurrency int           // jobs of the kind that this node runs at once; 2
	Timeout     time.Duration // of one attempt; one hour
	Attempts    int           // until the job fails; 10
}

// NewKind returns a kind without a function. Its jobs can be enqueued; Do returns the
// kind that runs them. The name is lower case with dots, such as users.erase.
func NewKind[Args any](kind string) Kind[Args] {
	return Kind[Args]{name: kind, limits: Limits{Concurrency: 2, Timeout: time.Hour, Attempts: 10}}
}

// Do returns the kind with its function. fn may be called more than once for a job, on
// any node, so it must be idempotent.
func (k Kind[Args]) Do(fn func(ctx context.Context, run *Run, args Args) error) Kind[Args] {
	k.run = fn
	return k
}

// Define returns a kind whose function needs only the database.
func Define[Args any](kind string, fn func(ctx context.Context, run *Run, args Args) error) Kind[Args] {
	return NewKind[Args](kind).Do(fn)
}

// With returns the kind with limits.
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

// Every makes the kind periodic. The runner keeps one job of it, with zero Args and no
// team, and runs it again each time after it ends. One node at a time runs it.
func (k Kind[Args]) Every(d time.Duration) Kind[Args] {
	k.interval = d
	return k
}

// Cancelable lets callers of the API cancel jobs of this kind. It is for work that may
// stop at any point, such as an import. It is not for promised work, such as an
// erasure.
func (k Kind[Args]) Cancelable() Kind[Args] {
	k.cancelable = true
	return k
}

// Deletes marks a kind that deletes data by age. Its jobs wait while the clock of the
// node cannot be trusted (Config.CheckClock).
func (k Kind[Args]) Deletes() Kind[Args] {
	k.deletes = true
	return k
}

// Sends marks a kind that acts on other systems, such as a laboratory or a mail server.
// Its jobs stay queued while sending is held (Config.Held).
func (k Kind[Args]) Sends() Kind[Args] {
	k.sends = true
	return k
}

// Name returns the name of the kind.
func (k Kind[Args]) Name() string { return k.name }

// Handler is a Kind with any Args, for the list of a runner.
type Handler interface {
	Name() string
	bounds() Limits
	period() time.Duration
	isDeleting() bool
	isSending() bool
	call(ctx context.Context, run *Run, args []byte) error
}

func (k Kind[Args]) bounds() Limits        { return k.limits }
func (k Kind[Args]) period() time.Duration { return k.interval }
func (k Kind[Args]) isDeleting() bool      { return k.deletes }
func (k Kind[Args]) isSending() bool       { return k.sends }

func (k Kind[Args]) call(ctx context.Context, run *Run, raw []byte) error {
	if k.run == nil {
		return fmt.Errorf("jobs: %s has no function", k.name)
	}
	var args Args
	if err := json.Unmarshal(raw, &args); err != nil {
		return Permanent(fmt.Errorf("jobs: reading the arguments of %s: %w", k.name, err))
	}
	return k.run(ctx, run, args)
}

// Run is one attempt of a job, for its function.
type Run struct {
	ID      ID
	Team    uuid.UUID // zero for a job of no team
	Key     string
	Attempt int // 1 for the first

	runner *Runner
	job    claimedJob
	cancel context.CancelCauseFunc

	mu          sync.Mutex
	progressNow Progress
	writtenAt   time.Time
}

// DB returns the database. The context of the function is limited to the job's team; it
// sees every team if the job has none.
func (r *Run) DB() *store.DB { return r.runner.db }

// Permanent marks an error after which a retry is useless. The job fails.
func Permanent(err error) error { return permanentError{err} }

type permanentError struct{ error }

func (p permanentError) Unwrap() error { return p.error }

// RetryLater makes the job run again after a while, without counting the attempt. It is
// for a job that waits for another job or another system.
func RetryLater(after time.Duration) error { return retryLater{after} }

type retryLater struct{ after time.Duration }

func (l retryLater) Error() string { return "not yet" }

// ErrCanceled is the cause of a job's context after the job was canceled.
var ErrCanceled = errors.New("jobs: canceled")

// ErrLost is the cause of a job's context after this node's lease ended, or another
// attempt has taken the job. Save and Progress return it, too.
var ErrLost = errors.New("jobs: the job is no longer this attempt's")
