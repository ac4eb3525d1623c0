package healthconnect

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

// The platform's own schema has every table and column that is read.
func TestSchemaOfThePlatform(t *testing.T) {
	raw, err := os.ReadFile(testdata.Shared(t, "wearables/health-connect/schema-v14.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		DDL []string `json:"ddl"`
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	db, err := open(t.Context(), build(t, strings.Join(schema.DDL, ";\n")))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := range rules {
		text, ok := db.statement(&rules[i])
		if !ok || !strings.HasPrefix(strings.ReplaceAll(text, "p.", ""), "SELECT app_info_id, device_info_id, recording_method, ") {
			t.Errorf("%s: %s", rules[i].table, text)
		}
		if err := db.query(t.Context(), text, statementColumns, func([]any) error { return nil }); err != nil {
			t.Errorf("%s: %v", rules[i].table, err)
		}
	}
	for _, table := range append(slices.Clone(skippedTables), sleepTable, stagesTable, exerciseTable, routeTable) {
		if !db.has(table) {
			t.Errorf("no table %s", table)
		}
	}
	if !db.has(sleepTable, "end_zone_offset", "app_info_id", "recording_method") || !db.has(exerciseTable, "uuid", "title", "exercise_type") {
		t.Error("sessions lack columns")
	}
	if db.has(sleepTable, "local_date_time_start_time") {
		t.Error("a generated column is taken for a plain one")
	}
}

func TestImport(t *testing.T) {
	path := build(t, "schema.sql", "week.sql")
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		o := sheettest.Run(t, db, Kind, user, path)
		checkCounts(t, o)
		checkSeries(t, sheettest.Series(t, db, user))
		checkSummaries(t, db, user)

		events := filestest.Events(t, db, user)
		if events["provider.connection.created"] != 1 || events["historical.data.steps.created"] != 1 || events["historical.data.sleep.created"] != 1 || events["daily.data.workouts.created"] != 2 {
			t.Errorf("%v", events)
		}
		again := sheettest.Run(t, db, Kind, user, filestest.Save(t, zipFile(t, "health_connect_export.db", contents(t, path))))
		if again.Created+again.Updated != 0 || again.Unchanged != o.Created+o.Unchanged {
			t.Errorf("from a zip, the second time: %+v, first %+v; %v", again.Counts, o.Counts, again.Resources)
		}
		if after := filestest.Events(t, db, user); !maps.Equal(after, events) {
			t.Errorf("a repeated import announced something: %v, before %v", after, events)
		}
	})
}

// Two sessions that an app began at one moment are one workout, with its heart
// rate, and the longer one.
func TestSessionsOfOneStart(t *testing.T) {
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	o := sheettest.Run(t, db, Kind, user, build(t, "schema.sql", `
		INSERT INTO heart_rate_record_table (row_id, app_info_id, recording_method, start_time, start_zone_offset, end_time) VALUES (1, 1, 2, 1719849600000, -14400, 1719851400000);
		INSERT INTO heart_rate_record_series_table VALUES (1, 61, 1719849600000), (1, 62, 1719849660000);
		INSERT INTO exercise_session_record_table (row_id, app_info_id, recording_method, start_time, start_zone_offset, end_time, exercise_type) VALUES
			(1, 1, 2, 1719849600000, -14400, 1719851400000, 33), (2, 1, 2, 1719849600000, -14400, 1719851700000, 33), (3, 1, 2, 1719849600000, -14400, 1719850000000, 33);`))
	all := filestest.Summaries(t, db, user, "workouts")
	if len(all) != 1 || all[0]["time_end"] != "2024-07-01T16:35:00+00:00" || o.Workouts != 1 || o.Copies != 2 {
		t.Errorf("%v, %d copies", all, o.Copies)
	}
}

// The test has numbers from both ends and the middle of the platform's list.
func TestSports(t *testing.T) {
	for code, want := range map[int64]string{
		0: "other", 4: "cycling", 21: "hiking", 33: "running", 34: "treadmill_running", 45: "strength_training", 49: "swimming", 53: "walking",
		57: "yoga", 61: "rowing", 62: "other", -1: "other", 4711: "other",
	} {
		if got := sportOf(code); got.Slug != want {
			t.Errorf("%d is %+v, want %s", code, got, want)
		}
	}
}

