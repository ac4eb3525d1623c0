package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// checkTimeout limits one health check. Load balancers and monitors ask every few
// seconds, and treat a missing answer as a failure.
const checkTimeout = 2 * time.Second

// checkGrace is the extra time for a check to return after its timeout.
const checkGrace = 100 * time.Millisecond

// noAnswer is the error text of a check that timed out.
var noAnswer = fmt.Sprintf("no answer within %v: a lock or a disk that hangs", checkTimeout)

// Check is one condition under which this node accepts requests. It never depends on
// other systems, such as a webhook receiver, a provider or a lab.
type Check struct {
	Name string // one word, shown in the answer
	Run  func(context.Context) error
}

// Detail describes a condition that needs a person but does not make the node
// unready, such as work that waits for an operator.
type Detail struct {
	Name string        // one word, shown in the answer
	Text func() string // what to do; empty when nothing waits
}

// Health serves /livez and /readyz. The status, 200 or 503, is the answer for programs.
// The text is for people: ?verbose lists the checks, ?exclude=NAME skips one. A failed
// check has its reason if that is one of a few fixed texts, such as "the database is
// read-only". The error itself appears only in the log.
//
// Any caller may request them, and a check may write to the database. So concurrent
// requests share one run of a check, and its outcome is reused for a second. The log
// gets a line when a check starts to fail and when it passes again.
type Health struct {
	log      *slog.Logger
	now      func() time.Time
	checks   []*sharedCheck
	details  []Detail
	draining atomic.Bool
}

// reuseTime is the time for which the outcome of a check is reused.
const reuseTime = time.Second

type sharedCheck struct {
	Check
	mu           sync.Mutex
	lastRun      *outcome  // nil before the first run
	failingSince time.Time // when it started to fail; zero while it passes
}

// outcome is the result of one run of a check. Read it after done is closed.
type outcome struct {
	done    chan struct{}
	err     error
	endedAt time.Time
}

// NewHealth returns a Health with checks. now is the clock for the age of an outcome.
func NewHealth(log *slog.Logger, now func() time.Time, checks ...Check) *Health {
	h := &Health{log: log, now: now}
	for _, check := range checks {
		h.checks = append(h.checks, &sharedCheck{Check: check})
	}
	return h
}

// Describe adds details to the text of /readyz. Call it before the node serves.
func (h *Health) Describe(details ...Detail) { h.details = append(h.details, details...) }

// Drain makes the node not ready. Load balancers then stop sending requests, while the
// node finishes the ones in progress.
func (h *Health) Drain() { h.draining.Store(true) }

// Live answers 200 while the process can answer at all.
func (h *Health) Live(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok\n") }

// Ready answers 200 if every check passes.
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
	writeText(w, status, verdict)
}

// IsReady reports whether every check passes.
func (h *Health) IsReady(ctx context.Context) bool {
	failed, _ := h.report(ctx, nil)
	return !failed
}

// report runs the checks concurrently and reports them in their order.
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
			fmt.Fprintf(&lines, "[-] %s%s\n", check.Name, publicReason(errs[i]))
		default:
			fmt.Fprintf(&lines, "[+] %s\n", check.Name)
		}
	}
	for _, detail := range h.details {
		if text := detail.Text(); text != "" {
			fmt.Fprintf(&lines, "[!] %s: %s\n", detail.Name, text)
		}
	}
	if h.draining.Load() {
		failed = true
		lines.WriteString("[-] stopping\n")
	}
	return failed, lines.String()
}

// publicReason returns the reason of a failure for the answer, after a colon. It is empty
// unless the error has one in fixed words, because any caller may read the answer.
func publicReason(err error) string {
	var fixed interface{ Reason() string }
	switch {
	case errors.As(err, &fixed):
		return ": " + fixed.Reason()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf(": no answer within %v", checkTimeout)
	}
	return ""
}

// outcome returns the outcome of the current run, a recent run, or a new run. A run does
// not end with the request that started it. The caller stops waiting after the timeout,
// even if the check hangs.
func (h *Health) outcome(ctx context.Context, check *sharedCheck) error {
	check.mu.Lock()
	o := check.lastRun
	begin := o == nil || o.isDone() && h.now().Sub(o.endedAt) >= reuseTime
	if begin {
		o = &outcome{done: make(chan struct{})}
		check.lastRun = o
	}
	check.mu.Unlock()
	if begin {
		go h.run(context.WithoutCancel(ctx), check, o)
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout+checkGrace)
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

func (o *outcome) isDone() bool {
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
	o.endedAt = h.now()
	close(o.done)
}

// note logs when a check starts to fail, with the reason, and when it passes again.
func (h *Health) note(check *sharedCheck, err error) {
	now := h.now()
	check.mu.Lock()
	since := check.failingSince
	switch {
	case err == nil:
		check.failingSince = time.Time{}
	case since.IsZero():
		check.failingSince = now
	}
	check.mu.Unlock()
	switch failed := !since.IsZero(); {
	case err != nil && !failed:
		h.log.Warn("not ready", "check", check.Name, "error", err)
	case err == nil && failed:
		h.log.Info("ready again", "check", check.Name, "after", now.Sub(since).Round(time.Millisecond))
	}
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// MinFree is the free space below which a node is not ready. It leaves space for the
// write-ahead log and a checkpoint.
const MinFree = 64 << 20

// Disk is the disk of a folder. It stores the result of its last check, so that a
// scrape never waits for a disk that hangs.
type Disk struct {
	dir        string
	free, size atomic.Uint64 // bytes; size is 0 before the first check
}

// NewDisk returns the disk of a folder, without checking it.
func NewDisk(dir string) *Disk { return &Disk{dir: dir} }

// Check returns a check that fails if the disk is nearly full.
func (d *Disk) Check() Check {
	return Check{"disk", func(context.Context) error {
		free, size, err := DiskSpace(d.dir)
		if err != nil {
			return err
		}
		d.free.Store(free)
		d.size.Store(size)
		if free < MinFree {
			return fmt.Errorf("ops: %d bytes free in the data folder, %d are needed", free, MinFree)
		}
		return nil
	}}
}

// MachineServer serves /metrics, /livez and /readyz for monitoring, and Go's profiles
// under /debug/pprof/. Its address must not be reachable from outside.
func MachineServer(m *Metrics, h *Health) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	mux.HandleFunc("GET /livez", h.Live)
	mux.HandleFunc("GET /readyz", h.Ready)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index) // goroutine, heap, allocs, mutex, block
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 2 * time.Minute}
}
