package ledger

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Item is the place of a summary in a payload.
type Item struct {
	Summary uuid.UUID
	// Place is the index of the summary in the body's data; -1 for a file.
	Place int
}

// Link stores the payload of summaries. A later payload replaces an earlier one. An item
// without a summary is skipped.
func Link(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, payload ID, items []Item) error {
	for _, item := range items {
		if item.Summary == uuid.Nil {
			continue
		}
		_, err := tx.Exec(ctx, `INSERT INTO payload_items (team_id, user_id, summary_id, payload_id, place) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (user_id, summary_id) DO UPDATE SET payload_id = excluded.payload_id, place = excluded.place
				WHERE payload_items.payload_id <> excluded.payload_id OR payload_items.place <> excluded.place`,
			team, user, item.Summary, payload, item.Place)
		if err != nil {
			return fmt.Errorf("ledger: linking a summary: %w", err)
		}
	}
	return nil
}

// Origin is the payload of a summary.
type Origin struct {
	Payload ID
	Place   int
}

// Origins finds the payloads of a user's summaries. Summaries whose payload is removed are
// absent. Payloads with summaries have no hour.
func Origins(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (map[uuid.UUID]Origin, error) {
	rows, err := tx.Query(ctx, `SELECT i.summary_id, i.payload_id, i.place FROM payload_items i
		JOIN payloads p ON p.hour = 0 AND p.user_id = i.user_id AND p.id = i.payload_id
		WHERE i.team_id = $1 AND i.user_id = $2 AND p.team_id = $1 AND p.whole`, team, user)
	if err != nil {
		return nil, fmt.Errorf("ledger: finding payloads: %w", err)
	}
	defer rows.Close()
	all := map[uuid.UUID]Origin{}
	for rows.Next() {
		var summary uuid.UUID
		var o Origin
		if err := rows.Scan(&summary, &o.Payload, &o.Place); err != nil {
			return nil, fmt.Errorf("ledger: finding payloads: %w", err)
		}
		all[summary] = o
	}
	return all, rows.Err()
}
