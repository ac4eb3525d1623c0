package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Backlog counts the deliveries that wait to be sent, due or not.
type Backlog struct {
	Waiting int64     // to endpoints that are on
	Oldest  time.Time // when the oldest of their events was created; zero for none
	Off     int       // endpoints that were switched off because they failed
}

// CountBacklog reads the index entries of all waiting deliveries: some tenths of a
// second for a million.
func CountBacklog(ctx context.Context, tx *store.Tx) (b Backlog, err error) {
	oldest := "MIN(d.event_id)"
	if tx.Engine() == store.Postgres {
		oldest = "MIN(CAST(d.event_id AS TEXT))" // it has no MIN of UUIDs
	}
	rows, err := tx.Query(ctx, `SELECT e.state, (SELECT COUNT(*) FROM webhook_deliveries d
			WHERE d.team_id = e.team_id AND d.endpoint_id = e.id AND d.state = 'pending'),
			(SELECT `+oldest+` FROM webhook_deliveries d
			WHERE d.team_id = e.team_id AND d.endpoint_id = e.id AND d.state = 'pending')
		FROM webhook_endpoints e WHERE e.deleted_at IS NULL`)
	if err != nil {
		return b, fmt.Errorf("webhooks: counting waiting deliveries: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var state State
		var waiting int64
		var first uuid.NullUUID
		if err := rows.Scan(&state, &waiting, &first); err != nil {
			return b, err
		}
		switch state {
		case On:
			b.Waiting += waiting
			if at := time.Unix(first.UUID.Time().UnixTime()).UTC(); first.Valid && (b.Oldest.IsZero() || at.Before(b.Oldest)) {
				b.Oldest = at
			}
		case AutoOff:
			b.Off++
		case Off: // the team's decision, and no problem
		}
	}
	return b, rows.Err()
}

// A backlog of retries waits up to ten hours. When its endpoint answers again, or a
// replay covers it, the backlog becomes due at once. The rate limit of the endpoint
// applies to it as to all posts, and older events go first.

const (
	// outage is the shortest time without a success after which a success makes the
	// backlog due. Shorter gaps may be about single events that the receiver refuses.
	outage = time.Minute
	// hastenedAttempts limits the attempts of a delivery that becomes due early, so that
	// an event that the receiver always refuses fails permanently in the end.
	hastenedAttempts = 20
	// waitingRows selects retries (d) that are not due yet. $1 team, $2 endpoint, $3 now.
	waitingRows = `d.team_id = $1 AND d.endpoint_id = $2 AND d.state = 'pending' AND d.lane = 1 AND d.due_at > $3`
)

// hasten makes some waiting retries due at a moment. tries is the new number of attempts
// of the schedule. from selects rows (d), with arguments from $5 on.
func hasten(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, at time.Time, tries, from string, args ...any) (int64, error) {
	if err := events.PreferIndexes(ctx, tx); err != nil {
		return 0, err
	}
	args = append([]any{team, id, store.Micros(at), replayAtOnce}, args...)
	n, err := tx.Exec(ctx, `UPDATE webhook_deliveries SET due_at = $3, tries = `+tries+`
		WHERE team_id = $1 AND endpoint_id = $2 AND ended_at IS NULL AND event_id IN (
			SELECT d.event_id FROM webhook_deliveries d `+from+` ORDER BY d.due_at, d.event_id LIMIT $4)`, args...)
	if err != nil {
		return 0, fmt.Errorf("webhooks: making retries due: %w", err)
	}
	return n, nil
}

// hastenLater makes the backlog of an endpoint due, which has answered after an outage.
// These attempts do not count in the schedule.
func (d *Deliverer) hastenLater(team teams.ID, id EndpointID) {
	d.later(func() {
		ctx, at := store.AsSystem(context.Background()), d.db.Now()
		for n := int64(1); n > 0 && !d.halted(); {
			err := d.db.Write(ctx, func(tx *store.Tx) (err error) {
				n, err = hasten(ctx, tx, team, id, at, `CASE WHEN tries > 0 THEN tries - 1 ELSE 0 END`,
					`WHERE `+waitingRows+` AND d.attempts < $5`, hastenedAttempts)
				return err
			})
			if err != nil { // the retries stay due as before
				d.cfg.Log.ErrorContext(ctx, "retries cannot be made due", "endpoint", id, "error", err)
				return
			}
		}
		d.refreshLater(team.UUID())
	})
}
