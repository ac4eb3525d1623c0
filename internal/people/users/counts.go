package users

import (
	"context"
	"fmt"
	"math/rand/v2"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Counting a million users takes 80 ms and jumping over them in a list as
// long, so both are kept as counts that change with the users: one for the
// team, and one for each block of users, in the order in which they came.
//
// A block takes new users until it has 4096 live ones, and the next one
// begins. Which block a user is in never changes; only its count does. So a
// list skips whole blocks by their counts, and a count is exact whatever the
// size of the block.

// The blocks below zero hold counts of the whole team.
const (
	teamBlock  = -1 // live users
	namesBlock = -2 // changes of names, see search.go
)

// slots spreads one count over several rows on PostgreSQL, where many
// transactions add to it at the same time: 3.4 times the rate of a single row
// with 32 writers. SQLite has one writer.
const slots = 16

// fillingBlock is the block that takes the next user of team $1. Two
// transactions that see it full at the same time both begin the next one,
// which is the same.
const fillingBlock = `COALESCE((SELECT c.block + CASE WHEN SUM(c.n) >= 4096 THEN 1 ELSE 0 END FROM user_counts c
	WHERE c.team_id = $1 AND c.block = (SELECT MAX(m.block) FROM user_counts m WHERE m.team_id = $1) GROUP BY c.block), 0)`

// count adds n users to the team and to a block.
func count(ctx context.Context, tx *store.Tx, team teams.ID, block int64, n int64) error {
	slot := 0
	if !tx.Serial() {
		slot = rand.IntN(slots)
	}
	_, err := tx.Exec(ctx, `INSERT INTO user_counts (team_id, block, slot, n) VALUES ($1, $2, $3, $4), ($1, $5, $3, $4)
		ON CONFLICT (team_id, block, slot) DO UPDATE SET n = user_counts.n + excluded.n`,
		team, teamBlock, slot, n, block)
	if err != nil {
		return fmt.Errorf("users: counting: %w", err)
	}
	return nil
}

// Count is the number of the team's users, deleted ones aside.
func Count(ctx context.Context, tx *store.Tx, team teams.ID) (int64, error) {
	var n int64
	err := tx.QueryRow(ctx, `SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM user_counts WHERE team_id = $1 AND block = $2`,
		team, teamBlock).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("users: reading the count: %w", err)
	}
	return n, nil
}

// skip finds the block in which the offset-th newest user is, and how many
// users of that block come before. A block below zero means that there are
// fewer users.
func skip(ctx context.Context, tx *store.Tx, team teams.ID, offset int64) (block, rest int64, err error) {
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
