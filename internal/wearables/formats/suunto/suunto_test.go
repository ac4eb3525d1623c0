package suunto

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies/repliestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

func fixture(name string) string { return filepath.Join("testdata", name) }

func TestImportWorkouts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "Asia/Tokyo")
		o := sheettest.Run(t, db, Kind, user, fixture("workouts.json"))
		filestest.Types(t, o, map[string]files.TypeCount{
			"workout":              {Read: 5, Mapped: 2, BadDate: 3},
			"workout.totalDescent": {Read: 1, Skipped: 1},
			"workout.recoveryTime": {Read: 1, Skipped: 1},
			"other":                {Read: 1, Skipped: 1}, // metadata
		})
		all := map[any]map[string]any{}
		for _, w := range filestest.Summaries(t, db, user, "workouts") {
			all[w["provider_id"]] = w
		}
		filestest.CompareJSON(t, all["65aa"], map[string]any{
			"time_start": "2025-06-02T06:00:00+00:00", "time_end": "2025-06-02T07:01:40+00:00", "timezone_offset": 7200.0, "calendar_date": "2025-06-02",
			"moving_time": 3601.0, "distance": 10100.0, "total_elevation_gain": 120.5, "average_speed": 2.806, "max_speed": 4.25, "elev_high": 210.5, "elev_low": -2.5,
			"steps": 9000.0, "calories": 702.0, "average_hr": 150.0, "max_hr": 171.0,
		})
		filestest.CompareJSON(t, all["65aa"]["sport"].(map[string]any), map[string]any{"slug": "running"})
		filestest.CompareJSON(t, all["65aa"]["source"].(map[string]any), map[string]any{"provider": "manual", "type": "watch", "app_id": "suunto"})
		filestest.CompareJSON(t, all["65bb"], map[string]any{ // zeros are no figures; the offset is that of the fallback zone
			"time_end": "2025-06-03T06:30:00+00:00", "timezone_offset": 32400.0, "average_hr": nil, "max_hr": nil, "steps": nil, "distance": nil, "elev_high": nil, "elev_low": nil,
		})
		filestest.CompareJSON(t, all["65bb"]["sport"].(map[string]any), map[string]any{"slug": "other"})
	})
}

func TestImportDays(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "Europe/Berlin")
		o := sheettest.Run(t, db, Kind, user, fixture("days.json"))
		filestest.Types(t, o, map[string]files.TypeCount{
			"sleep":    {Read: 5, Mapped: 2, BadDate: 1, Copies: 2}, // two versions of one
			"activity": {Read: 4, Mapped: 2, Skipped: 1, BadDate: 1},
			"recovery": {Read: 1, Skipped: 1}, "daily_statistics": {Read: 4, Mapped: 1, Skipped: 2, BadValue: 1},
			"daily_statistics.day": {Read: 4, Mapped: 3, BadDate: 1}, "sleep.MaxSpo2": {Read: 1, Skipped: 1},
			"activity.StepCount": {Read: 2, Skipped: 2}, "activity.EnergyConsumption": {Read: 1, Skipped: 1},
			"activity.HRExt": {Read: 1, Skipped: 1}, "activity.Altitude": {Read: 1, Skipped: 1},
		})
		if o.Records != 14 || o.Mapped != 5 || o.Copies != 2 {
			t.Errorf("%+v", o.Report)
		}
		nights := map[any]map[string]any{}
		for _, n := range filestest.Summaries(t, db, user, "sleep") {
			nights[n["type"]] = n
		}
		filestest.CompareJSON(t, nights["long_sleep"], map[string]any{
			"bedtime_start": "2025-06-02T21:10:00+00:00", "bedtime_stop": "2025-06-03T04:40:00+00:00", "calendar_date": "2025-06-03", "timezone_offset": 7200.0,
			"duration": 27000.0, "total": 24600.0, "awake": 2400.0, "deep": 5400.0, "light": 15000.0, "rem": 4200.0, "efficiency": 91.1,
			"score": 82.0, "hr_lowest": 47.0, "hr_average": 58.0, "average_hrv": 55.5, "latency": 600.0,
		})
		filestest.CompareJSON(t, nights["acknowledged_nap"], map[string]any{"duration": 2400.0, "score": nil})
		if cycles := filestest.Summaries(t, db, user, "sleep_cycle"); len(cycles) != 0 {
			t.Errorf("stages of which only the totals are known: %v", cycles)
		}
		steps := map[any]any{}
		for _, day := range filestest.Summaries(t, db, user, "activity") {
			steps[day["calendar_date"]] = day["steps"]
		}
		if steps["2025-06-03"] != 8123.0 || steps["2025-06-04"] != 400.0 || len(steps) != 2 {
			t.Errorf("%v", steps)
		}
		all := sheettest.Series(t, db, user)
		for _, want := range []struct {
			resource, kind string
			value          float64
		}{{"heartrate", "", 71}, {"hrv", "rmssd", 48}, {"blood_oxygen", "", 96}} {
			got := sheettest.Find(t, all, want.resource, want.kind, "watch")
			if got.Len() != 1 || got.Value[0] != want.value || got.Offset[0] != 7200 || got.Source.AppID != "suunto" {
				t.Errorf("%+v", got)
			}
		}
		if len(all) != 3 {
			t.Errorf("%d series", len(all))
		}
	})
}

