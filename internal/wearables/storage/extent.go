package storage

import (
	"context"

	"hale/internal/platform/store"
)

// Within is whether a series that SeriesOf read may have samples that start in
// [from, to), UTC microseconds.
func (s *Series) Within(from, to int64) bool { return s.Newest >= from && s.Oldest < to }

// Count is how many samples the blocks hold that reach into [from, to), UTC
// microseconds: what reading it takes, and no fewer than start in it.
func (s *Series) Count(ctx context.Context, tx *store.Tx, from, to int64) (n int, err error) {
	err = tx.QueryRow(ctx, `SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM sample_blocks
		WHERE team_id = $1 AND user_id = $2 AND series_id = $3 AND bucket BETWEEN $4 AND $5`,
		s.Team, s.User, s.ID, s.Bucket(from), to-1).Scan(&n)
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
