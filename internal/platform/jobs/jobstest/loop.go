// Package jobstest runs in tests what works until its context ends.
package jobstest

import (
	"context"
	"fmt"
	"sync"

	"hale/internal/platform/store"
)

// Loop makes a worker, which is started and stopped, of a function that works
// until its context ends.
type Loop struct {
	run  func(ctx context.Context) error
	once sync.Once
	stop context.CancelFunc
	done chan struct{}
	err  error
}

// NewLoop makes a worker of run.
func NewLoop(run func(ctx context.Context) error) *Loop {
	return &Loop{run: run, done: make(chan struct{})}
}

// Start begins to work and returns. The work goes on when ctx ends: only Stop
// ends it.
func (l *Loop) Start(ctx context.Context) {
	ctx, l.stop = context.WithCancel(store.AsSystem(context.WithoutCancel(ctx)))
	go func() {
		defer close(l.done)
		l.err = l.run(ctx)
	}()
}

// Stop ends the work and waits until it has ended, or until ctx ends.
func (l *Loop) Stop(ctx context.Context) error {
	l.once.Do(l.stop)
	select {
	case <-l.done:
		return l.err
	case <-ctx.Done():
		return fmt.Errorf("jobstest: a worker did not stop in time: %w", ctx.Err())
	}
}
