package users

import (
	"context"
	"strings"
	"testing"

	"hale/internal/platform/store"
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

// A team may have many users before PostgreSQL has statistics of them.
func TestUsersAreFoundByKeyWithoutStatistics(t *testing.T) {
	db := storetest.Postgres(t)
	err := db.Read(store.AsSystem(context.Background()), func(tx *store.Tx) error {
		rows, err := tx.Query(t.Context(), `EXPLAIN SELECT `+columns+` FROM `+usersByKey, make([]byte, 16), [][16]byte{{1}, {2}})
		if err != nil {
			return err
		}
		defer rows.Close()
		var plan strings.Builder
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return err
			}
			plan.WriteString(line + "\n")
		}
		if text := plan.String(); !strings.Contains(text, "users_pkey") || !strings.Contains(text, "(user_id = n.id)") {
			t.Errorf("planned as\n%s", text)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
}
