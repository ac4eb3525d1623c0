package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"hale/internal/cli/progress"
	"hale/internal/platform/fault"
)

// jobSucceeded is the status of work that has ended with success.
const jobSucceeded = "succeeded"

// hasEnded reports whether the status of some work is final.
func hasEnded(status string) bool {
	return status == jobSucceeded || status == "failed" || status == "canceled"
}

// outcome returns nil if the final status is success, and otherwise an error with the
// reason. reason may be "".
func outcome(what, status, reason string) error {
	switch {
	case status == jobSucceeded:
		return nil
	case status == "canceled":
		return fault.Newf(fault.Refused, "the %s was canceled", what)
	case reason == "":
		return fault.Newf(fault.Internal, "the %s failed", what)
	}
	return fault.Newf(fault.Internal, "the %s failed: %s", what, reason)
}

// step holds the progress of some work.
type step struct {
	done, total int64
	note        string
	over, ok    bool
}

// waitedFor describes work on the server: its name, and how to read its state.
type waitedFor struct {
	label string
	unit  progress.Unit
	read  func(body []byte) (step, error)
}

// await polls the state of some work until it has ended, shows its progress, and returns
// the last answer. It waits for a server that restarts, because the work continues after
// the restart. It says so meanwhile.
func (s *shell) await(ctx context.Context, path string, w waitedFor) (body json.RawMessage, err error) {
	var meter *progress.Meter // of work that is not there nothing is shown
	start := func() {
		if meter == nil {
			meter = progress.Start(s.err, progress.Options{Label: w.label, Unit: w.unit, Terminal: s.terminal})
		}
	}
	var now step
	defer func() {
		if meter != nil {
			meter.Finish(err == nil && now.ok)
		}
	}()
	pause := 100 * time.Millisecond
	for {
		body, err = s.call(ctx, http.MethodGet, path, nil, nil)
		switch {
		case fault.Is(err, fault.Unavailable) && ctx.Err() == nil:
			start()
			meter.Set(now.done, now.total, "the server does not answer; waiting")
		case err != nil:
			return nil, err
		default:
			if now, err = w.read(body); err != nil {
				return nil, err
			}
			start()
			meter.Set(now.done, now.total, now.note)
			if now.over {
				return body, nil
			}
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
		pause = min(pause*3/2, time.Second)
	}
}
