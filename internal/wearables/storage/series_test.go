package storage

import (
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

// A person may have thousands of series: where they begin and end is looked up.
func TestExtentsAreLookedUp(t *testing.T) {
	plan := storetest.Plan(t, storetest.SQLite(t), selectSeries+` AND resource = $3`+inSeriesOrder, 3)
	if !strings.Contains(plan, "series_by_identity (user_id=? AND resource=?)") ||
		strings.Count(plan, "sample_blocks_1 (user_id=? AND series_id=?)") != 2 || strings.Contains(plan, "SCAN") {
		t.Errorf("planned as\n%s", plan)
	}
}
