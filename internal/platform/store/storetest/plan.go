package storetest

import (
	"strings"
	"testing"

	"hale/internal/platform/store"
)

// Plan returns SQLite's plan for a query with args arguments, one step per line.
func Plan(t testing.TB, db *store.DB, query string, args int) string {
	t.Helper()
	var plan strings.Builder
	ctx := store.AsSystem(t.Context())
	err := db.Read(ctx, func(tx *store.Tx) error {
		given := make([]any, args) // the planner ignores the values
		for i := range given {
			given[i] = i
		}
		rows, err := tx.Query(ctx, "EXPLAIN QUERY PLAN "+query, given...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				return err
			}
			plan.WriteString(step + "\n")
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan.String()
}
