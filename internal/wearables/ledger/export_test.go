package ledger

import (
	"context"
	"fmt"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// EraseTable is what deleting a user does to one of this package's tables.
func EraseTable(ctx context.Context, tx *store.Tx, table string, team teams.ID, user users.ID) (bool, error) {
	for _, r := range UserRecords() {
		if r.Name == table {
			return r.Erase(ctx, tx, team, user)
		}
	}
	return false, fmt.Errorf("nothing erases %s", table)
}
