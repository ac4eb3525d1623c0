// Package jobstest runs workers in tests.
package jobstest

import (
	"context"
	"fmt"
	"sync"

	"hale/internal/platform/store"
)

// Loop turns a function that runs until its context ends into a worker with Start and
// Stop.
type Loop struct {
	run  func(ctx context.Context) error
	once sync.Once
	stop context.CancelFunc
	done chan struct{}
	err  error
}

// NewLoop returns a worker that runs a function.
func NewLoop(run func(ctx context.Context) error) *Loop {
	return &Loop{run: run, done: make(chan struct{})}
}

// Start starts the worker and returns. The end of ctx does not stop it; Stop does.
func (l *Loop) Start(ctx context.Context) {
	ctx, l.stop = context.WithCancel(store.AsSystem(context.WithoutCancel(ctx)))
	go func() {
		defer close(l.done)
		l.err = l.run(ctx)
	}()
}

// Stop stops the worker and waits until it has ended, or until ctx ends.
func (l *Loop) Stop(ctx context.Context) error {
	l.once.Do(l.stop)
	select {
	case <-l.done:
		return l.err
	case <-ctx.Done():
		return fmt.Errorf("jobstest: a worker did not stop in time: %w", ctx.Err())
	}
}
