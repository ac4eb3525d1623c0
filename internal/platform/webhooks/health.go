package webhooks

import "time"

// The auto-off rule: an endpoint is switched off when everything sent to it
// has failed for five days. That clock starts only when failures at least
// twelve hours apart fall within one day, so that a short outage never starts
// it. The retries of one message can: attempts are counted, as the reference
// does, so that a dead endpoint with little traffic is switched off as well. A
// clock that has started stops at the next success, however quiet it is until
// then.
//
// Reference 8.4.
const (
	failureWindow = 24 * time.Hour
	failureSpread = 12 * time.Hour
	failureLimit  = 5 * 24 * time.Hour
)

// Health is what an endpoint's answers have told so far. The zero value means
// that nothing is known against it. It is stored with the endpoint, so the
// clock survives restarts and is the same on every node.
type Health struct {
	FirstFailureAt time.Time // first failure of the present window; zero when there is none
	FailingSince   time.Time // when the five-day clock started; zero while it stands
	LastSuccessAt  time.Time
}

// Succeeded is the health after a 2xx answer.
func (h Health) Succeeded(at time.Time) Health {
	return Health{LastSuccessAt: later(h.LastSuccessAt, at)}
}

// Failed is the health after a failed attempt.
func (h Health) Failed(at time.Time) Health {
	switch {
	case !h.FailingSince.IsZero():
	case h.FirstFailureAt.IsZero(), at.Sub(h.FirstFailureAt) > failureWindow:
		h.FirstFailureAt = at
	case at.Sub(h.FirstFailureAt) >= failureSpread:
		h.FailingSince = at
	}
	return h
}

// Dead reports whether the endpoint should be switched off.
func (h Health) Dead(at time.Time) bool {
	return !h.FailingSince.IsZero() && at.Sub(h.FailingSince) >= failureLimit
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
