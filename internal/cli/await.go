package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"hale/internal/cli/progress"
	"hale/internal/platform/fault"
)

// succeeded is the status of work that did what it should.
const succeeded = "succeeded"

// hasEnded tells whether work with a status goes no further.
func hasEnded(status string) bool {
	return status == succeeded || status == "failed" || status == "canceled"
}

// outcome is the error of work that is over and did not succeed.
func outcome(what, status, reason string) error {
	switch {
	case status == succeeded:
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

// waitedFor is work on the server: how to call it, and how to read its state.
type waitedFor struct {
	label string
	unit  progress.Unit
	read  func(body []byte) (step, error)
}

// await asks for the state of some work until it is over, shows its progress,
// and returns the last answer. A server that restarts only makes it wait: the
// work survives that too.
func (s *shell) await(ctx context.Context, path string, w waitedFor) (body json.RawMessage, err error) {
	var meter *progress.Meter // from the first answer on: of work that is not there nothing is shown
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
		case err != nil:
			return nil, err
		default:
			if now, err = w.read(body); err != nil {
				return nil, err
			}
			if meter == nil {
				meter = progress.Start(s.err, progress.Options{Label: w.label, Unit: w.unit, Terminal: s.terminal})
			}
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
