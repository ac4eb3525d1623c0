package users

import (
	"context"
	"strings"
	"testing"

	"hale/internal/store"
	"hale/internal/store/storetest"
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
		var plan strings.Builder
		err := db.Read(context.Background(), func(tx *store.Tx) error {
			args := []any{1, 2, 3, 4}[:strings.Count(query, "$")]
			rows, err := tx.Query(context.Background(), "EXPLAIN QUERY PLAN "+query, args...)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var id, parent, unused int
				var detail string
				if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
					return err
				}
				plan.WriteString(detail + "\n")
			}
			return rows.Err()
		})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(plan.String(), index) || strings.Contains(plan.String(), "SCAN users") {
			t.Errorf("%s\nis planned as\n%s", query, plan.String())
		}
	}
}
