package oura

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

// realFiles has the expected outcome of each of the public samples. By type, it has the
// number of read records and of kept ones.
var realFiles = map[string]map[string][2]int64{
	"go_oura-daily_activity-1.json":     {"daily_activity": {1, 1}, "daily_activity.met": {1, 0}, "daily_activity.class_5_min": {1, 0}},
	"go_oura-daily_activity-2.json":     {"daily_activity": {1, 1}, "daily_activity.met": {1, 0}, "daily_activity.class_5_min": {1, 0}},
	"go_oura-daily_readiness-1.json":    {"daily_readiness": {1, 0}},
	"go_oura-daily_readiness-2.json":    {"daily_readiness": {1, 0}},
	"go_oura-daily_sleep-1.json":        {"daily_sleep": {1, 0}},
	"go_oura-daily_sleep-2.json":        {"daily_sleep": {1, 0}},
	"go_oura-daily_spo2-1.json":         {"daily_spo2": {1, 0}},
	"go_oura-daily_spo2-2.json":         {"daily_spo2": {2, 0}},
	"go_oura-daily_stress-1.json":       {"daily_stress": {1, 0}},
	"go_oura-daily_stress-2.json":       {"daily_stress": {2, 0}},
	"go_oura-enhanced_tag-1.json":       {"enhanced_tag": {1, 0}},
	"go_oura-enhanced_tag-2.json":       {"enhanced_tag": {1, 0}},
	"go_oura-enhanced_tag-3.json":       {"enhanced_tag": {1, 0}},
	"go_oura-heartrates-1.json":         {"heartrate": {2, 2}},
	"go_oura-personal_info-1.json":      {"personal_info": {1, 1}},
	"go_oura-ring_configuration-1.json": {"ring_configuration": {1, 1}},
	"go_oura-ring_configuration-2.json": {"ring_configuration": {1, 1}},
	"go_oura-session-1.json":            {"session": {1, 1}, "session.motion_count": {1, 0}},
	"go_oura-session-2.json":            {"session": {1, 1}, "session.motion_count": {1, 0}},
	"go_oura-sleep-1.json":              {"sleep": {1, 1}, "sleep.movement_30_sec": {1, 0}},
	"go_oura-sleep-2.json":              {"sleep": {1, 1}, "sleep.movement_30_sec": {1, 0}},
	"go_oura-sleep_time-1.json":         {"sleep_time": {1, 0}},
	"go_oura-sleep_time-2.json":         {"sleep_time": {1, 0}},
	"go_oura-sleep_time-3.json":         {"sleep_time": {1, 0}},
	"go_oura-workout-1.json":            {"workout": {1, 1}},
	"go_oura-workout-2.json":            {"workout": {1, 1}},
	// One of its nights ends before it starts.
	"open-wearables-test_oura_247.json": {"sleep": {3, 2}, "sleep rest": {1, 0}, "sleep deleted": {1, 1}},
}

func TestImportRealDocuments(t *testing.T) {
	folder := testdata.Shared(t, "wearables/oura")
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(realFiles) {
		t.Errorf("%d files, %d expected", len(entries), len(realFiles))
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		for name, want := range realFiles {
			path := filepath.Join(folder, name)
			o := sheettest.Run(t, db, Kind, user, path)
			compareTypes(t, name, o, want)
			if o.Damaged != 0 || o.Truncated || o.Rejected != 0 {
				t.Errorf("%s: %+v %+v", name, o.Report, o.Rejections)
			}
			if again := sheettest.Run(t, db, Kind, user, path); again.Created+again.Updated != 0 {
				t.Errorf("%s the second time: %+v", name, again.Counts)
			}
		}
	})
}

func compareTypes(t *testing.T, name string, o *files.Outcome, want map[string][2]int64) {
	t.Helper()
	for kind, n := range want {
		if got := o.Types[kind]; got == nil || got.Read != n[0] || got.Mapped != n[1] {
			t.Errorf("%s: %s is %+v, want %v", name, kind, got, n)
		}
	}
	if len(o.Types) != len(want) {
		t.Errorf("%s has %d types, want %d", name, len(o.Types), len(want))
	}
}

