package ledger

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
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

// Queries for one user do not scan the rows of other users, however many bodies are
// stored.
func TestAUsersPayloadsAreFoundByTheirHours(t *testing.T) {
	db := storetest.SQLite(t)
	for query, args := range map[string]int{
		`SELECT ` + columns + ` FROM ` + byUser + ` AND whole ORDER BY last_at, id`: 2,
		eraseOfUser: 3,
		remap:       5,
	} {
		plan := storetest.Plan(t, db, query, args)
		if !strings.Contains(plan, "payloads_1 (hour=? AND user_id=?") || strings.Contains(plan, "SCAN payload") ||
			strings.Contains(plan, "payloads_by_age") {
			t.Errorf("%s\nis planned as\n%s", query, plan)
		}
	}
}
