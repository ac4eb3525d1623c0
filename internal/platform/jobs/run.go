package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"

	"hale/internal/platform/store"
)

// launch runs a claimed job on a new goroutine.
func (r *Runner) launch(base context.Context, k Handler, c claimedJob) {
	ctx, cancel := context.WithCancelCause(base)
	run := &Run{ID: c.id, Team: c.team, Key: c.key, Attempt: c.attempts, runner: r, job: c, cancel: cancel, progressNow: c.priorProgress}
	r.mu.Lock()
	r.running[c.id] = run
	r.busy[c.kind]++
	r.mu.Unlock()
	r.wg.Add(1)
	go func() {
		defer r.wg.Done()
		defer cancel(nil)
		began := r.db.Now()
		err := r.attempt(ctx, k, run)
		o := r.judge(ctx, k, run, err)
		r.report(ctx, k, o, err, r.db.Now().Sub(began))
		r.results.Add(o)
	}()
}

// attempt calls the function of the job and turns a panic into an error.
func (r *Runner) attempt(ctx context.Context, k Handler, run *Run) (err error) {
	ctx, stop := context.WithTimeout(jobContext(ctx, run.Team), k.bounds().Timeout)
	defer stop()
	lost := r.node.lostFor(run.job.node)
	go func() {
		select {
		case <-lost:
			run.cancel(ErrLost)
		case <-ctx.Done():
		}
	}()
	defer func() {
		if v := recover(); v != nil {
			r.log.ErrorContext(ctx, "a job panicked", "kind", k.Name(), "job", run.ID, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = errors.New("panic in the job's function; see the log")
		}
	}()
	if k.isDeleting() {
		if err := r.clock(ctx); err != nil {
			r.log.WarnContext(ctx, "a job that deletes data by age waits", "kind", k.Name(), "job", run.ID, "error", err)
			return RetryLater(clockRetry)
		}
	}
	err = k.call(ctx, run, []byte(run.job.args))
	if store.IsOutdated(err) {
		r.log.WarnContext(ctx, "a job waits for a node that knows the schema", "kind", k.Name(), "job", run.ID, "error", err)
		return RetryLater(outdatedRetry)
	}
	return err
}

// outdatedRetry is the time after which a job runs again that needs a newer node.
const outdatedRetry = 10 * time.Second

// clockRetry is the time after which a job asks again whether the clock can be trusted.
const clockRetry = 10 * time.Minute

// judge returns the outcome of an attempt.
func (r *Runner) judge(ctx context.Context, k Handler, run *Run, err error) outcome {
	now := r.db.Now()
	latest := run.progress()
	o := outcome{claimedJob: run.job, run: run, attempts: run.job.attempts, runAt: now, ended: now, progress: &latest}
	var l retryLater
	var p permanentError
	switch cause := context.Cause(ctx); {
	case err == nil:
		o.status = Succeeded
	case errors.Is(cause, ErrCanceled):
		o.status, o.err = Canceled, "canceled"
	case errors.Is(cause, errStopping), errors.Is(cause, ErrLost):
		o.status, o.attempts = Queued, o.attempts-1
	case errors.As(err, &l):
		o.status, o.attempts, o.runAt = Queued, o.attempts-1, now.Add(l.after)
	case errors.As(err, &p), o.attempts >= o.maxAttempts:
		o.status, o.err = Failed, errorText(err)
	default:
		o.status, o.err, o.runAt = Queued, errorText(err), now.Add(Backoff(o.attempts, rand.Float64())) //nolint:gosec // spreads retries
	}
	o.failed = o.status == Failed
	if k.period() > 0 && (o.status == Succeeded || o.status == Failed) {
		o.status, o.attempts, o.runAt, o.progress = Queued, 0, now.Add(k.period()), &Progress{}
	}
	return o
}

func (r *Runner) report(ctx context.Context, k Handler, o outcome, err error, took time.Duration) {
	word := string(o.status)
	switch {
	case err == nil:
		word = string(Succeeded)
	case o.failed:
		word = string(Failed)
	case o.status == Queued:
		word = "retried"
	}
	r.observe(k.Name(), word, took)
	var l retryLater
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errStopping):
		r.log.DebugContext(ctx, "another node will run the job again", "kind", k.Name(), "job", o.id)
	case errors.As(err, &l):
		r.log.DebugContext(ctx, "a job waits", "kind", k.Name(), "job", o.id, "after", l.after)
	case err != nil:
		r.log.WarnContext(ctx, "a job's attempt failed", "kind", k.Name(), "job", o.id, "team", o.team, "attempt", o.claimedJob.attempts, "status", o.status, "error", err)
	}
}

// Backoff returns the wait after the n-th failed attempt: 10 s, 20 s, 40 s and so on up
// to six hours. It adds up to a tenth of the wait. random is in [0, 1).
func Backoff(n int, random float64) time.Duration {
	wait := 6 * time.Hour
	if n < 12 {
		wait = min(wait, 10*time.Second<<max(0, n-1))
	}
	return wait + time.Duration(float64(wait)*0.1*random)
}

// errorText returns the text of an error for the row of a job. PostgreSQL does not store
// NUL.
func errorText(err error) string {
	text := err.Error()
	text = strings.ToValidUTF8(text[:min(len(text), 1000)], "")
	return strings.ReplaceAll(text, "\x00", "")
}

// progressEvery is the minimum time between two writes of a job's progress.
const progressEvery = 500 * time.Millisecond

// Progress reports the progress of the job. total is 0 while it is unknown. Calls are
// cheap: at most two per second are written, and the last one when the attempt ends.
// Progress returns an error if the job must stop.
func (r *Run) Progress(ctx context.Context, done, total int64, text string) error {
	now := r.runner.db.Now()
	r.mu.Lock()
	r.progressNow = Progress{done, total, text}
	write := now.Sub(r.writtenAt) >= progressEvery
	if write {
		r.writtenAt = now
	}
	r.mu.Unlock()
	if !write {
		return context.Cause(ctx)
	}
	var stop bool
	err := r.runner.db.Write(ctx, func(tx *store.Tx) (err error) {
		stop, err = saveProgress(ctx, tx, r.job, Progress{done, total, text})
		return err
	})
	if errors.Is(err, ErrLost) {
		r.cancel(ErrLost)
		return ErrLost
	}
	if err != nil && ctx.Err() == nil {
		r.runner.log.WarnContext(ctx, "the progress of a job cannot be written", "job", r.ID, "error", err)
	}
	if stop {
		r.cancel(ErrCanceled)
		return ErrCanceled
	}
	return context.Cause(ctx)
}

// Save writes progress in a transaction of the job's function, so that it commits with
// the work. The next attempt can read it with Saved and resume. If another attempt has
// the job, Save returns ErrLost. The transaction must then roll back, because the other
// attempt does the same work.
func (r *Run) Save(ctx context.Context, tx *store.Tx, p Progress) error {
	stop, err := saveProgress(ctx, tx, r.job, p)
	if err != nil {
		if errors.Is(err, ErrLost) {
			r.cancel(ErrLost)
		}
		return err
	}
	tx.AfterCommit(func() {
		r.mu.Lock()
		r.progressNow = p
		r.mu.Unlock()
		if stop {
			r.cancel(ErrCanceled)
		}
	})
	return nil
}

// Saved returns the progress of the earlier attempt, zero for the first attempt.
func (r *Run) Saved() Progress { return r.job.priorProgress }

func (r *Run) progress() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.progressNow
}
