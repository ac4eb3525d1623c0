package garmin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies/repliestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// storedFields returns the gathered data in the form of the golden files.
func storedFields(t *testing.T, g *repliestest.GatheredData) map[string]any {
	t.Helper()
	types := map[string]files.TypeCount{}
	for name, c := range g.Report.Types {
		types[name] = *c
	}
	series := map[string]any{}
	for _, s := range g.Samples {
		rows := [][]any{}
		for i := range s.Time {
			row := []any{time.UnixMicro(s.Time[i]).UTC(), s.Offset[i], s.Value[i]}
			if len(s.End) > 0 {
				row = append(row, time.UnixMicro(s.End[i]).UTC())
			}
			if len(s.Value2) > 0 {
				row = append(row, s.Value2[i])
			}
			rows = append(rows, row)
		}
		series[strings.Join([]string{s.Resource, s.Type, s.Source.Type}, "|")] = rows
	}
	summaries := []any{}
	for _, s := range g.Summaries {
		summaries = append(summaries, map[string]any{"resource": s.Resource, "key": s.Key, "date": s.Date, "source": s.Source.Type, "end": s.End, "body": s.Body})
	}
	workouts := []any{}
	for _, w := range g.Recorded {
		workouts = append(workouts, map[string]any{
			"id": w.ID, "title": w.Title, "sport": w.Sport.Slug, "source": w.Source.Type, "start": time.UnixMicro(w.Start).UTC(), "end": time.UnixMicro(w.End).UTC(),
			"offset": w.Offset, "moving": w.Moving, "metres": w.Metres, "kcal": w.Kcal, "steps": w.Steps, "gain": w.Gain, "watts": w.Watts, "max watts": w.MaxW,
			"weighted": w.Weighted, "bpm": w.MeanBPM, "max bpm": w.MaxBPM, "speed": w.Speed, "max speed": w.MaxSpeed, "high": w.High, "low": w.Low, "moments": len(w.Course),
		})
	}
	return map[string]any{
		"records": g.Report.Records, "mapped": g.Report.Mapped, "copies": g.Report.Copies, "types": types,
		"series": series, "summaries": summaries, "workouts": workouts, "person": g.Person,
	}
}

func TestPush(t *testing.T) {
	g := repliestest.Gather(t, maker, nil, fixture(t, "push.json"))
	g.Check(t)
	filestest.CompareGolden(t, "push.golden.json", storedFields(t, g))
}

func TestConnect(t *testing.T) {
	g := repliestest.Gather(t, maker, nil, fixture(t, "connect.json"))
	g.Check(t)
	filestest.CompareGolden(t, "connect.golden.json", storedFields(t, g))
}

// On both engines, an import stores all values and announces them once. A second import
// changes nothing.
func TestImportTwice(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for _, name := range []string{"push.json", "connect.json"} {
			user := sheettest.User(t, db, "Europe/Berlin")
			path := filepath.Join("testdata", name)
			first := sheettest.Run(t, db, Kind, user, path)
			if first.Created == 0 || first.Rejected != 0 {
				t.Errorf("%s: %+v %v", name, first.Counts, first.Rejections)
			}
			events := filestest.Events(t, db, user)
			if again := sheettest.Run(t, db, Kind, user, path); again.Created+again.Updated != 0 {
				t.Errorf("%s the second time: %+v", name, again.Resources)
			}
			after := filestest.Events(t, db, user)
			for kind, n := range after {
				if n != events[kind] {
					t.Errorf("%s announces %d of %s again", name, n-events[kind], kind)
				}
			}
		}
	})
}

