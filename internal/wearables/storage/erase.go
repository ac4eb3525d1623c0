package storage

import (
	"context"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	samples := users.Records{Name: "sample_blocks", Erase: eraseBlocks}
	return append(users.RowsOf("series", "summaries", "deleted_summaries", "sample_records", "import_changes", "workout_streams", "history_announced", "resource_statistics"), samples)
}

// eraseAtOnce bounds the blocks that one transaction deletes, so that years of data
// do not occupy the writer.
const eraseAtOnce = 2000

// eraseBlocks deletes some blocks of a user and reports whether there may be more.
func eraseBlocks(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (more bool, err error) {
	n, err := tx.Exec(ctx, `DELETE FROM sample_blocks WHERE team_id = $1 AND user_id = $2 AND (series_id, bucket) IN (
		SELECT series_id, bucket FROM sample_blocks WHERE team_id = $1 AND user_id = $2 ORDER BY series_id, bucket LIMIT $3)`,
		team.UUID(), user.UUID(), eraseAtOnce)
	return n == eraseAtOnce, err
}
