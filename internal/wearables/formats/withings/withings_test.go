package withings

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies/repliestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

var fixture = filepath.Join("testdata", "replies.jsonl")

func TestImportReplies(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "Europe/Berlin")
		o := sheettest.Run(t, db, Kind, user, fixture)
		filestest.Types(t, o, map[string]files.TypeCount{
			"measuregrps": {Read: 12, Mapped: 10, Skipped: 1, BadDate: 1}, "measuregrps goal": {Read: 1, Skipped: 1},
			"measuregrps ambiguous": {Read: 1, Skipped: 1},
			"measure.weight":        {Read: 4, Mapped: 3, BadValue: 1}, "measure.fat_free_mass": {Read: 2, Mapped: 1, Copies: 1},
			"measure.fat_ratio": {Read: 1, Mapped: 1}, "measure.fat_mass": {Read: 1, Skipped: 1},
			"measure.muscle_mass": {Read: 2, Mapped: 1, Unpaired: 1}, "measure.hydration": {Read: 2, Mapped: 2},
			"measure.bone_mass": {Read: 1, Mapped: 1}, "measure.visceral_fat": {Read: 1, Mapped: 1},
			"measure.fat_free_mass_segment": {Read: 1, Skipped: 1}, "measure.pulse_wave_velocity": {Read: 1, Skipped: 1},
			"measure.diastolic": {Read: 2, Mapped: 1, Unpaired: 1}, "measure.systolic": {Read: 1, Mapped: 1},
			"measure.heart_pulse": {Read: 3, Mapped: 2, BadValue: 1}, "measure.spo2": {Read: 1, Mapped: 1},
			"measure.body_temperature": {Read: 1, Mapped: 1}, "measure.skin_temperature": {Read: 1, Skipped: 1},
			"measure.temperature": {Read: 1, Skipped: 1}, "measure.height": {Read: 2, Mapped: 2}, "measure.vo2_max": {Read: 1, Mapped: 1},
			"measure.other": {Read: 1, Skipped: 1},
			"sleep summary": {Read: 3, Mapped: 2, BadDate: 1}, "sleep summary.snoring": {Read: 1, Skipped: 1},
			"sleep": {Read: 8, Mapped: 6, BadDate: 1, BadValue: 1}, "sleep.snoring": {Read: 1, Skipped: 1}, "sleep.hr": {Read: 1, BadValue: 1},
			"activity": {Read: 3, Mapped: 2, BadDate: 1}, "activity.elevation": {Read: 1, Skipped: 1},
			"intraday activity": {Read: 5, Mapped: 3, Skipped: 1, BadDate: 1},
			"workout":           {Read: 4, Mapped: 2, Skipped: 1, BadDate: 1}, "workout.elevation": {Read: 1, Skipped: 1},
			"device": {Read: 4, Mapped: 2, BadValue: 1, Copies: 1}, "goals": {Read: 1, Skipped: 1}, "notification": {Read: 1, Skipped: 1},
			"heart": {Read: 1, Skipped: 1}, "token": {Read: 1, Skipped: 1}, "empty": {Read: 1, Skipped: 1}, "other": {Read: 1, Skipped: 1},
		})
		if o.Records != 47 || o.Copies != 1 || o.Damaged != 0 || o.Truncated || o.Rejected != 0 {
			t.Errorf("%d records, %d copies, %d damaged, %v", o.Records, o.Copies, o.Damaged, o.Rejections)
		}
		if again := sheettest.Run(t, db, Kind, user, fixture); again.Created+again.Updated != 0 {
			t.Errorf("the second time %+v %+v", again.Counts, again.Resources)
		}

		all := sheettest.Series(t, db, user)
		weights := sheettest.Find(t, all, "body_weight", "", "scale")
		if !slices.Equal(weights.Value, []float64{72.1, 71.5}) || weights.Offset[0] != 7200 { // the zone follows the list
			t.Errorf("%v at offsets %v", weights.Value, weights.Offset)
		}
		if typed := sheettest.Find(t, all, "body_weight", "", "app"); typed.Value[0] != 70 {
			t.Errorf("%+v", typed)
		}
		pressure := sheettest.Find(t, all, "blood_pressure", "", "cuff")
		if pressure.Len() != 1 || pressure.Value[0] != 122 || pressure.Value2[0] != 78 {
			t.Errorf("%+v", pressure)
		}
		if warm := sheettest.Find(t, all, "body_temperature", "", "unknown"); warm.Value[0] != 36.7 {
			t.Errorf("%+v", warm)
		}
		if steps := sheettest.Find(t, all, "steps", "", "watch"); steps.Value[0] != 90 || steps.End[0]-steps.Time[0] != 60e6 || steps.Offset[0] != 3600 {
			t.Errorf("%+v", steps)
		}
		filestest.CompareJSON(t, repliestest.OnlySummary(t, filestest.Summaries(t, db, user, "profile")), map[string]any{"height": 171.0})
		for _, day := range filestest.Summaries(t, db, user, "body") {
			if day["source"].(map[string]any)["type"] == "scale" && day["calendar_date"] == "2025-03-02" {
				filestest.CompareJSON(t, day, map[string]any{ // of the last weighing of the day, which is first in the file
					"weight": 71.5, "fat": 16.8, "lean_body_mass_kilogram": 59.5, "water_percentage": 57.3427,
					"muscle_mass_percentage": 79.021, "bone_mass_percentage": 4.1958, "visceral_fat_index": 2.5,
				})
			}
		}
		for _, day := range filestest.Summaries(t, db, user, "activity") {
			if day["calendar_date"] == "2025-03-02" { // the totals of the day, not the minute that is known of it
				filestest.CompareJSON(t, day, map[string]any{
					"steps": 8421.0, "distance": 6012.25, "calories_active": 310.5, "calories_total": 2280.75, "low": 90.0,
					"medium": 30.5, "high": 10.0, "time_zone": "Europe/Helsinki", "timezone_offset": 7200.0, "floors_climbed": nil,
				})
				filestest.CompareJSON(t, day["heart_rate"].(map[string]any), map[string]any{"avg_bpm": 71.0, "min_bpm": 48.0, "max_bpm": 151.0})
			}
		}
		checkNights(t, filestest.Summaries(t, db, user, "sleep"), filestest.Summaries(t, db, user, "sleep_cycle"))
		for _, w := range filestest.Summaries(t, db, user, "workouts") {
			if w["provider_id"] == "9001" {
				filestest.CompareJSON(t, w, map[string]any{
					"distance": 5000.0, "calories": 260.0, "average_hr": 142.0, "max_hr": 169.0, "steps": 4900.0,
					"moving_time": 1680.0, "timezone_offset": 7200.0,
				})
				filestest.CompareJSON(t, w["sport"].(map[string]any), map[string]any{"slug": "running"})
			} else {
				filestest.CompareJSON(t, w["source"].(map[string]any), map[string]any{"type": "app"})
				filestest.CompareJSON(t, w["sport"].(map[string]any), map[string]any{"slug": "other"})
			}
		}
	})
}

