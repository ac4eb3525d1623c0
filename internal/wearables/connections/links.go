package connections

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/providers"
)

// Link is a connection in the list of a user's sources.
//
// Spec: User, ConnectedSource.
type Link struct {
	Provider  providers.Provider
	CreatedOn time.Time
}

// linksAtOnce bounds the users of one statement. Longer lists bind slowly on SQLite.
const linksAtOnce = 25

// Links returns the links of some users, oldest first. Users without one are absent.
func Links(ctx context.Context, tx *store.Tx, team teams.ID, all ...users.ID) (map[users.ID][]Link, error) {
	found := map[users.ID][]Link{}
	if len(all) == 1 {
		return found, readLinks(ctx, tx, found, team, all)
	}
	for part := range slices.Chunk(all, linksAtOnce) {
		for len(part) < linksAtOnce { // one length, so that one statement is prepared
			part = append(slices.Clip(part), part[0])
		}
		if err := readLinks(ctx, tx, found, team, part); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// linksQuery selects the links of n users.
func linksQuery(n int) string {
	return `SELECT user_id, provider, created_on FROM connections
		WHERE team_id = $1 AND user_id IN ` + store.Placeholders(2, n) + ` ORDER BY created_on, provider`
}

func readLinks(ctx context.Context, tx *store.Tx, found map[users.ID][]Link, team teams.ID, part []users.ID) error {
	args := make([]any, 0, len(part)+1)
	args = append(args, team)
	for _, id := range part {
		args = append(args, id)
	}
	rows, err := tx.Query(ctx, linksQuery(len(part)), args...)
	if err != nil {
		return fmt.Errorf("connections: reading links: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var user users.ID
		var slug string
		var link Link
		if err := rows.Scan(&user, &slug, store.ScanTime(&link.CreatedOn)); err != nil {
			return fmt.Errorf("connections: reading links: %w", err)
		}
		link.Provider = providers.FindOrName(slug)
		found[user] = append(found[user], link)
	}
	return rows.Err()
}
