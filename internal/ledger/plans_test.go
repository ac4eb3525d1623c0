package ledger

import (
	"context"
	"strings"
	"testing"

	"hale/internal/store"
	"hale/internal/store/storetest"
)

// What is asked of one user does not walk over those of others, however many
// bodies are kept.
func TestAUsersPayloadsAreFoundByTheirHours(t *testing.T) {
	db := storetest.SQLite(t)
	for query, arguments := range map[string]int{
		`SELECT ` + columns + ` FROM ` + ofUser + ` AND whole ORDER BY last_at, id`: 2,
		eraseOfUser: 3,
		remap:       5,
	} {
		var plan strings.Builder
		err := db.Read(context.Background(), func(tx *store.Tx) error {
			args := []any{1, 2, 3, 4, 5}[:arguments]
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
		if !strings.Contains(plan.String(), "payloads_1 (hour=? AND user_id=?") || strings.Contains(plan.String(), "SCAN payload") ||
			strings.Contains(plan.String(), "payloads_by_age") {
			t.Errorf("%s\nis planned as\n%s", query, plan.String())
		}
	}
}
