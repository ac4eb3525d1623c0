package webhooks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// recordHealth brings the endpoints' health forward and switches off those
// that have been failing for days or answered 410.
func recordHealth(ctx context.Context, tx *store.Tx, group []result) error {
	byLine := map[*line][]*result{}
	for i := range group {
		if r := &group[i]; r.attempted() {
			byLine[r.line] = append(byLine[r.line], r)
		}
	}
	for l, results := range byLine {
		if !l.noteworthy(results, tx.Now()) {
			continue
		}
		slices.SortFunc(results, func(a, b *result) int { return a.ended.Compare(b.ended) })
		if err := noteHealth(ctx, tx, l, results); err != nil {
			return err
		}
	}
	return nil
}

// noteworthy reports whether results tell more of an endpoint than that it is
// still well.
func (l *line) noteworthy(results []*result, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	ailing := l.target != nil && !l.target.health.FirstFailureAt.IsZero()
	if ailing || now.Sub(l.noted) >= healthEvery {
		return true
	}
	return slices.ContainsFunc(results, func(r *result) bool { return r.fate != sent })
}

func noteHealth(ctx context.Context, tx *store.Tx, l *line, results []*result) error {
	e, _, err := scanEndpoint(tx.QueryRow(ctx, `SELECT `+endpointColumns+` FROM webhook_endpoints e WHERE e.team_id = $1 AND e.id = $2`, l.team, l.id))
	if err != nil {
		return fmt.Errorf("webhooks: reading health: %w", err)
	}
	before, reason := e.Health, ""
	for _, r := range results {
		if r.fate == sent {
			e.Health = e.Health.Succeeded(r.ended)
			continue
		}
		e.Health = e.Health.Failed(r.ended)
		switch {
		case r.outcome.gone():
			reason = "it answered 410 Gone"
		case e.Health.Dead(r.ended):
			reason = "everything sent to it failed for 5 days"
		}
	}
	if e.Health != before {
		_, err = tx.Exec(ctx, `UPDATE webhook_endpoints SET first_failure_at = $1, failing_since = $2, last_success_at = $3
			WHERE team_id = $4 AND id = $5`, store.MicrosOrNil(&e.Health.FirstFailureAt), store.MicrosOrNil(&e.Health.FailingSince),
			store.MicrosOrNil(&e.Health.LastSuccessAt), l.team, l.id)
		if err != nil {
			return fmt.Errorf("webhooks: writing health: %w", err)
		}
	}
	if reason != "" && e.State == On {
		if err := switchOff(ctx, tx, e, reason); err != nil {
			return err
		}
	}
	tx.AfterCommit(func() { l.setHealth(e.Health, tx.Now()) })
	return nil
}

func (l *line) setHealth(h Health, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noted = now
	if l.target != nil {
		l.target.health = h
	}
}

// switchOff turns an endpoint off and says so to the team's others.
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
	_, err = events.Emit(ctx, tx, events.New{Team: e.Team.UUID(), Type: events.EndpointDisabled, Data: []byte(data)})
	return err
}