func checkCounts(t *testing.T, o *files.Outcome) {
	t.Helper()
	want := map[string]files.TypeCount{
		"steps":    {Read: 6, Mapped: 3, BadDate: 2, BadValue: 1},
		"distance": {Read: 3, Mapped: 3}, "active_calories_burned": {Read: 1, Mapped: 1}, "elevation_gained": {Read: 2, Mapped: 1, Skipped: 1},
		"total_calories_burned": {Read: 1, Skipped: 1}, "basal_metabolic_rate": {Read: 1, Skipped: 1},
		"floors_climbed": {Read: 1, Mapped: 1}, "wheelchair_pushes": {Read: 1, Mapped: 1}, "hydration": {Read: 1, Mapped: 1},
		"nutrition": {Read: 2, Mapped: 2}, "mindfulness_session": {Read: 1, Mapped: 1},
		"heart_rate": {Read: 5, Mapped: 5}, "skin_temperature_delta": {Read: 2, Mapped: 2}, "resting_heart_rate": {Read: 1, Mapped: 1},
		"heart_rate_variability_rmssd": {Read: 1, Mapped: 1}, "oxygen_saturation": {Read: 2, Mapped: 2}, "respiratory_rate": {Read: 1, Mapped: 1},
		"body_temperature": {Read: 1, Mapped: 1}, "basal_body_temperature": {Read: 1, Mapped: 1}, "blood_glucose": {Read: 3, Mapped: 3},
		"blood_pressure": {Read: 2, Mapped: 1, BadValue: 1}, "vo2_max": {Read: 1, Mapped: 1}, "weight": {Read: 1, Mapped: 1},
		"body_fat": {Read: 1, Mapped: 1}, "lean_body_mass": {Read: 1, Mapped: 1}, "height": {Read: 2, Mapped: 2},
		"sleep_session": {Read: 3, Mapped: 2, BadDate: 1}, "sleep_stages": {Read: 9, Mapped: 6, BadDate: 1, BadValue: 1, Unpaired: 1},
		"exercise_session": {Read: 2, Mapped: 2},
	}
	var read, mapped int64
	for name, count := range want {
		if got := o.Types[name]; got == nil || *got != count {
			t.Errorf("%s: %+v, want %+v", name, got, count)
		}
		read, mapped = read+count.Read, mapped+count.Mapped
	}
	if len(o.Types) != len(want) || o.Records != read || o.Mapped != mapped || o.Copies != 3 || o.Workouts != 2 || o.Routes != 1 || o.Damaged != 0 || o.Truncated {
		t.Errorf("%d types, %d records, %d mapped, %d copies, %d routes, %d damaged", len(o.Types), o.Records, o.Mapped, o.Copies, o.Routes, o.Damaged)
	}
	if o.Rejected != 1 || o.Rejections["blood_oxygen: implausible_value"] != 1 {
		t.Errorf("%v", o.Rejections)
	}
}