// A day has the values that Garmin states. They are not the sums of the
// quarters of an hour that a file has, and not the heart rate of the day's
// workouts.
func TestDayIsAsStated(t *testing.T) {
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	sheettest.Run(t, db, Kind, user, filepath.Join("testdata", "push.json"))
	days := filestest.Summaries(t, db, user, "activity")
	if len(days) != 2 {
		t.Fatalf("%d days", len(days))
	}
	filestest.CompareJSON(t, days[0], map[string]any{
		"calendar_date": "2025-03-02", "steps": 8123.0, "distance": 6210.5, "calories_active": 412.0, "calories_total": 2062.0,
		"floors_climbed": 7.0, "medium": 30.0, "high": 10.5, "low": nil, "timezone_offset": 3600.0,
	})
	filestest.CompareJSON(t, days[0]["heart_rate"].(map[string]any), map[string]any{"resting_bpm": 51.0, "min_bpm": 48.0, "max_bpm": 150.0, "avg_bpm": nil})
	filestest.CompareJSON(t, days[1], map[string]any{"calendar_date": "2025-03-03", "steps": 100.0})
	filestest.CompareJSON(t, days[1]["heart_rate"].(map[string]any), map[string]any{"min_bpm": 47.0, "max_bpm": 140.0})
	steps := sheettest.Find(t, sheettest.Series(t, db, user), "steps", "", "watch")
	if steps.Len() != 1 || steps.Value[0] != 99 || steps.End[0]-steps.Time[0] != 900e6 {
		t.Errorf("%+v: the activities of a quarter are added up, the newer version of one in place of the older", steps)
	}
}

// Data about a night in other documents is added to the night.
func TestNights(t *testing.T) {
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	sheettest.Run(t, db, Kind, user, filepath.Join("testdata", "connect.json"))
	byType := map[any]map[string]any{}
	for _, n := range filestest.Summaries(t, db, user, "sleep") {
		byType[n["type"]] = n
	}
	filestest.CompareJSON(t, byType["long_sleep"], map[string]any{
		"calendar_date": "2025-03-02", "total": 19800.0, "awake": 1800.0, "score": 79.0, "average_hrv": 45.0, "state": "confirmed",
		"temperature_delta": -0.3, "hr_resting": 50.0, "hr_average": 55.0, "respiratory_rate": 13.0, "timezone_offset": 3600.0,
	})
	// A later file adds to the night, and has data of an unknown one.
	o := sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(`{"hrvSummaries": [
		{"calendarDate": "2025-03-02", "weeklyAvg": 44, "lastNightAvg": 48}, {"calendarDate": "2025-03-09", "weeklyAvg": 44, "lastNightAvg": 48}]}`)))
	if c := o.Types["hrv of a night"]; o.Updated != 1 || c.Mapped != 1 || c.Unpaired != 1 {
		t.Errorf("%+v %+v", o.Counts, c)
	}
	if left := o.FirstLeft()["hrv of a night"]; left != (files.LeftOut{Record: 2, Reason: "unpaired"}) {
		t.Errorf("the first that was left out: %+v", left)
	}
	filestest.CompareJSON(t, byType["acknowledged_nap"], map[string]any{"duration": 1500.0, "total": 1500.0})
	cycles := filestest.Summaries(t, db, user, "sleep_cycle")
	if len(cycles) != 1 || cycles[0]["sleep_id"] != byType["long_sleep"]["id"] {
		t.Fatalf("%v", cycles)
	}
	got := cycles[0]["stage_type"].([]any)
	if !slices.Equal(got, []any{2.0, 1.0, 4.0, 3.0, -1.0}) {
		t.Errorf("stages %v", got)
	}
}

