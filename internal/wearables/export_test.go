package wearables

import (
	"context"

	"hale/internal/people/users"
	"hale/internal/platform/store"
)

// Enough is the largest crowd that SQLite plans where it is written.
const Enough = enough

// AppendSamples appends the samples of one series as a JSON array.
func AppendSamples(dst []byte, s *Samples) []byte { return AppendAll(dst, []Samples{*s}) }

// EraseAll is what deleting a user does to this package's tables.
func EraseAll(ctx context.Context, tx *store.Tx, user users.User) error {
	if _, err := eraseBlocks(ctx, tx, user.Team, user.ID); err != nil {
		return err
	}
	for _, table := range []string{"series", "summaries", "workout_streams", "history_announced", "resource_statistics"} {
		if _, err := users.EraseRows(table)(ctx, tx, user.Team, user.ID); err != nil {
			return err
		}
	}
	return nil
}
