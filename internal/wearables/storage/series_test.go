package storage

import (
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

// A person may have millions of samples with ids: the places of some are looked up.
func TestRecordsAreLookedUp(t *testing.T) {
	plan := storetest.Plan(t, storetest.SQLite(t), selectRecords+`($3, $4)`, 4)
	if !strings.Contains(plan, "sample_records_by_record (user_id=? AND record_id=?)") {
		t.Errorf("planned as\n%s", plan)
	}
}

// A person may have thousands of series: where they begin and end is looked up.
func TestExtentsAreLookedUp(t *testing.T) {
	plan := storetest.Plan(t, storetest.SQLite(t), selectSeries+` AND resource = $3`+inSeriesOrder, 3)
	if !strings.Contains(plan, "series_by_identity (user_id=? AND resource=?)") ||
		strings.Count(plan, "sample_blocks_1 (user_id=? AND series_id=?)") != 2 || strings.Contains(plan, "SCAN") {
		t.Errorf("planned as\n%s", plan)
	}
}
