package events

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// forgetAtOnce bounds the rows that one transaction deletes.
const forgetAtOnce = 500

// waits holds for an event (v) that is still on its way: a delivery is pending
// at an endpoint that is on. Deliveries that failed, and those held for an
// endpoint that is off, can be replayed until the event is forgotten.
const waits = `EXISTS (SELECT 1 FROM webhook_endpoints e JOIN webhook_deliveries d
	ON d.team_id = e.team_id AND d.endpoint_id = e.id
	WHERE e.team_id = v.team_id AND d.event_id = v.id AND d.state = 'pending' AND e.state = 'on' AND e.deleted_at IS NULL)`

// Forget removes a team's events from before the given moment with their
// deliveries and attempts, in transactions of bounded size. It leaves what is
// still on its way, and the team's last event, which carries the number.
func Forget(ctx context.Context, db *store.DB, team uuid.UUID, before time.Time) (forgotten int, err error) {
	after := int64(0)
	for {
		var last, n int64
		err := db.Write(ctx, func(tx *store.Tx) (err error) {
			last, n, err = forgetSome(ctx, tx, team, before, after)
			return err
		})
		forgotten += int(n)
		if err != nil || last == 0 {
			return forgotten, err
		}
		after = last
	}
}

// forgetSome looks at the next events in order of number. last is 0 when none
// of them was old enough.
func forgetSome(ctx context.Context, tx *store.Tx, team uuid.UUID, before time.Time, after int64) (last, n int64, err error) {
	if err := Keep(ctx, tx, team); err != nil {
		return 0, 0, err
	}
	newest, err := LastNumber(ctx, tx, team)
	if err != nil {
		return 0, 0, err
	}
	last, old, err := readOld(ctx, tx, team, before, after, newest)
	if err != nil || len(old) == 0 {
		return last, 0, err
	}
	// The same events in all three tables, though deliveries end meanwhile.
	for _, part := range []string{
		`webhook_attempts WHERE team_id = $1 AND endpoint_id IN (SELECT id FROM webhook_endpoints WHERE team_id = $1) AND event_id IN `,
		`webhook_deliveries WHERE team_id = $1 AND endpoint_id IN (SELECT id FROM webhook_endpoints WHERE team_id = $1) AND event_id IN `,
		`events WHERE team_id = $1 AND id IN `,
	} {
		if n, err = tx.Exec(ctx, `DELETE FROM `+part+store.Placeholders(2, len(old)), append([]any{team}, old...)...); err != nil {
			return 0, 0, fmt.Errorf("events: forgetting: %w", err)
		}
	}
	return last, n, nil
}

// readOld finds those of the next events that are from before a moment and not
// on their way. last is the number of the last old one that it looked at.
func readOld(ctx context.Context, tx *store.Tx, team uuid.UUID, before time.Time, after, newest int64) (last int64, ids []any, err error) {
	rows, err := tx.Query(ctx, `SELECT v.seq, v.id, `+waits+` FROM (
			SELECT seq, id, team_id, created_at FROM events WHERE team_id = $1 AND seq > $2 AND seq < $3 ORDER BY seq LIMIT $4) AS v
		WHERE v.created_at < $5 ORDER BY v.seq`, team, after, newest, forgetAtOnce, store.Micros(before))
	if err != nil {
		return 0, nil, fmt.Errorf("events: looking for what is old: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id ID
		var waiting bool
		if err := rows.Scan(&last, &id, &waiting); err != nil {
			return 0, nil, fmt.Errorf("events: looking for what is old: %w", err)
		}
		if !waiting {
			ids = append(ids, id)
		}
	}
	return last, ids, rows.Err()
}

// Keep keeps a team's events from being forgotten until the transaction ends.
// Who writes deliveries of events that were there before asks for it, so that
// none is left without its event.
func Keep(ctx context.Context, tx *store.Tx, team uuid.UUID) error {
	if err := tx.Lock(ctx, "events.forget:"+team.String()); err != nil {
		return fmt.Errorf("events: keeping: %w", err)
	}
	return nil
}