// fields decodes a real file into a map.
func fields(t *testing.T, name string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(testdata.Shared(t, "wearables/oura/"+name))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// utc parses a time of a file and converts it to UTC, as the API writes it.
func utc(t *testing.T, v any) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04:05Z07:00", strings.Replace(v.(string), ".000", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}

func TestRealValues(t *testing.T) {
	night, day := fields(t, "go_oura-sleep-1.json"), fields(t, "go_oura-daily_activity-2.json")
	ran, sat := fields(t, "go_oura-workout-1.json"), fields(t, "go_oura-session-1.json")
	rated := fields(t, "go_oura-daily_sleep-1.json")
	folder := testdata.Shared(t, "wearables/oura")
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		for _, name := range []string{"sleep-1", "daily_activity-2", "workout-1", "session-1", "heartrates-1", "personal_info-1"} {
			sheettest.Run(t, db, Kind, user, filepath.Join(folder, "go_oura-"+name+".json"))
		}
		// The sample has a score for a night that is in no sample. The test moves it to
		// the night of the sleep sample.
		rated["day"] = night["day"]
		raw, err := json.Marshal(rated)
		if err != nil {
			t.Fatal(err)
		}
		if o := sheettest.Run(t, db, Kind, user, filestest.Save(t, raw)); o.Mapped != 1 || o.Updated != 1 || o.Created != 0 {
			t.Errorf("a score: %+v %+v", o.Report, o.Counts)
		}

		slept := onlySummary(t, filestest.Summaries(t, db, user, "sleep"))
		ready := night["readiness"].(map[string]any)
		filestest.CompareJSON(t, slept, map[string]any{
			"calendar_date": night["day"], "type": "long_sleep", "timezone_offset": -18000.0, "duration": night["time_in_bed"],
			"total": night["total_sleep_duration"], "awake": night["awake_time"], "light": night["light_sleep_duration"],
			"rem": night["rem_sleep_duration"], "deep": night["deep_sleep_duration"], "latency": night["latency"],
			"efficiency": night["efficiency"], "hr_lowest": night["lowest_heart_rate"], "hr_average": math.Round(night["average_heart_rate"].(float64)),
			"average_hrv": night["average_hrv"], "respiratory_rate": night["average_breath"],
			"recovery_readiness_score": ready["score"], "temperature_delta": ready["temperature_deviation"], "score": rated["score"],
		})
		if got := utc(t, slept["bedtime_start"]); !got.Equal(utc(t, night["bedtime_start"])) {
			t.Errorf("went to bed at %v", got)
		}
		checkStages(t, onlySummary(t, filestest.Summaries(t, db, user, "sleep_cycle")), slept["id"], night["sleep_phase_5_min"].(string), night["time_in_bed"].(float64))

		for _, doc := range filestest.Summaries(t, db, user, "activity") {
			if doc["calendar_date"] == day["day"] {
				filestest.CompareJSON(t, doc, map[string]any{
					"steps": day["steps"], "calories_total": day["total_calories"], "calories_active": day["active_calories"],
					"distance": day["equivalent_walking_distance"], "low": day["low_activity_time"].(float64) / 60,
					"medium": day["medium_activity_time"].(float64) / 60, "high": day["high_activity_time"].(float64) / 60, "timezone_offset": -18000.0,
				})
			}
		}
		worked := onlySummary(t, filestest.Summaries(t, db, user, "workouts"))
		filestest.CompareJSON(t, worked, map[string]any{"provider_id": ran["id"], "calendar_date": ran["day"], "distance": math.Round(100*ran["distance"].(float64)) / 100, "timezone_offset": -18000.0})
		if got := worked["calories"].(float64); math.Abs(got-ran["calories"].(float64)) > 0.005 {
			t.Errorf("%v kcal", got)
		}

		all := sheettest.Series(t, db, user)
		hearts, varied := sheettest.Find(t, all, "heartrate", "", "ring"), sheettest.Find(t, all, "hrv", "rmssd", "ring")
		wantHearts, wantVaried := map[int64]float64{}, map[int64]float64{}
		logTrack(t, wantHearts, night["heart_rate"])
		logTrack(t, wantHearts, sat["heart_rate"])
		logTrack(t, wantVaried, night["hrv"])
		logTrack(t, wantVaried, sat["heart_rate_variability"])
		for _, one := range fields(t, "go_oura-heartrates-1.json")["data"].([]any) {
			beat := one.(map[string]any)
			wantHearts[utc(t, beat["timestamp"]).UnixMicro()] = beat["bpm"].(float64)
		}
		for _, series := range []struct {
			got  map[int64]float64
			want map[int64]float64
		}{{byTime(hearts.Time, hearts.Value), wantHearts}, {byTime(varied.Time, varied.Value), wantVaried}} {
			if len(series.got) != len(series.want) {
				t.Errorf("%d samples, want %d", len(series.got), len(series.want))
			}
			for at, v := range series.want {
				if series.got[at] != v {
					t.Errorf("%v at %v, want %v", series.got[at], time.UnixMicro(at).UTC(), v)
				}
			}
		}
		calm := sheettest.Find(t, all, "mindfulness_minutes", "", "app")
		if want := utc(t, sat["end_datetime"]).Sub(utc(t, sat["start_datetime"])); calm.Len() != 1 || calm.Value[0] != want.Minutes() || calm.Offset[0] != -4*3600 {
			t.Errorf("%+v, want %v", calm, want)
		}
		filestest.CompareJSON(t, onlySummary(t, filestest.Summaries(t, db, user, "profile")), map[string]any{"height": 190.0, "sex": "male", "birth_date": nil})
	})
}

