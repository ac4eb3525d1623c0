package webhooks

import (
	"fmt"
	"strings"
	"testing"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// PostgreSQL keeps the plan of a claim for as long as a connection lives, also one that it
// made while the tables were empty.
func TestClaimsUseTheirIndexes(t *testing.T) {
	db := storetest.Postgres(t)
	const id = "'00000000-0000-4000-8000-000000000001'"
	var plan strings.Builder
	err := db.Write(store.AsSystem(t.Context()), func(tx *store.Tx) error {
		var b store.Batch
		events.AddKeepPlans(tx, &b)
		b.Exec(nil, `PREPARE claim (uuid, uuid, bigint, bigint, bigint, uuid, uuid[], bigint[], bigint, bigint) AS `+claimRows)
		b.Query(func(row store.Scanner) error {
			var line string
			err := row.Scan(&line)
			plan.WriteString(line + "\n")
			return err
		}, fmt.Sprintf(`EXPLAIN EXECUTE claim (%[1]s, %[1]s, 0, 0, 200, %[1]s, '{}', '{}', 0, 0)`, id))
		b.Exec(nil, `DEALLOCATE claim`)
		return tx.Run(t.Context(), &b)
	})
	if err != nil {
		t.Fatal(err)
	}
	text := plan.String()
	for _, want := range []string{
		"Index Cond: ((event_id = c.event_id) AND (endpoint_id = c.endpoint_id) AND (team_id = c.team_id))",
		"Index Scan using webhook_deliveries_due on webhook_deliveries d_1",
		"Index Cond: ((team_id = $1) AND (endpoint_id = $2) AND (lane = $3) AND (due_at <= $4) AND (due_at >= $10))",
		"Index Cond: ((id = d_1.event_id) AND (team_id = d_1.team_id))",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}
