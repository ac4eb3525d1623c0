package ops

import (
	"context"
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

// Check is one thing that must be well for this node to take requests. What
// others run (a receiver, a provider, a lab) is never one.
type Check struct {
	Name string // a word, shown to whoever asks
	Run  func(context.Context) error
}

// Health answers /livez and /readyz. A status of 200 or 503 is the answer;
// the text is for people: ?verbose lists the checks, ?exclude=NAME leaves one
// out. The reason of a failure goes to the log alone.
type Health struct {
	log      *slog.Logger
	checks   []Check
	draining atomic.Bool
}

// NewHealth makes the handlers over some checks.
func NewHealth(log *slog.Logger, checks ...Check) *Health {
	return &Health{log: log, checks: checks}
}

// Drain makes the node not ready, so that balancers turn away from it while
// it finishes what it has.
func (h *Health) Drain() { h.draining.Store(true) }

// Live answers 200 as long as the process can answer at all.
func (h *Health) Live(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok\n") }

// Ready answers 200 when every check passes.
func (h *Health) Ready(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	failed, report := h.run(r.Context(), query["exclude"])
	if h.draining.Load() {
		failed, report = true, report+"[-] stopping\n"
	}
	status, verdict := http.StatusOK, "ok\n"
	if failed {
		status, verdict = http.StatusServiceUnavailable, "not ready\n"
	}
	if failed || query.Has("verbose") {
		verdict = report + verdict
	}
	say(w, status, verdict)
}

// run does the checks side by side and reports them in their order.
func (h *Health) run(ctx context.Context, exclude []string) (failed bool, report string) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	errs := make([]error, len(h.checks))
	var wait sync.WaitGroup
	for i, check := range h.checks {
		if slices.Contains(exclude, check.Name) {
			continue
		}
		wait.Go(func() { errs[i] = check.Run(ctx) })
	}
	wait.Wait()
	var lines strings.Builder
	for i, check := range h.checks {
		switch {
		case slices.Contains(exclude, check.Name):
			fmt.Fprintf(&lines, "[ ] %s excluded\n", check.Name)
		case errs[i] != nil:
			failed = true
			h.log.Warn("not ready", "check", check.Name, "error", errs[i])
			fmt.Fprintf(&lines, "[-] %s\n", check.Name)
		default:
			fmt.Fprintf(&lines, "[+] %s\n", check.Name)
		}
	}
	return failed, lines.String()
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// MinFree is the space below which a node stops being ready: room for the
// write-ahead log and for a checkpoint.
const MinFree = 64 << 20

// DiskCheck fails when a folder's disk is nearly full.
func DiskCheck(dir string) Check {
	return Check{"disk", func(context.Context) error {
		free, err := DiskFree(dir)
		if err != nil {
			return err
		}
		if free < MinFree {
			return fmt.Errorf("ops: %d bytes free in the data folder, %d are needed", free, MinFree)
		}
		return nil
	}}
}
