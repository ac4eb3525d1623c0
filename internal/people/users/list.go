package users

import (
	"context"
	"fmt"
	"math"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Page is one page of the team's users, newest first. Total counts all users,
// also when the page is empty.
type Page struct {
	Users []User
	Total int64
}

// List returns the users that follow the offset newest ones, at most limit.
//
// Spec: Users, GET /v2/user/.
func List(ctx context.Context, tx *store.Tx, team teams.ID, offset, limit int64) (Page, error) {
	total, err := Count(ctx, tx, team)
	if err != nil || offset >= total {
		return Page{Total: total}, err
	}
	block := int64(math.MaxInt64)
	if offset > 0 {
		if block, offset, err = skip(ctx, tx, team, offset); err != nil || block < 0 {
			return Page{Total: total}, err
		}
	}
	found, err := many(ctx, tx, listQuery, team, block, limit, offset)
	if err != nil {
		return Page{}, fmt.Errorf("users: listing: %w", err)
	}
	return Page{found, total}, nil
}

const listQuery = `SELECT ` + columns + ` FROM users
	WHERE team_id = $1 AND block <= $2 AND deleted_at IS NULL
	ORDER BY block DESC, user_id DESC LIMIT $3 OFFSET $4`
