package ledger

import (
	"context"
	"fmt"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// EraseTable erases a user's rows in one table of this package, as deleting the user
// does.
func EraseTable(ctx context.Context, tx *store.Tx, table string, team teams.ID, user users.ID) (bool, error) {
	for _, r := range UserRecords() {
		if r.Name == table {
			return r.Erase(ctx, tx, team, user)
		}
	}
	return false, fmt.Errorf("nothing erases %s", table)
}