// checkStages compares the sleep cycle with the digits of the hypnogram. Each digit is
// the stage of five minutes.
func checkStages(t *testing.T, cycle map[string]any, sleep any, digits string, length float64) {
	t.Helper()
	if cycle["sleep_id"] != sleep {
		t.Errorf("the cycle is of %v, not of %v", cycle["sleep_id"], sleep)
	}
	from, to, kind := cycle["stage_start_offset_second"].([]any), cycle["stage_end_offset_second"].([]any), cycle["stage_type"].([]any)
	at := 0.0
	for i := range kind {
		if from[i] != at {
			t.Fatalf("stage %d begins at %v, not %v", i, from[i], at)
		}
		for ; at < to[i].(float64); at += 10 {
			if want := float64(digits[int(at)/300] - '0'); kind[i] != want {
				t.Fatalf("at %v s it is %v, want %v", at, kind[i], want)
			}
		}
		if i > 0 && kind[i] == kind[i-1] {
			t.Errorf("stage %d continues", i)
		}
	}
	if at != length {
		t.Errorf("the stages end after %v s, the night after %v", at, length)
	}
}

func logTrack(t *testing.T, all map[int64]float64, track any) {
	t.Helper()
	fields := track.(map[string]any)
	for i, v := range fields["items"].([]any) {
		if v != nil {
			at := utc(t, fields["timestamp"]).Add(time.Duration(i) * time.Duration(fields["interval"].(float64)) * time.Second)
			all[at.UnixMicro()] = v.(float64)
		}
	}
}

func byTime(times []int64, values []float64) map[int64]float64 {
	all := map[int64]float64{}
	for i, at := range times {
		all[at] = values[i]
	}
	return all
}

func onlySummary(t *testing.T, all []map[string]any) map[string]any {
	t.Helper()
	if len(all) != 1 {
		t.Fatalf("%d summaries, want one", len(all))
	}
	return all[0]
}

// Replies of other providers' APIs are not Oura's.
func TestFilesOfOtherMakersAreRefused(t *testing.T) {
	root := testdata.Shared(t, "wearables")
	seen := 0
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" || filepath.Base(filepath.Dir(path)) == "oura" {
			return err
		}
		seen++
		if err := Kind.Check(path, 0); err == nil {
			t.Errorf("%s passes for Oura", strings.TrimPrefix(path, root))
		}
		return nil
	})
	if err != nil || seen < 50 {
		t.Errorf("%d files, %v", seen, err)
	}
}
