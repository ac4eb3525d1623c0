package users

import (
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

// Queries that must stay fast with a million users take their rows from an
// index and in its order.
func TestQueriesUseTheirIndexes(t *testing.T) {
	db := storetest.SQLite(t)
	for query, index := range map[string]string{
		listQuery:    "users_by_age",
		idsQuery:     "sqlite_autoindex_users_1",
		clientsQuery: "users_by_client",
		changesQuery: "users_by_name_change",
	} {
		plan := storetest.Plan(t, db, query, strings.Count(query, "$"))
		if !strings.Contains(plan, index) || strings.Contains(plan, "SCAN users") {
			t.Errorf("%s\nis planned as\n%s", query, plan)
		}
	}
}
