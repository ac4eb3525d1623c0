package connections

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/providers"
)

// Link is a connection in short, as a user's list of sources shows it.
//
// Spec: User, ConnectedSource.
type Link struct {
	Provider  providers.Provider
	CreatedOn time.Time
}

// BesideUser reads the connections of one user into links, in the query that
// reads the user.
func BesideUser(links *[]Link) users.Beside {
	return users.Beside{Dest: (*joined)(links), SQL: `(SELECT string_agg(c.provider || ' ' || c.created_on, ',')
		FROM connections c WHERE c.team_id = users.team_id AND c.user_id = users.user_id)`}
}

// joined scans "slug micros,slug micros", or NULL for a user without any.
type joined []Link

// Scan reads the links, oldest first.
func (j *joined) Scan(src any) error {
	*j = nil
	var text string
	switch v := src.(type) {
	case nil:
		return nil
	case string:
		text = v
	case []byte:
		text = string(v)
	}
	for part := range strings.SplitSeq(text, ",") {
		slug, at, _ := strings.Cut(part, " ")
		us, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return fmt.Errorf("connections: a link stored as %q", part)
		}
		*j = append(*j, Link{providers.Named(slug), store.FromMicros(us)})
	}
	slices.SortFunc(*j, func(a, b Link) int {
		return cmp.Or(a.CreatedOn.Compare(b.CreatedOn), cmp.Compare(a.Provider.Slug, b.Provider.Slug))
	})
	return nil
}

// listWidth is how many users one statement asks for. Longer lists bind slowly
// on SQLite.
const listWidth = 25

// Links returns the connections of some users in short, oldest first. Users
// without one are absent.
func Links(ctx context.Context, tx *store.Tx, team teams.ID, all ...users.ID) (map[users.ID][]Link, error) {
	found := map[users.ID][]Link{}
	if len(all) == 1 {
		return found, readLinks(ctx, tx, found, team, all)
	}
	for part := range slices.Chunk(all, listWidth) {
		for len(part) < listWidth { // one width, so that one statement is prepared
			part = append(slices.Clip(part), part[0])
		}
		if err := readLinks(ctx, tx, found, team, part); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func readLinks(ctx context.Context, tx *store.Tx, found map[users.ID][]Link, team teams.ID, part []users.ID) error {
	args := make([]any, 0, len(part)+1)
	args = append(args, team)
	for _, id := range part {
		args = append(args, id)
	}
	rows, err := tx.Query(ctx, `SELECT user_id, provider, created_on FROM connections
		WHERE team_id = $1 AND user_id IN `+store.Placeholders(2, len(part))+` ORDER BY created_on, provider`, args...)
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
		link.Provider = providers.Named(slug)
		found[user] = append(found[user], link)
	}
	return rows.Err()
}