// A total of 24 hours in UTC belongs to the local day with most of these hours.
func TestDayOfATotal(t *testing.T) {
	for zone, want := range map[string]string{"": "2025-06-03", "America/New_York": "2025-06-03", "Pacific/Honolulu": "2025-06-03", "Pacific/Auckland": "2025-06-04"} {
		db := storetest.SQLite(t)
		user := sheettest.User(t, db, zone)
		content := `[{"Name":"stepcount","Aggregation":"sum","Sources":[{"Name":"a","Samples":[{"TimeISO8601":"2025-06-03T00:00:00.000","Value":7}]}]}]`
		sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(content)))
		if got := filestest.Summaries(t, db, user, "activity"); len(got) != 1 || got[0]["calendar_date"] != want || got[0]["steps"] != 7.0 {
			t.Errorf("%s: %v", zone, got)
		}
	}
}

// The same file again changes nothing, and its watch is one device.
func TestRepeatedImport(t *testing.T) {
	bed := filestest.New(t, storetest.SQLite(t))
	var events map[string]int
	for i := range 2 {
		for _, name := range []string{"workouts.json", "days.json"} {
			o, err := bed.Import(Kind, fixture(name))
			if err != nil {
				t.Fatal(err)
			}
			if i == 1 && o.Created+o.Updated != 0 {
				t.Errorf("%s again: %+v", name, o.Counts)
			}
		}
		if i == 0 {
			events = bed.Events()
		}
	}
	for kind, n := range bed.Events() {
		if events[kind] != n {
			t.Errorf("%d %s, before %d", n, kind, events[kind])
		}
	}
	if events["provider.device.created"] != 1 || events["daily.data.workouts.created"] != 2 || events["daily.data.sleep.created"] != 2 {
		t.Errorf("%v", events)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	filestest.CheckRefused(t, Kind, map[string]string{
		"an empty reply": `{"error":null,"payload":[]}`, "an empty list": `[]`, "nothing": "", "text": "timestamp,HR\n", "zip": "PK\x03\x04",
		"another entry": `[{"timestamp":"2025-06-03T10:00:00+02:00","entryData":{"glucose":5}}]`, "an empty entry": `[{"timestamp":"2025-06-03T10:00:00+02:00","entryData":{}}]`,
	})
	repliestest.CheckRefused(t, Kind, "suunto")
}

func TestDamage(t *testing.T) {
	const one = `{"timestamp":"2025-06-03T10:00:00.000+02:00","entryData":{"HR":71}}`
	const night = `{"timestamp":"x","entryData":{"BedtimeStart":"2025-06-03T10:00:00+02:00","BedtimeEnd":"2025-06-03T11:00:00+02:00"}}`
	for name, test := range map[string]struct {
		content         string
		mapped, damaged int64
		truncated       bool
	}{
		"whole":                {`[` + one + `,` + night + `]`, 2, 0, false},
		"cut behind a night":   {`{"payload":[` + night + `,{"timest`, 1, 0, true},
		"no JSON from here":    {`[` + one + `,{x}]`, 1, 1, true},
		"no object":            {`[` + one + `,null,` + one + `]`, 2, 1, false},
		"a night without end":  {`[` + one + `,{"timestamp":"x","entryData":{"BedtimeStart":"2025-06-03T10:00:00+02:00"}}]`, 1, 0, false},
		"a night of two days":  {`[` + one + `,{"timestamp":"x","entryData":{"BedtimeStart":"2025-06-03T10:00:00+02:00","BedtimeEnd":"2025-06-05T11:00:00+02:00"}}]`, 1, 0, false},
		"words for numbers":    {`[` + one + `,{"timestamp":"2025-06-03T10:00:00.000+02:00","entryData":{"HR":"71"}}]`, 1, 0, false},
		"numbers for a moment": {`[` + one + `,{"timestamp":1748937600,"entryData":{"HR":71}}]`, 1, 0, false},
	} {
		g := repliestest.Gather(t, maker, nil, []byte(test.content))
		if g.Err != nil || g.Report.Mapped != test.mapped || g.Report.Damaged != test.damaged || g.Report.Truncated != test.truncated {
			t.Errorf("%s: %v %+v", name, g.Err, g.Report)
		}
	}
}

func TestRealFiles(t *testing.T) {
	repliestest.Real(t, Kind, "wearables/suunto", map[string]repliestest.File{
		"open-wearables-test_suunto_247.json":      {"sleep": {1, 1}},
		"open-wearables-test_suunto_import.json":   {"workout": {2, 2}},
		"open-wearables-test_suunto_workouts.json": {"workout": {1, 1}},
	})
}

// The expected values of the samples come from another reader.
func TestRealValues(t *testing.T) {
	folder := testdata.Shared(t, "wearables/suunto")
	var workouts struct {
		Replies []struct {
			Payload []struct {
				ID       json.Number `json:"workoutId"`
				Start    int64       `json:"startTime"`
				Stop     int64       `json:"stopTime"`
				Total    float64     `json:"totalTime"`
				Distance float64     `json:"totalDistance"`
				Steps    float64     `json:"stepCount"`
				Energy   float64     `json:"energyConsumption"`
				Hearts   struct {
					Mean float64 `json:"workoutAvgHR"`
					Max  float64 `json:"workoutMaxHR"`
				} `json:"hrdata"`
			} `json:"payload"`
		} `json:"sample_suunto_api_response"`
	}
	var nights struct {
		All []struct {
			Entry struct {
				Start time.Time `json:"BedtimeStart"`
				End   time.Time `json:"BedtimeEnd"`
				Deep  float64   `json:"DeepSleepDuration"`
				Light float64   `json:"LightSleepDuration"`
				REM   float64   `json:"REMSleepDuration"`
				Mean  float64   `json:"HRAvg"`
				Low   float64   `json:"HRMin"`
				Score float64   `json:"SleepQualityScore"`
			} `json:"entryData"`
		} `json:"test_normalize_sleep_extracts_hr_extremes"`
	}
	bed := filestest.New(t, storetest.SQLite(t))
	for name, to := range map[string]any{"open-wearables-test_suunto_import.json": &workouts, "open-wearables-test_suunto_247.json": &nights} {
		path := filepath.Join(folder, name)
		filestest.Decode(t, path, json.Unmarshal, to)
		if _, err := bed.Import(Kind, path); err != nil {
			t.Fatal(err)
		}
	}
	all := bed.Workouts()
	if len(all) != 2 || len(workouts.Replies) != 1 || len(workouts.Replies[0].Payload) != 2 {
		t.Fatalf("%d workouts", len(all))
	}
	for i, w := range workouts.Replies[0].Payload { // in order of time
		var steps any = w.Steps
		if w.Steps == 0 {
			steps = nil
		}
		filestest.CompareJSON(t, all[i].Body, map[string]any{
			"provider_id": w.ID.String(), "time_start": rfc(time.UnixMilli(w.Start)), "time_end": rfc(time.UnixMilli(w.Stop)), "moving_time": w.Total, "distance": w.Distance,
			"steps": steps, "calories": w.Energy, "average_hr": w.Hearts.Mean, "max_hr": w.Hearts.Max, "timezone_offset": nil,
		})
	}
	night := nights.All[0].Entry
	_, offset := night.End.Zone()
	asleep, inBed := night.Deep+night.Light+night.REM, night.End.Sub(night.Start).Seconds()
	filestest.CompareJSON(t, bed.Summaries("sleep")[0], map[string]any{
		"bedtime_start": rfc(night.Start), "bedtime_stop": rfc(night.End), "calendar_date": night.End.Format(time.DateOnly), "timezone_offset": float64(offset), "type": "long_sleep",
		"duration": inBed, "total": asleep, "awake": inBed - asleep, "deep": night.Deep, "light": night.Light, "rem": night.REM,
		"hr_average": night.Mean, "hr_lowest": night.Low, "score": night.Score,
	})
}

func rfc(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05-07:00") }

func FuzzRead(f *testing.F) {
	filestest.Seed(f, "workouts.json", "days.json")
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		repliestest.Gather(t, maker, berlin, content).Check(t)
	})
}