func checkNights(t *testing.T, nights, cycles []map[string]any) {
	t.Helper()
	byDay := map[any]map[string]any{}
	for _, n := range nights {
		byDay[n["calendar_date"]] = n
	}
	if len(nights) != 3 || len(cycles) != 2 {
		t.Fatalf("%d nights, %d of them with stages", len(nights), len(cycles))
	}
	filestest.CompareJSON(t, byDay["2025-03-02"], map[string]any{ // the summary's own figures
		"type": "long_sleep", "total": 23400.0, "awake": 1200.0, "light": 12000.0, "deep": 5400.0, "rem": 6000.0, "efficiency": 93.0,
		"latency": 420.0, "hr_lowest": 49.0, "hr_average": 57.0, "respiratory_rate": 14.0, "score": 83.0, "timezone_offset": 7200.0,
	})
	filestest.CompareJSON(t, byDay["2025-03-03"], map[string]any{ // it continues; it has no zone, so the fallback applies
		"type": "unknown", "total": 7000.0, "latency": 200.0, "timezone_offset": 3600.0,
	})
	filestest.CompareJSON(t, byDay["2025-03-04"], map[string]any{ // of stretches alone
		"type": "long_sleep", "total": 14400.0, "light": 3600.0, "rem": 3600.0, "deep": 0.0, "timezone_offset": 3600.0,
	})
	filestest.CompareJSON(t, byDay["2025-03-04"]["source"].(map[string]any), map[string]any{"type": "watch"})
	for _, cycle := range cycles {
		if cycle["sleep_id"] == byDay["2025-03-02"]["id"] {
			if got := repliestest.List(cycle["stage_type"]); got != "4 2 1" {
				t.Errorf("stages %s", got)
			}
			if got := repliestest.List(cycle["stage_end_offset_second"]); got != "600 13200 25200" {
				t.Errorf("stages end after %s", got)
			}
		}
	}
}

