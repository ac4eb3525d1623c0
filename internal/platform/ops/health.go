package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// checkTimeout bounds one health check. Machines ask every few seconds and
// take silence for failure.
const checkTimeout = 2 * time.Second

// grace is what a check that has run out of time gets to say so.
const grace = 100 * time.Millisecond

// noAnswer is why a check has failed that ran out of time.
var noAnswer = fmt.Sprintf("no answer within %v: a lock or a disk that hangs", checkTimeout)

// Check is one thing that must be well for this node to take requests. What
// others run (a receiver, a provider, a lab) is never one.
type Check struct {
	Name string // a word, shown to whoever asks
	Run  func(context.Context) error
}

// Health answers /livez and /readyz. A status of 200 or 503 is the answer;
// the text is for people: ?verbose lists the checks, ?exclude=NAME leaves one
// out. The reason of a failure goes to the log alone.
//
// Whoever reaches the address may ask, and a check may write. So all who ask
// at once share one run of it, and its outcome serves for a second. The log is
// told when a check begins to fail and when it passes again, however often
// somebody asks in between.
type Health struct {
	log      *slog.Logger
	now      func() time.Time
	checks   []*sharedCheck
	draining atomic.Bool
}

// fresh is how long the outcome of a check serves.
const fresh = time.Second

type sharedCheck struct {
	Check
	mu    sync.Mutex
	last  *outcome  // nil before the first run
	since time.Time // when it began to fail; zero while it passes
}

// outcome is what a run of a check found; it can be read once done is closed.
type outcome struct {
	done chan struct{}
	err  error
	at   time.Time
}

// NewHealth makes the handlers over some checks. now is the one clock: by it an
// outcome ages.
func NewHealth(log *slog.Logger, now func() time.Time, checks ...Check) *Health {
	h := &Health{log: log, now: now}
	for _, check := range checks {
		h.checks = append(h.checks, &sharedCheck{Check: check})
	}
	return h
}

// Drain makes the node not ready, so that balancers turn away from it while
// it finishes what it has.
func (h *Health) Drain() { h.draining.Store(true) }

// Live answers 200 as long as the process can answer at all.
func (h *Health) Live(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok\n") }

// Ready answers 200 when every check passes.
func (h *Health) Ready(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	failed, report := h.report(r.Context(), query["exclude"])
	status, verdict := http.StatusOK, "ok\n"
	if failed {
		status, verdict = http.StatusServiceUnavailable, "not ready\n"
	}
	if failed || query.Has("verbose") {
		verdict = report + verdict
	}
	say(w, status, verdict)
}

// report does the checks side by side and reports them in their order.
func (h *Health) report(ctx context.Context, exclude []string) (failed bool, report string) {
	errs := make([]error, len(h.checks))
	var wait sync.WaitGroup
	for i, check := range h.checks {
		if !slices.Contains(exclude, check.Name) {
			wait.Go(func() { errs[i] = h.outcome(ctx, check) })
		}
	}
	wait.Wait()
	var lines strings.Builder
	for i, check := range h.checks {
		switch {
		case slices.Contains(exclude, check.Name):
			fmt.Fprintf(&lines, "[ ] %s excluded\n", check.Name)
		case errs[i] != nil:
			failed = true
			fmt.Fprintf(&lines, "[-] %s\n", check.Name)
		default:
			fmt.Fprintf(&lines, "[+] %s\n", check.Name)
		}
	}
	if h.draining.Load() {
		failed = true
		lines.WriteString("[-] stopping\n")
	}
	return failed, lines.String()
}

// outcome is that of the run that goes on, of one a moment ago, or else of a new
// one. A run does not end with the request that began it, and one that does not
// look at its time, as whatever waits for a disk, is not waited for any longer.
func (h *Health) outcome(ctx context.Context, check *sharedCheck) error {
	check.mu.Lock()
	o := check.last
	begin := o == nil || o.over() && h.now().Sub(o.at) >= fresh
	if begin {
		o = &outcome{done: make(chan struct{})}
		check.last = o
	}
	check.mu.Unlock()
	if begin {
		go h.run(context.WithoutCancel(ctx), check, o)
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout+grace)
	defer cancel()
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			h.note(check, errors.New(noAnswer))
		}
		return ctx.Err()
	}
}

func (o *outcome) over() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

func (h *Health) run(ctx context.Context, check *sharedCheck, o *outcome) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if o.err = check.Run(ctx); errors.Is(o.err, context.DeadlineExceeded) {
		o.err = fmt.Errorf("%s: %w", noAnswer, o.err)
	}
	h.note(check, o.err)
	o.at = h.now()
	close(o.done)
}

// note says in the log that a check no longer passes, and why, or that it does
// again.
func (h *Health) note(check *sharedCheck, err error) {
	now := h.now()
	check.mu.Lock()
	since := check.since
	switch {
	case err == nil:
		check.since = time.Time{}
	case since.IsZero():
		check.since = now
	}
	check.mu.Unlock()
	switch failed := !since.IsZero(); {
	case err != nil && !failed:
		h.log.Warn("not ready", "check", check.Name, "error", err)
	case err == nil && failed:
		h.log.Info("ready again", "check", check.Name, "after", now.Sub(since).Round(time.Millisecond))
	}
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}