func checkSeries(t *testing.T, all []wearables.Samples) {
	t.Helper()
	for _, want := range []struct {
		resource, kind, source, app string
		values                      []float64
	}{
		{"steps", "", "watch", "com.mi.health", []float64{1000, 500}},
		{"steps", "", "phone", "com.google.android.apps.fitness", []float64{40}},
		{"distance", "", "watch", "com.mi.health", []float64{2500.5, 2499.5, 100}},
		{"calories_active", "", "watch", "com.mi.health", []float64{300}},
		{"floors_climbed", "", "watch", "com.mi.health", []float64{3}},
		{"wheelchair_push", "", "app", "com.example.diary", []float64{12}},
		{"water", "", "app", "com.example.diary", []float64{250}},
		{"caffeine", "", "app", "com.example.diary", []float64{0.08}},
		{"carbohydrates", "", "app", "com.example.diary", []float64{62.5}},
		{"mindfulness_minutes", "", "unknown", "com.example.diary", []float64{10}},
		{"heartrate", "", "watch", "com.mi.health", []float64{120, 150, 165, 61, 63}},
		{"body_temperature_delta", "", "watch", "com.mi.health", []float64{-0.2, 0.1}},
		{"hrv", "rmssd", "watch", "com.mi.health", []float64{42.5}},
		{"blood_oxygen", "", "watch", "com.mi.health", []float64{97}},
		{"respiratory_rate", "", "watch", "com.mi.health", []float64{14.5}},
		{"body_temperature", "", "app", "com.example.diary", []float64{36.8}},
		{"basal_body_temperature", "", "app", "com.example.diary", []float64{36.4}},
		{"glucose", "automatic", "automatic", "com.example.diary", []float64{5.4}},
		{"glucose", "", "fingerprick", "com.example.diary", []float64{5.9}},
		{"glucose", "", "app", "com.example.diary", []float64{6.1}},
		{"blood_pressure", "", "app", "com.example.diary", []float64{121}},
		{"vo2_max", "", "watch", "com.mi.health", []float64{44.1}},
		{"body_weight", "", "scale", "com.renpho.health", []float64{71.25}},
		{"body_fat", "", "scale", "com.renpho.health", []float64{18.4}},
		{"lean_body_mass", "", "scale", "com.renpho.health", []float64{58.1}},
	} {
		got := sheettest.Find(t, all, want.resource, want.kind, want.source)
		if got.Source.AppID != want.app || !slices.EqualFunc(got.Value, want.values, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("%s of %s %s: %v", want.resource, want.source, got.Source.AppID, got.Value)
		}
		if slices.ContainsFunc(got.Offset, func(o int32) bool { return o != -4*3600 }) {
			t.Errorf("%s of %s: offsets %v", want.resource, want.source, got.Offset)
		}
	}
	steps := sheettest.Find(t, all, "steps", "", "watch")
	if steps.Time[0] != time.Date(2024, 7, 1, 12, 0, 0, 0, time.UTC).UnixMicro() || steps.End[0]-steps.Time[0] != time.Hour.Microseconds() {
		t.Errorf("%v to %v", steps.Time, steps.End)
	}
	if pressure := sheettest.Find(t, all, "blood_pressure", "", "app"); pressure.Value2[0] != 79 {
		t.Errorf("%v", pressure.Value2)
	}
	if len(all) != 25 {
		t.Errorf("%d series", len(all))
	}
}

func checkSummaries(t *testing.T, db *store.DB, user users.User) {
	t.Helper()
	fields := func(resource string, n int, want map[string]any) {
		t.Helper()
		all := filestest.Summaries(t, db, user, resource)
		for _, doc := range all {
			if slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(k string) bool { return doc[k] != want[k] }) {
				continue
			}
			if len(all) != n {
				t.Errorf("%d of %s, want %d", len(all), resource, n)
			}
			return
		}
		t.Errorf("no %s has %v: %v", resource, want, all)
	}
	fields("activity", 1, map[string]any{"calendar_date": "2024-07-01", "steps": 1540.0, "distance": 5100.0, "calories_active": 300.0, "floors_climbed": 3.0})
	fields("body", 1, map[string]any{"calendar_date": "2024-07-01", "weight": 71.25, "fat": 18.4})
	fields("profile", 1, map[string]any{"height": 176.0})
	fields("sleep", 2, map[string]any{
		"calendar_date": "2024-07-01", "type": "long_sleep", "duration": 28800.0, "total": 27000.0, "awake": 1200.0, "latency": 600.0,
		"light": 7200.0, "deep": 7200.0, "rem": 7200.0, "timezone_offset": -14400.0, "average_hrv": 42.5,
	})
	fields("sleep", 2, map[string]any{"type": "short_sleep", "duration": 1800.0, "total": 1800.0, "light": 0.0})
	fields("sleep_cycle", 2, map[string]any{})
	fields("workouts", 2, map[string]any{
		"title": "Lunch run", "distance": 5000.0, "calories": 300.0, "total_elevation_gain": 40.0, "average_hr": 145.0, "max_hr": 165.0,
		"provider_id": "00112233-4455-6677-8899-aabbccddeeff", "timezone_offset": -14400.0, "elev_low": 34.0, "elev_high": 36.5,
	})
	for _, w := range filestest.Summaries(t, db, user, "workouts") {
		sport := w["sport"].(map[string]any)["slug"]
		if want := map[bool]string{true: "running", false: "other"}[w["title"] == "Lunch run"]; sport != want {
			t.Errorf("%v", sport)
		}
	}
	for _, day := range filestest.Summaries(t, db, user, "activity") {
		if heart, ok := day["heart_rate"].(map[string]any); !ok || heart["resting_bpm"] != 58.0 {
			t.Errorf("%v", day["heart_rate"])
		}
	}
}

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