// Stretches and summaries of the same nights come in any order, in one file or
// in two, and make the same nights.
func TestOrderOfSleepRepliesDoesNotMatter(t *testing.T) {
	raw, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(raw), "\n")
	summaries, stretches := lines[1], lines[2]
	db := storetest.SQLite(t)
	var want []map[string]any
	for name, parts := range map[string][]string{
		"together": {summaries + stretches}, "reversed": {stretches + summaries}, "summaries first": {summaries, stretches},
		"stretches first": {stretches, summaries},
	} {
		user := sheettest.User(t, db, "")
		for _, part := range parts {
			sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(part)))
		}
		nights, cycles := filestest.Summaries(t, db, user, "sleep"), filestest.Summaries(t, db, user, "sleep_cycle")
		if len(nights) != 2 || len(cycles) != 1 {
			t.Errorf("%s: %d nights, %d with stages", name, len(nights), len(cycles))
			continue
		}
		if want == nil {
			want = nights
		}
		for i, n := range nights {
			for _, field := range []string{"total", "light", "deep", "rem", "awake", "hr_average", "efficiency", "timezone_offset", "calendar_date", "type"} {
				if n[field] != want[i][field] {
					t.Errorf("%s: %s is %v, in another order %v", name, field, n[field], want[i][field])
				}
			}
		}
	}
}

// A summary that ends before its segments stays as stated, however often both arrive.
func TestSummaryEndsBeforeItsStretches(t *testing.T) {
	const file = `{"series":[{"startdate":1740867000,"enddate":1740892200,"date":"2025-03-02","timezone":"Europe/Helsinki","model":32,` +
		`"data":{"total_sleep_time":23400,"sleep_score":83}}]}{"series":[{"startdate":1740867000,"enddate":1740892260,"state":1,"model_id":63}]}`
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	path := filestest.Save(t, []byte(file))
	sheettest.Run(t, db, Kind, user, path)
	if again := sheettest.Run(t, db, Kind, user, path); again.Created+again.Updated != 0 {
		t.Errorf("the second time %+v", again.Counts)
	}
	filestest.CompareJSON(t, repliestest.OnlySummary(t, filestest.Summaries(t, db, user, "sleep")), map[string]any{"duration": 25200.0, "total": 23400.0, "light": 0.0})
}

// The keys to an account are no data. A file with only keys is refused, and no report
// contains them.
func TestTokensAreRefused(t *testing.T) {
	content := []byte(`{"status":0,"body":{"userid":1,"access_token":"canary","refresh_token":"canary","expires_in":10800}}`)
	err := Kind.Check(filestest.Save(t, content), 0)
	var unlike *files.UnlikeError
	if !fault.Is(err, fault.Unprocessable) || errors.As(err, &unlike) || strings.Contains(err.Error(), "canary") {
		t.Errorf("%v", err)
	}
	g := repliestest.Gather(t, maker, time.UTC, content)
	if g.Report.Types["token"] == nil || len(g.Report.Types) != 1 {
		t.Errorf("%+v", g.Report.Types)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for name, content := range map[string]string{
		"another's goals": `{"goals":{"steps":1}}`, "another's series": `{"series":[{"startdate":"2025-03-01","enddate":"2025-03-02","state":"deep"}]}`,
		"a day": `{"date":"2025-03-01","steps":1}`, "an empty list": `[]`, "a status": `{"status":0}`, "an error": `{"status":401,"body":{},"error":"x"}`,
		"ten digits": `{"series":{"1740897000":{"value":1}}}`,
	} {
		var unlike *files.UnlikeError
		if err := Kind.Check(filestest.Save(t, []byte(content)), 0); !errors.As(err, &unlike) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A group's values are exact where dividing by a power of ten is.
func TestDecimal(t *testing.T) {
	g := repliestest.Gather(t, maker, nil, []byte(`[{"grpid":1,"date":1740897000,"measures":[{"value":76850,"type":1,"unit":-3}]},
		{"grpid":2,"date":1740897060,"measures":[{"value":7,"type":1,"unit":1}]},{"grpid":3,"date":1740897120,"measures":[{"value":7,"type":1,"unit":300}]}]`))
	if got := g.Series("body_weight", "", "scale").Value; !slices.Equal(got, []float64{76.85, 70}) {
		t.Errorf("%v", got)
	}
}

// A value that no body can have counts as a bad value.
func TestValuesOutOfRange(t *testing.T) {
	for _, value := range []string{`"value":1e300,"unit":0`, `"value":1e299,"unit":12`, `"value":9e29,"unit":12`} {
		g := repliestest.Gather(t, maker, nil, []byte(`{"grpid":1,"date":1740897000,"measures":[{"type":170,`+value+`}]}`))
		if g.Err != nil || len(g.Summaries) != 0 || g.Report.Types["measure.visceral_fat"].BadValue != 1 {
			t.Errorf("%s: %v %+v", value, g.Err, g.Report.Types)
		}
	}
}

func FuzzRead(f *testing.F) {
	raw, err := os.ReadFile(fixture)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	for line := range strings.Lines(string(raw)) {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		repliestest.Gather(t, maker, time.UTC, content).Check(t)
	})
}
