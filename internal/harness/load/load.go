// Package load sends requests over many raw connections and measures the times to their
// answers.
package load

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"hale/internal/harness/rawhttp"
)

// Worker is one connection with its number.
type Worker struct {
	*rawhttp.Conn
	Index int // 0 to Conns-1
}

// Plan describes the load to make.
type Plan struct {
	Address string
	Conns   int
	For     time.Duration // how long, or until one request is answered; the first tenth warms up and does not count
	Rate    float64       // requests a second over all connections; 0 means as fast as answers come
}

// Result holds the measured figures.
type Result struct {
	Requests int
	Took     time.Duration
	waits    []time.Duration // sorted
}

// PerSecond returns the rate of answered requests.
func (r Result) PerSecond() float64 { return float64(r.Requests) / r.Took.Seconds() }

// Quantile returns the time within which the share q of requests, 0 to 1, was answered.
// With a Rate, the time of a request starts when it was due. So a server that cannot keep
// the rate cannot hide it.
func (r Result) Quantile(q float64) time.Duration { return Quantile(r.waits, q) }

// Quantile returns the time at the share q, 0 to 1, of sorted times.
func Quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// Once makes n requests over the connections and measures nothing.
func Once(ctx context.Context, p Plan, n int, do func(w *Worker, n int) error) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for i := range p.Conns {
		group.Go(func() error {
			conn, err := rawhttp.Dial(ctx, p.Address, 30*time.Second)
			if err != nil {
				return err
			}
			defer conn.Close()
			for k := next.Add(1) - 1; k < int64(n) && err == nil; k = next.Add(1) - 1 {
				err = do(&Worker{conn, i}, int(k))
			}
			return err
		})
	}
	return group.Wait()
}

// Run calls do on every connection until the time of the plan ends. do sends request
// number n of its worker, and returns an error for an unexpected answer. The first error
// ends the run.
func Run(ctx context.Context, p Plan, do func(w *Worker, n int) error) (Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	span := span{begin: time.Now()}
	span.counted, span.end = span.begin.Add(p.For/10), span.begin.Add(p.For)
	perWorker := make([][]time.Duration, p.Conns)
	var wg sync.WaitGroup
	for i := range p.Conns {
		wg.Go(func() {
			conn, err := rawhttp.Dial(ctx, p.Address, 30*time.Second)
			if err != nil {
				cancel(err)
				return
			}
			defer conn.Close()
			waits, err := p.work(ctx, &Worker{conn, i}, &span, do)
			perWorker[i] = waits
			if err != nil {
				cancel(fmt.Errorf("load: connection %d: %w", i, err))
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return Result{}, err
	}
	all := slices.Concat(perWorker...)
	slices.Sort(all)
	took := span.end.Sub(span.counted)
	if late := span.late.Load(); late > 0 {
		took = time.Duration(late)
	}
	return Result{Requests: len(all), Took: took, waits: all}, nil
}

// span is the time of a run.
type span struct {
	begin, counted, end time.Time

	some atomic.Bool  // a request was answered that counts
	late atomic.Int64 // how long after counted it was, when that was after the end
}

// counts reports whether an answer counts for the measurement. If the machine answers no
// request in time, the first late answer counts.
func (s *span) counts(answered time.Time) bool {
	if !answered.After(s.counted) {
		return false
	}
	first := s.some.CompareAndSwap(false, true)
	if first && !answered.Before(s.end) {
		s.late.Store(int64(answered.Sub(s.counted)))
	}
	return first || answered.Before(s.end)
}

func (s *span) over(due time.Time) bool { return !due.Before(s.end) && s.some.Load() }

func (p Plan) work(ctx context.Context, w *Worker, s *span, do func(*Worker, int) error) ([]time.Duration, error) {
	waits := make([]time.Duration, 0, 1<<16)
	var every time.Duration
	due := time.Now()
	if p.Rate > 0 {
		every = time.Duration(float64(p.Conns) / p.Rate * float64(time.Second))
		due = s.begin.Add(every * time.Duration(w.Index) / time.Duration(p.Conns)) // spread, not in step
	}
	for n := 0; ctx.Err() == nil; n++ {
		if every > 0 {
			time.Sleep(time.Until(due))
		} else {
			due = time.Now()
		}
		if s.over(due) {
			break
		}
		if err := do(w, n); err != nil {
			return waits, err
		}
		if answered := time.Now(); s.counts(answered) {
			waits = append(waits, answered.Sub(due))
		}
		due = due.Add(every)
	}
	return waits, nil
}
