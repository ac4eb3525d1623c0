package webhooks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// The auto-off rule: an endpoint is switched off when every attempt has failed for
// five days. That clock starts only when failures at least twelve hours apart fall
// within one day, so a short outage does not start it. The retries of one message can
// start it: attempts are counted, as the reference does. So a dead endpoint with
// little traffic is switched off as well. The next success stops the clock, however
// long nothing is sent until then.
//
// Reference 8.4.
const (
	failureWindow = 24 * time.Hour
	failureSpread = 12 * time.Hour
	failureLimit  = 5 * 24 * time.Hour
)

// Health summarizes an endpoint's answers. The zero value means that no failure is
// known. It is stored with the endpoint, so the clock survives restarts and is the same
// on every node.
type Health struct {
	FirstFailureAt time.Time // first failure of the present window; zero if there is none
	FailingSince   time.Time // when the five-day clock started; zero while it is stopped
	LastSuccessAt  time.Time
}

// Succeeded returns the health after a 2xx answer.
func (h Health) Succeeded(at time.Time) Health {
	return Health{LastSuccessAt: laterOf(h.LastSuccessAt, at)}
}

// Failed returns the health after a failed attempt.
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

// HasFailedTooLong reports whether the endpoint is to be switched off.
func (h Health) HasFailedTooLong(at time.Time) bool {
	return !h.FailingSince.IsZero() && at.Sub(h.FailingSince) >= failureLimit
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// recordHealth updates the health of the endpoints. It switches off those that failed
// for days or answered 410.
func recordHealth(ctx context.Context, tx *store.Tx, group []result) error {
	byQueue := map[*endpointQueue][]*result{}
	for i := range group {
		if r := &group[i]; r.attempted() {
			byQueue[r.queue] = append(byQueue[r.queue], r)
		}
	}
	for q, results := range byQueue {
		if !q.changesHealth(results, tx.Now()) {
			continue
		}
		slices.SortFunc(results, func(a, b *result) int { return a.ended.Compare(b.ended) })
		if err := writeHealth(ctx, tx, q, results); err != nil {
			return err
		}
	}
	return nil
}

// changesHealth reports whether results are to be written to the endpoint's health. A
// success of a healthy endpoint is, once a minute.
func (q *endpointQueue) changesHealth(results []*result, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.health.FirstFailureAt.IsZero() || now.Sub(q.healthAt) >= healthEvery {
		return true
	}
	return slices.ContainsFunc(results, func(r *result) bool { return r.verdict != sent })
}

func writeHealth(ctx context.Context, tx *store.Tx, q *endpointQueue, results []*result) error {
	e, _, err := scanEndpoint(tx.QueryRow(ctx, `SELECT `+endpointColumns+` FROM webhook_endpoints e WHERE e.team_id = $1 AND e.id = $2`, q.team, q.id))
	if err != nil {
		return fmt.Errorf("webhooks: reading health: %w", err)
	}
	before, reason, returned := e.Health, "", false
	for _, r := range results {
		if r.verdict == sent {
			first := e.Health.FirstFailureAt
			returned = returned || !first.IsZero() && r.ended.Sub(first) >= outage
			e.Health = e.Health.Succeeded(r.ended)
			continue
		}
		e.Health = e.Health.Failed(r.ended)
		switch {
		case r.outcome.gone():
			reason = "it answered 410 Gone"
		case e.Health.HasFailedTooLong(r.ended):
			reason = "everything sent to it failed for 5 days"
		}
	}
	if e.Health != before {
		_, err = tx.Exec(ctx, `UPDATE webhook_endpoints SET first_failure_at = $1, failing_since = $2, last_success_at = $3
			WHERE team_id = $4 AND id = $5`, store.MicrosOrNil(&e.Health.FirstFailureAt), store.MicrosOrNil(&e.Health.FailingSince),
			store.MicrosOrNil(&e.Health.LastSuccessAt), q.team, q.id)
		if err != nil {
			return fmt.Errorf("webhooks: writing health: %w", err)
		}
	}
	if reason != "" && e.State == On {
		if err := switchOff(ctx, tx, e, reason); err != nil {
			return err
		}
	}
	tx.AfterCommit(func() {
		q.setHealth(e.Health, tx.Now())
		if returned {
			q.d.hastenLater(e.Team, e.ID)
		}
	})
	return nil
}

func (q *endpointQueue) setHealth(h Health, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.health, q.healthAt = h, now
}

// switchOff switches an endpoint off and emits an event to the team's others.
func switchOff(ctx context.Context, tx *store.Tx, e Endpoint, reason string) error {
	n, err := tx.Exec(ctx, `UPDATE webhook_endpoints SET state = $1, reason = $2, hold_before = NULL, hold_through = NULL
		WHERE team_id = $3 AND id = $4 AND state = 'on' AND deleted_at IS NULL`, AutoOff, reason, e.Team, e.ID)
	if err != nil {
		return fmt.Errorf("webhooks: switching an endpoint off: %w", err)
	}
	if n == 0 {
		return nil
	}
	if err := touch(ctx, tx, e.Team, e.ID); err != nil {
		return err
	}
	data := fmt.Sprintf(`{"endpoint_id":%q,"reason":%q}`, e.ID.String(), reason)
	_, err = events.Emit(ctx, tx, events.New{Team: e.Team.UUID(), Type: EndpointDisabled, Data: []byte(data)})
	return err
}