// A value of a day without a time has the start of the day. That is midnight in
// the user's zone, or midnight of the local clock without a zone.
func TestMidnight(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	content := []byte(`[{"calendarDate":"2025-07-01","valueInML":800}]`)
	for name, test := range map[string]struct {
		zone   *time.Location
		at     string
		offset int32
	}{
		"a zone":  {berlin, "2025-06-30T22:00:00Z", 7200},
		"no zone": {nil, "2025-07-01T00:00:00Z", wearables.NoOffset},
	} {
		s := repliestest.Gather(t, maker, test.zone, content).Series("water", "", "app")
		if s.Len() != 1 || time.UnixMicro(s.Time[0]).UTC().Format(time.RFC3339) != test.at || s.Offset[0] != test.offset || s.Value[0] != 800 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestSports(t *testing.T) {
	for word, want := range map[string]string{
		"RUNNING": "running", "TRAIL_RUNNING": "running", "treadmill_running": "running", "INDOOR_CYCLING": "cycling", "HIKING": "hiking",
		"INDOOR_CARDIO": "mixed_cardio", "tennis_v2": "tennis", "resort_skiing_snowboarding_ws": "downhill_skiing", "lap_swimming": "swimming",
		"strength_training": "strength_training", "YOGA": "yoga", "whitewater_rafting_kayaking": "whitewater_rafting_kayaking", "": "other",
		"MULTI_SPORT": "multisport", "stair_climbing": "stair_climbing", "elliptical": "elliptical", "uncategorized": "other",
	} {
		if got := sportOf(word).Slug; got != want {
			t.Errorf("%s is %s, want %s", word, got, want)
		}
	}
}

// A push of Garmin's may contain data of several users.
func TestSeveralPeople(t *testing.T) {
	db := storetest.SQLite(t)
	bed := filestest.New(t, db)
	one := `{"userId":"u-1","summaryId":"a","startTimeInSeconds":1740870000,"durationInSeconds":900,"timeOffsetEpochToBreaths":{"0":14}}`
	other := strings.Replace(one, "u-1", "u-2", 1)
	path := filestest.Save(t, []byte(`{"allDayRespiration":[`+one+`,`+other+`]}`))
	if o, err := bed.Import(Kind, path); !fault.Is(err, fault.Unprocessable) || o.Created != 0 || strings.Contains(err.Error(), "u-2") {
		t.Errorf("%v %+v", err, o.Counts)
	}
	if _, err := bed.Import(Kind, filestest.Save(t, []byte(`{"allDayRespiration":[`+one+`,`+one+`]}`))); err != nil {
		t.Error(err)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for name, content := range map[string]string{
		"an empty page": `{"data":[],"paging":{"total":0,"start":0,"limit":20}}`, "an empty list": `[]`, "nothing": "", "a number": "7",
		"another exchange": `[{"path":"/v2/sleep","status":204,"body":null}]`, "a day and a value": `[{"calendarDate":"2025-03-02","value":80}]`,
		"another summary": `{"summaryId":"a","calendarDate":"2025-03-02"}`, "text": "summaryId,steps\n",
	} {
		if err := Kind.Check(filestest.Save(t, []byte(content)), 0); err == nil {
			t.Errorf("%s passes", name)
		}
	}
	for name, content := range map[string]string{
		"no activities":   `{"activityList":[],"paging":{"total":3,"start":20,"limit":20}}`,
		"an empty answer": `[{"path":"/hrv-service/hrv/2025-03-04","status":204,"body":null}]`,
	} {
		if err := Kind.Check(filestest.Save(t, []byte(content)), 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Impossible numbers are left out, and the rest of their document is stored.
func TestHostileNumbers(t *testing.T) {
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	o := sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(`[
		{"activityId": 1, "startTimeGMT": "2025-03-02 17:00:00", "activityType": {"typeKey": "walking"}, "duration": 60, "maxElevation": 1e308, "minElevation": -1e308, "maxSpeed": 1e308, "calories": 1e300},
		{"activityId": 2, "summaryId": "2-detail", "summary": {"summaryId": "2-detail", "startTimeInSeconds": 1741017600, "durationInSeconds": 30, "activityType": "CYCLING"},
		 "samples": [{"startTimeInSeconds": 1741017600, "elevationInMeters": 1e308, "heartRate": 100}, {"startTimeInSeconds": 1741017601, "speedMetersPerSecond": -1e308, "heartRate": 101}]},
		{"summaryId": "x", "startTimeInSeconds": 1e300, "durationInSeconds": 900, "steps": 1},
		{"summaryId": "x", "startTimeInSeconds": 1741017600, "durationInSeconds": 1e300, "steps": 1},
		{"calendarDate": "2025-03-02", "totalSteps": 1e300, "totalDistance": 12}
	]`)))
	if o.Mapped != 3 || o.Types["epoch"].BadDate != 2 || o.Rejected != 0 {
		t.Errorf("%+v %v", o.Report, o.Rejections)
	}
	for _, w := range filestest.Summaries(t, db, user, "workouts") {
		if w["elev_high"] != nil || w["elev_low"] != nil || w["calories"] != nil {
			t.Errorf("%v", w)
		}
	}
}

func TestDamage(t *testing.T) {
	one := `{"summaryId":"a","startTimeInSeconds":1740870000,"durationInSeconds":900,"timeOffsetEpochToBreaths":{"0":14}}`
	for name, test := range map[string]struct {
		content   string
		mapped    int64
		damaged   int64
		truncated bool
	}{
		"whole":             {`{"allDayRespiration":[` + one + `]}`, 1, 0, false},
		"cut in a document": {`{"allDayRespiration":[` + one + `,{"summaryId":"b","sta`, 1, 0, true},
		"cut after one":     {`{"allDayRespiration":[` + one, 1, 0, true},
		"no JSON from here": {`[` + one + `,{summaryId:}]`, 1, 1, true},
		"no object":         {`[` + one + `,7,` + one + `]`, 2, 1, false},
	} {
		g := repliestest.Gather(t, maker, nil, []byte(test.content))
		if g.Err != nil || g.Report.Mapped != test.mapped || g.Report.Truncated != test.truncated || g.Report.Damaged != test.damaged {
			t.Errorf("%s: %v %+v", name, g.Err, g.Report)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(fixture(f, "push.json"))
	f.Add(fixture(f, "connect.json"))
	f.Add([]byte(`{"summaryId":"a","startTimeInSeconds":1e300,"durationInSeconds":-1,"activityType":"","deviceName":"x"}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		repliestest.Gather(t, maker, time.UTC, content).Check(t)
	})
}

var realFiles = map[string]repliestest.File{
	"connectstats-last_connectstats_search_0.json":                {"activity": {20, 20}, "page": {1, 0}},
	"connectstats-last_connectstats_search_20.json":               {"activity": {20, 20}, "page": {1, 0}},
	"connectstats-last_connectstats_search_40.json":               {"activity": {20, 20}, "page": {1, 0}},
	"connectstats-last_connectstats_search_60.json":               {"no activities": {1, 0}},
	"connectstats-last_connectstats_search_multisportsingle.json": {"activity": {4, 4}, "activity of several sports": {1, 0}, "page": {1, 0}},
	"connectstats-last_connectstats_search_zerodistance.json":     {"activity": {1, 1}, "page": {1, 0}},
	"connectstats-services_activities.json":                       {"comparison": {1, 0}},
	"garth-activity_get.json":                                     {"activity": {2, 2}},
	"garth-daily_body_battery_stress_get.json":                    {"stress": {1, 1}, "stress_level.bodyBatteryValuesArray": {1, 0}},
	"garth-daily_heart_rate_get.json":                             {"heart rate": {1, 1}},
	"garth-daily_sleep_data_get.json":                             {"sleep": {1, 1}, "no sleep": {1, 0}, "sleep.averageSpO2Value": {1, 0}},
	"garth-daily_summary_list.json":                               {"daily": {2, 2}, "daily.averageStressLevel": {2, 0}, "daily.bodyBatteryChargedValue": {2, 0}, "daily.avgWakingRespirationValue": {2, 0}},
	"garth-hrv_data_get.json":                                     {"hrv": {1, 1}, "no data": {1, 0}},
	"garth-sleep_data_get.json":                                   {"sleep": {1, 1}, "sleep.averageSpO2Value": {1, 0}},
	"garth-stats_daily_hrv.json":                                  {"hrv of a night": {20, 0}},
	"garth-stats_daily_hydration.json":                            {"water": {1, 1}},
	"garth-stats_daily_sleep.json":                                {"sleep score": {20, 0}},
	"garth-stats_daily_steps.json":                                {"steps of a day": {20, 20}},
	"garth-stats_daily_stress.json":                               {"stress of a day": {20, 0}},
	"garth-weight_data_list.json":                                 {"weight": {8, 5}, "no weight": {1, 0}, "average weight": {1, 0}},
	"open-wearables-test_garmin_247.json": {
		"daily": {1, 1}, "sleep": {1, 1}, "epoch": {2, 2}, "hrv": {1, 1}, "daily.averageStressLevel": {1, 0}, "epoch.meanHeartRateInBeatsPerMinute": {2, 0},
		"other": {6, 0}, // stages of a night without the night
	},
	"open-wearables-test_garmin_import.json":   {"activity": {3, 3}},
	"open-wearables-test_garmin_workouts.json": {"activity": {1, 1}},
}

func TestRealFiles(t *testing.T) {
	repliestest.Real(t, Kind, "wearables/garmin", realFiles)
}

func TestFilesOfOtherMakersAreRefused(t *testing.T) {
	repliestest.CheckRefused(t, Kind, "garmin")
}
