package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
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
		}
	}
	return b, rows.Err()
}
