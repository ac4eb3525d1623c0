package connections

import (
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

// A user's connections are found by their key, however many the team has.
func TestConnectionsOfUsersAreFoundByKey(t *testing.T) {
	db := storetest.SQLite(t)
	for _, query := range []string{linksQuery(1), linksQuery(linksAtOnce)} {
		plan := storetest.Plan(t, db, query, strings.Count(query, "$"))
		if !strings.Contains(plan, "sqlite_autoindex_connections_1 (team_id=? AND user_id=?)") {
			t.Errorf("%s\nis planned as\n%s", query, plan)
		}
	}
}
