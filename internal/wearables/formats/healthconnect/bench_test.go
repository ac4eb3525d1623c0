package healthconnect

import (
	"testing"

	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet/sheettest"
)

// The benchmark uses a month of heart rate at one sample in five seconds, and of steps
// that a second app repeats. It excludes derived summaries.
const month = `
INSERT INTO heart_rate_record_table (row_id, app_info_id, recording_method, start_time, start_zone_offset, end_time)
	WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 719)
	SELECT i, 2, 2, 1719835200000 + i * 3600000, -14400, 1719838800000 + i * 3600000 FROM n;
INSERT INTO heart_rate_record_series_table
	WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 518399)
	SELECT i / 720, 60 + i % 40, 1719835200000 + i * 5000 FROM n;
INSERT INTO steps_record_table (app_info_id, recording_method, start_time, start_zone_offset, end_time, count)
	WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 86399)
	SELECT 2 + 3 * (i % 2), 2, 1719835200000 + i / 2 * 60000, -14400, 1719835260000 + i / 2 * 60000, 30 FROM n;`

func BenchmarkRead(b *testing.B) {
	path := build(b, "schema.sql", month)
	db := storetest.SQLite(b)
	sink := &keeper{}
	b.ReportAllocs()
	for b.Loop() {
		sink.samples = 0
		if _, err := run(b.Context(), files.Input{Path: path, DB: db, Sink: sink, User: sheettest.User(b, db, "")}); err != nil {
			b.Fatal(err)
		}
	}
	if want := 518_400 + 43_200; sink.samples != want {
		b.Fatalf("%d samples, want %d", sink.samples, want)
	}
	b.ReportMetric(float64(sink.samples)*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
}
