package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// forgetAtOnce limits the rows that one transaction deletes.
const forgetAtOnce = 500

// isPending selects an event (v) that has a pending delivery to an endpoint that is on.
// Failed deliveries, and those held for an endpoint that is off, can be replayed until
// the event is deleted.
const isPending = `EXISTS (SELECT 1 FROM webhook_endpoints e JOIN webhook_deliveries d
	ON d.team_id = e.team_id AND d.endpoint_id = e.id
	WHERE e.team_id = v.team_id AND d.event_id = v.id AND d.state = 'pending' AND e.state = 'on' AND e.deleted_at IS NULL)`

// Forget deletes a team's events from before the given moment, with their deliveries
// and attempts, in transactions of limited size. It keeps events with pending
// deliveries, and the team's last event, which has the last number.
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

// OldestTime returns the time of a team's oldest event; zero if it has none.
func OldestTime(ctx context.Context, tx *store.Tx, team uuid.UUID) (at time.Time, err error) {
	err = tx.QueryRow(ctx, `SELECT created_at FROM events WHERE team_id = $1 ORDER BY seq LIMIT 1`, team).Scan(store.ScanTime(&at))
	if errors.Is(err, store.ErrNoRows) {
		err = nil
	}
	return at, err
}

// forgetSome deletes some of the events after a number. last is the number of the last
// old one that it looked at, 0 if there is none.
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
	// One list of events for all three tables, because deliveries end meanwhile.
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

// readOld lists some of the events after a number that are from before a moment and
// have no pending delivery. last is the number of the last old one that it looked at.
func readOld(ctx context.Context, tx *store.Tx, team uuid.UUID, before time.Time, after, newest int64) (last int64, ids []any, err error) {
	rows, err := tx.Query(ctx, `SELECT v.seq, v.id, `+isPending+` FROM (
			SELECT seq, id, team_id, created_at FROM events WHERE team_id = $1 AND seq > $2 AND seq < $3 ORDER BY seq LIMIT $4) AS v
		WHERE v.created_at < $5 ORDER BY v.seq`, team, after, newest, forgetAtOnce, store.Micros(before))
	if err != nil {
		return 0, nil, fmt.Errorf("events: looking for old events: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id ID
		var waiting bool
		if err := rows.Scan(&last, &id, &waiting); err != nil {
			return 0, nil, fmt.Errorf("events: looking for old events: %w", err)
		}
		if !waiting {
			ids = append(ids, id)
		}
	}
	return last, ids, rows.Err()
}

// Keep prevents the deletion of a team's events until the transaction ends. A
// transaction that writes deliveries of stored events calls it, so that no delivery is
// left without its event.
func Keep(ctx context.Context, tx *store.Tx, team uuid.UUID) error {
	if err := tx.Lock(ctx, "events.forget:"+team.String()); err != nil {
		return fmt.Errorf("events: keeping: %w", err)
	}
	return nil
}
