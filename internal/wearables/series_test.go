package wearables

import (
	"strings"
	"testing"

	"hale/internal/store"
	"hale/internal/store/storetest"
)

// A person may have thousands of series: where they begin and end is looked up.
func TestExtentsAreLookedUp(t *testing.T) {
	db := storetest.SQLite(t)
	var plan strings.Builder
	err := db.Read(t.Context(), func(tx *store.Tx) error {
		rows, err := tx.Query(t.Context(), "EXPLAIN QUERY PLAN "+selectSeries+` AND resource = $3`+inSeriesOrder, 1, 2, "heartrate")
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
	got := plan.String()
	if !strings.Contains(got, "series_by_identity (user_id=? AND resource=?)") ||
		strings.Count(got, "sample_blocks_1 (user_id=? AND series_id=?)") != 2 || strings.Contains(got, "SCAN") {
		t.Errorf("planned as\n%s", got)
	}
}
