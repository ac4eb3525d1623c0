package ledger

import (
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

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
