package users

import (
	"context"
	"fmt"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Walk returns the ids of active users that follow one, in the order of the
// ids, at most limit. Pages of it stay true while users come and go. The zero
// ID begins at the beginning.
func Walk(ctx context.Context, tx *store.Tx, team teams.ID, after ID, limit int64) ([]ID, error) {
	rows, err := tx.Query(ctx, `SELECT user_id FROM users
		WHERE team_id = $1 AND user_id > $2 AND deleted_at IS NULL ORDER BY user_id LIMIT $3`, team, after, limit)
	if err != nil {
		return nil, fmt.Errorf("users: walking: %w", err)
	}
	defer rows.Close()
	var all []ID
	for rows.Next() {
		var id ID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("users: walking: %w", err)
		}
		all = append(all, id)
	}
	return all, rows.Err()
}
