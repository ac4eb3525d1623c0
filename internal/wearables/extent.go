package wearables

import (
	"context"
	"database/sql"

	"hale/internal/store"
)

// Extent is when the oldest and the newest sample of a series start, UTC
// microseconds; ok is false when it has none.
func (s *Series) Extent(ctx context.Context, tx *store.Tx) (oldest, newest int64, ok bool, err error) {
	var first, last sql.NullInt64
	err = tx.QueryRow(ctx, `SELECT
		(SELECT t_min FROM sample_blocks WHERE team_id = $1 AND user_id = $2 AND series_id = $3 ORDER BY bucket LIMIT 1),
		(SELECT t_max FROM sample_blocks WHERE team_id = $1 AND user_id = $2 AND series_id = $3 ORDER BY bucket DESC LIMIT 1)`,
		s.Team, s.User, s.ID).Scan(&first, &last)
	return first.Int64, last.Int64, first.Valid && last.Valid, err
}

// Count is how many samples the blocks hold that reach into [from, to), UTC
// microseconds: what reading it takes, and no fewer than start in it.
func (s *Series) Count(ctx context.Context, tx *store.Tx, from, to int64) (n int, err error) {
	err = tx.QueryRow(ctx, `SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM sample_blocks
		WHERE team_id = $1 AND user_id = $2 AND series_id = $3 AND bucket BETWEEN $4 AND $5`,
		s.Team, s.User, s.ID, s.bucketOf(from), to-1).Scan(&n)
	return n, err
}

// Fit cuts a stretch from an instant on to where count finds at most so many
// samples in it, before any of them is read, and tells how many it found. What
// is no longer than least is taken however many it has.
func Fit(from, to, least int64, most int, count func(to int64) (int, error)) (end int64, n int, err error) {
	for {
		n, err = count(to)
		if err != nil || n <= most || to-from <= least {
			return to, n, err
		}
		to = from + max((to-from)/2, least)
	}
}
