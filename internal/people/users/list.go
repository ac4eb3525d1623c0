package users

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Page is one page of the team's users, newest first. Total counts all users, even
// if the page is empty.
type Page struct {
	Users []User
	Total int64
	Next  *Position // the last user of the page; nil at the end
}

// Position is the place of a user in the list. It never changes, so a list that
// continues after it skips and repeats no user while users are created and deleted.
type Position struct {
	Block int64 `json:"b"`
	ID    ID    `json:"i"`
}

// List returns at most limit users, newest first, after the first offset ones.
//
// Spec: Users, GET /v2/user/.
func List(ctx context.Context, tx *store.Tx, team teams.ID, offset, limit int64) (Page, error) {
	total, err := Count(ctx, tx, team)
	if err != nil || offset >= total {
		return Page{Total: total}, err
	}
	block := int64(math.MaxInt64)
	if offset > 0 {
		if block, offset, err = findOffset(ctx, tx, team, offset); err != nil || block < 0 {
			return Page{Total: total}, err
		}
	}
	found, err := queryUsers(ctx, tx, listQuery, team, block, limit+1, offset)
	if err != nil {
		return Page{}, fmt.Errorf("users: listing: %w", err)
	}
	return pageOf(found, total, limit), nil
}

// ListAfter returns at most limit users, newest first, after a position.
func ListAfter(ctx context.Context, tx *store.Tx, team teams.ID, after Position, limit int64) (Page, error) {
	total, err := Count(ctx, tx, team)
	if err != nil {
		return Page{}, err
	}
	found, err := queryUsers(ctx, tx, listAfterQuery, team, after.Block, after.ID, limit+1)
	if err != nil {
		return Page{}, fmt.Errorf("users: listing: %w", err)
	}
	return pageOf(found, total, limit), nil
}

// pageOf returns the first limit users as a page.
func pageOf(found []User, total, limit int64) Page {
	if int64(len(found)) <= limit {
		return Page{Users: found, Total: total}
	}
	last := found[limit-1]
	return Page{found[:limit], total, &Position{last.block, last.ID}}
}

const listQuery = `SELECT ` + columns + ` FROM users
	WHERE team_id = $1 AND block <= $2 AND deleted_at IS NULL
	ORDER BY block DESC, user_id DESC LIMIT $3 OFFSET $4`

const listAfterQuery = `SELECT ` + columns + ` FROM users
	WHERE team_id = $1 AND (block, user_id) < ($2, $3) AND deleted_at IS NULL
	ORDER BY block DESC, user_id DESC LIMIT $4`

// ListIDs returns at most limit ids of active users that follow the id after, in
// order. Its pages are stable while users are created and deleted. The zero ID
// returns the first page.
func ListIDs(ctx context.Context, tx *store.Tx, team teams.ID, after ID, limit int64) ([]ID, error) {
	rows, err := tx.Query(ctx, `SELECT user_id FROM users
		WHERE team_id = $1 AND user_id > $2 AND deleted_at IS NULL ORDER BY user_id LIMIT $3`, team, after, limit)
	if err != nil {
		return nil, fmt.Errorf("users: listing ids: %w", err)
	}
	defer rows.Close()
	var all []ID
	for rows.Next() {
		var id ID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("users: listing ids: %w", err)
		}
		all = append(all, id)
	}
	return all, rows.Err()
}

// Counting a million users takes 80 ms, and so does skipping them in a list. So the
// database has counts that change with the users: one for the team, and one for each
// block of users.
//
// A block accepts new users until it has 4096 active ones; then the next block begins.
// A user never changes blocks. A list skips whole blocks by their counts.

// Blocks below zero have counts of the whole team.
const (
	teamBlock  = -1 // active users
	namesBlock = -2 // changes of names, see search.go
)

// slots spreads a count over several rows on PostgreSQL, where many transactions
// change it at the same time. With 32 writers it is 3.4 times as fast as a single
// row. SQLite has one writer.
const slots = 16

// fillingBlock is an expression for the block of the next user of team $1. Two
// transactions that see a full block at the same time begin the same next one.
const fillingBlock = `COALESCE((SELECT c.block + CASE WHEN SUM(c.n) >= 4096 THEN 1 ELSE 0 END FROM user_counts c
	WHERE c.team_id = $1 AND c.block = (SELECT MAX(m.block) FROM user_counts m WHERE m.team_id = $1) GROUP BY c.block), 0)`

// count adds n users to the team and to a block.
func count(ctx context.Context, tx *store.Tx, team teams.ID, block int64, n int64) error {
	slot := 0
	if !tx.Serial() {
		slot = rand.IntN(slots) //nolint:gosec // spreads writes
	}
	_, err := tx.Exec(ctx, `INSERT INTO user_counts (team_id, block, slot, n) VALUES ($1, $2, $3, $4), ($1, $5, $3, $4)
		ON CONFLICT (team_id, block, slot) DO UPDATE SET n = user_counts.n + excluded.n`,
		team, teamBlock, slot, n, block)
	if err != nil {
		return fmt.Errorf("users: counting: %w", err)
	}
	return nil
}

// Count returns the number of the team's active users.
func Count(ctx context.Context, tx *store.Tx, team teams.ID) (int64, error) {
	var n int64
	err := tx.QueryRow(ctx, `SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM user_counts WHERE team_id = $1 AND block = $2`,
		team, teamBlock).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("users: reading the count: %w", err)
	}
	return n, nil
}

// findOffset returns the block of the offset-th newest user, and the number of users
// before it in that block. A block below zero means that there are fewer users.
func findOffset(ctx context.Context, tx *store.Tx, team teams.ID, offset int64) (block, rest int64, err error) {
	rows, err := tx.Query(ctx, `SELECT block, CAST(SUM(n) AS BIGINT) FROM user_counts
		WHERE team_id = $1 AND block >= 0 GROUP BY block ORDER BY block DESC`, team)
	if err != nil {
		return 0, 0, fmt.Errorf("users: reading block counts: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&block, &n); err != nil {
			return 0, 0, fmt.Errorf("users: reading block counts: %w", err)
		}
		if offset < n {
			return block, offset, nil
		}
		offset -= n
	}
	return -1, 0, rows.Err()
}
