package ledger

import (
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

// What is asked of one user does not walk over those of others, however many
// bodies are kept.
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
