package garmin

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/fit"
	"hale/internal/wearables/formats/sheet/sheettest"
)

// decode reads a public sample into structs of the test's own.
func decode(t *testing.T, name string, to any) {
	t.Helper()
	raw, err := os.ReadFile(testdata.Shared(t, "wearables/garmin/"+name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, to); err != nil {
		t.Fatal(err)
	}
}

func importFiles(t *testing.T, db *store.DB, names ...string) (find func(resource string) []map[string]any, series func(resource, kind, source string) map[int64]float64) {
	t.Helper()
	user := sheettest.User(t, db, "")
	for _, name := range names {
		sheettest.Run(t, db, Kind, user, testdata.Shared(t, "wearables/garmin/"+name))
	}
	return func(resource string) []map[string]any { return filestest.Summaries(t, db, user, resource) },
		func(resource, kind, source string) map[int64]float64 {
			s := sheettest.Find(t, sheettest.Series(t, db, user), resource, kind, source)
			all := map[int64]float64{}
			for i, at := range s.Time {
				all[at/1e6] = s.Value[i]
			}
			return all
		}
}

// listedActivity is an activity as ConnectStats received it.
type listedActivity struct {
	SummaryID string  `json:"summaryId"`
	Start     int64   `json:"startTimeInSeconds"`
	Offset    float64 `json:"startTimeOffsetInSeconds"`
	Seconds   float64 `json:"durationInSeconds"`
	Metres    float64 `json:"distanceInMeters"`
	Kcal      float64 `json:"activeKilocalories"`
	Mean      any     `json:"averageHeartRateInBeatsPerMinute"`
	Most      any     `json:"maxHeartRateInBeatsPerMinute"`
	Steps     any     `json:"steps"`
	Gain      any     `json:"totalElevationGainInMeters"`
	Track     string  `json:"cs_activity_id"`
}

func listOf(t *testing.T) map[string]listedActivity {
	t.Helper()
	all := map[string]listedActivity{}
	for _, n := range []int{0, 20, 40} {
		var page struct {
			List []listedActivity `json:"activityList"`
		}
		decode(t, fmt.Sprintf("connectstats-last_connectstats_search_%d.json", n), &page)
		for _, one := range page.List {
			all[one.SummaryID] = one
		}
	}
	return all
}

func TestRealActivities(t *testing.T) {
	want := listOf(t)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		find, _ := importFiles(t, db, "connectstats-last_connectstats_search_0.json", "connectstats-last_connectstats_search_20.json", "connectstats-last_connectstats_search_40.json")
		got := find("workouts")
		if len(got) != len(want) || len(got) != 60 {
			t.Fatalf("%d workouts, want %d", len(got), len(want))
		}
		for _, w := range got {
			a, ok := want[w["provider_id"].(string)]
			if !ok {
				t.Fatalf("workout %v", w["provider_id"])
			}
			filestest.CompareJSON(t, w, map[string]any{
				"time_start": clockOf(a.Start), "time_end": clockOf(a.Start + int64(a.Seconds)), "timezone_offset": a.Offset,
				"moving_time": a.Seconds, "average_hr": a.Mean, "max_hr": a.Most, "steps": a.Steps, "total_elevation_gain": a.Gain,
				"calendar_date": time.Unix(a.Start+int64(a.Offset), 0).UTC().Format("2006-01-02"),
			})
			metres, _ := w["distance"].(float64) // null for none
			kcal, _ := w["calories"].(float64)
			if math.Abs(metres-a.Metres) > 0.005 || math.Abs(kcal-a.Kcal) > 0.005 {
				t.Errorf("%s: %v m, %v kcal", a.SummaryID, metres, kcal)
			}
		}
	})
}

func clockOf(seconds int64) string {
	return time.Unix(seconds, 0).UTC().Format("2006-01-02T15:04:05") + "+00:00"
}

// The FIT files of four of the activities are the same workouts, in either
// order of import. Each gives one summary, with the device and the course of
// the file and the id of Garmin Connect.
func TestRealFilesOfActivities(t *testing.T) {
	tracks := map[string]listedActivity{}
	for _, a := range listOf(t) {
		if a.Track == "5567" || a.Track == "5572" || a.Track == "5582" || a.Track == "5611" {
			tracks[a.Track] = a
		}
	}
	if len(tracks) != 4 {
		t.Fatalf("%d rows with a file", len(tracks))
	}
	folder := testdata.Shared(t, "wearables")
	replies := func(bed *filestest.Bed) {
		for _, n := range []string{"0", "20"} {
			if _, err := bed.Import(Kind, filepath.Join(folder, "garmin/connectstats-last_connectstats_search_"+n+".json")); err != nil {
				t.Fatal(err)
			}
		}
	}
	recordings := func(bed *filestest.Bed) {
		for track := range tracks {
			if _, err := bed.Import(fit.Kind, filepath.Join(folder, "fit/connectstats-track_cs_"+track+".fit")); err != nil {
				t.Fatal(err)
			}
		}
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for name, order := range map[string][]func(*filestest.Bed){
			"files first": {recordings, replies}, "replies first": {replies, recordings},
		} {
			bed := filestest.New(t, db)
			for _, part := range order {
				part(bed)
			}
			all := bed.Workouts()
			if len(all) != 40 {
				t.Fatalf("%s: %d workouts, want 40", name, len(all))
			}
			byID := map[any]filestest.Workout{}
			for _, w := range all {
				byID[w.Body["provider_id"]] = w
			}
			for track, a := range tracks {
				w, ok := byID[a.SummaryID]
				if !ok {
					t.Fatalf("%s: %s is not under its id", name, track)
				}
				filestest.CompareJSON(t, w.Body, map[string]any{"distance": a.Metres, "calories": a.Kcal, "average_hr": a.Mean, "max_hr": a.Most, "time_start": clockOf(a.Start)})
				if w.Body["source"].(map[string]any)["device_id"] == nil {
					t.Errorf("%s: %s lost its device", name, track)
				}
				if w.Stream == nil || len(w.Stream.Time) < 50 || w.Stream.Lat == nil {
					t.Errorf("%s: %s lost its course", name, track)
				}
				if end := w.Body["time_end"].(string); end < clockOf(a.Start+int64(a.Seconds)) {
					t.Errorf("%s: %s ends at %s, before its pauses are over", name, track, end)
				}
			}
		}
	})
}

type exchange[T any] struct {
	Body T `json:"body"`
}

func TestRealSeries(t *testing.T) {
	var hearts []exchange[struct {
		Rows [][]*float64 `json:"heartRateValues"`
		Rest float64      `json:"restingHeartRate"`
		Most float64      `json:"maxHeartRate"`
	}]
	var tension []exchange[struct {
		Rows [][]*float64 `json:"stressValuesArray"`
	}]
	var variety []exchange[*struct {
		Rows []struct {
			Value float64 `json:"hrvValue"`
			GMT   string  `json:"readingTimeGMT"`
		} `json:"hrvReadings"`
	}]
	decode(t, "garth-daily_heart_rate_get.json", &hearts)
	decode(t, "garth-daily_body_battery_stress_get.json", &tension)
	decode(t, "garth-hrv_data_get.json", &variety)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		find, series := importFiles(t, db, "garth-daily_heart_rate_get.json", "garth-daily_body_battery_stress_get.json", "garth-hrv_data_get.json", "garth-stats_daily_hydration.json")
		rows := func(all [][]*float64) map[int64]float64 {
			want := map[int64]float64{}
			for _, row := range all {
				if row[1] != nil && *row[1] >= 0 {
					want[int64(*row[0])/1000] = *row[1]
				}
			}
			return want
		}
		checkEqual(t, "heartrate", series("heartrate", "", "watch"), rows(hearts[0].Body.Rows))
		checkEqual(t, "stress_level", series("stress_level", "", "watch"), rows(tension[0].Body.Rows))
		want := map[int64]float64{}
		for _, one := range variety[0].Body.Rows {
			at, err := time.Parse("2006-01-02T15:04:05.0", one.GMT)
			if err != nil {
				t.Fatal(err)
			}
			want[at.Unix()] = one.Value
		}
		checkEqual(t, "hrv", series("hrv", "rmssd", "watch"), want)
		checkEqual(t, "water", series("water", "", "app"), map[int64]float64{time.Date(2024, 6, 29, 0, 0, 0, 0, time.UTC).Unix(): 1750})
		for _, day := range find("activity") {
			if day["calendar_date"] == "2026-01-07" {
				filestest.CompareJSON(t, day["heart_rate"].(map[string]any), map[string]any{"resting_bpm": hearts[0].Body.Rest, "max_bpm": hearts[0].Body.Most})
			}
		}
	})
}

func checkEqual(t *testing.T, name string, got, want map[int64]float64) {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Errorf("%s: %d samples, want %d", name, len(got), len(want))
	}
	for at, v := range want {
		if got[at] != v {
			t.Errorf("%s: %v at %v, want %v", name, got[at], time.Unix(at, 0).UTC(), v)
		}
	}
}

func TestRealDays(t *testing.T) {
	var days []exchange[struct {
		Day    string  `json:"calendarDate"`
		Total  float64 `json:"totalKilocalories"`
		Active float64 `json:"activeKilocalories"`
		Steps  float64 `json:"totalSteps"`
		Metres float64 `json:"totalDistanceMeters"`
		Floors float64 `json:"floorsAscended"`
		Medium float64 `json:"moderateIntensityMinutes"`
		Rest   float64 `json:"restingHeartRate"`
		Least  float64 `json:"minHeartRate"`
	}]
	var weights []exchange[struct {
		Days []struct {
			Day string `json:"summaryDate"`
			All []struct {
				Grams  float64  `json:"weight"`
				Fat    *float64 `json:"bodyFat"`
				Water  *float64 `json:"bodyWater"`
				Bone   *float64 `json:"boneMass"`
				At     int64    `json:"timestampGMT"`
				Source string   `json:"sourceType"`
			} `json:"allWeightMetrics"`
		} `json:"dailyWeightSummaries"`
	}]
	decode(t, "garth-daily_summary_list.json", &days)
	decode(t, "garth-weight_data_list.json", &weights)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		find, series := importFiles(t, db, "garth-daily_summary_list.json", "garth-weight_data_list.json")
		byDay := map[any]map[string]any{}
		for _, day := range find("activity") {
			byDay[day["calendar_date"]] = day
		}
		for _, d := range days {
			day := byDay[d.Body.Day]
			filestest.CompareJSON(t, day, map[string]any{
				"calories_total": d.Body.Total, "calories_active": d.Body.Active, "steps": d.Body.Steps, "distance": d.Body.Metres,
				"floors_climbed": math.Round(d.Body.Floors), "medium": d.Body.Medium, "timezone_offset": 7200.0,
			})
			filestest.CompareJSON(t, day["heart_rate"].(map[string]any), map[string]any{"resting_bpm": d.Body.Rest, "min_bpm": d.Body.Least, "avg_bpm": nil})
		}
		onScale, typedIn := series("body_weight", "", "scale"), series("body_weight", "", "app")
		for _, day := range weights[0].Body.Days {
			for _, w := range day.All {
				got := onScale
				if w.Source == "MANUAL" {
					got = typedIn
				}
				if got[w.At/1000] != w.Grams/1000 {
					t.Errorf("%v kg at %d, want %v g", got[w.At/1000], w.At, w.Grams)
				}
			}
		}
		if len(onScale) != 4 || len(typedIn) != 1 { // one of them of the day before the range
			t.Errorf("%d and %d weights", len(onScale), len(typedIn))
		}
		first := weights[0].Body.Days[0]
		for _, body := range find("body") {
			if body["calendar_date"] == first.Day {
				filestest.CompareJSON(t, body, map[string]any{
					"weight": first.All[0].Grams / 1000, "fat": *first.All[0].Fat, "water_percentage": *first.All[0].Water,
					"bone_mass_percentage": math.Round(10000**first.All[0].Bone/first.All[0].Grams) / 100,
				})
			}
		}
	})
}

func TestRealNights(t *testing.T) {
	type night struct {
		Body struct {
			DTO struct {
				Day   string  `json:"calendarDate"`
				Start *int64  `json:"sleepStartTimestampGMT"`
				End   int64   `json:"sleepEndTimestampGMT"`
				Local int64   `json:"sleepEndTimestampLocal"`
				Total float64 `json:"sleepTimeSeconds"`
				Deep  float64 `json:"deepSleepSeconds"`
				Light float64 `json:"lightSleepSeconds"`
				REM   float64 `json:"remSleepSeconds"`
				Awake float64 `json:"awakeSleepSeconds"`
				Rate  float64 `json:"averageRespirationValue"`
			} `json:"dailySleepDTO"`
			Rest any `json:"restingHeartRate"`
			Skin any `json:"avgSkinTempDeviationC"`
		} `json:"body"`
	}
	var all, old []night
	decode(t, "garth-daily_sleep_data_get.json", &all)
	decode(t, "garth-sleep_data_get.json", &old)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		find, _ := importFiles(t, db, "garth-daily_sleep_data_get.json", "garth-sleep_data_get.json")
		byDay := map[any]map[string]any{}
		for _, n := range find("sleep") {
			byDay[n["calendar_date"]] = n
		}
		if len(byDay) != 2 {
			t.Errorf("%d nights", len(byDay))
		}
		for _, n := range append(all, old...) {
			s := n.Body.DTO
			if s.Start == nil {
				continue
			}
			filestest.CompareJSON(t, byDay[s.Day], map[string]any{
				"bedtime_start": clockOf(*s.Start / 1000), "bedtime_stop": clockOf(s.End / 1000), "total": s.Total, "deep": s.Deep, "light": s.Light,
				"rem": s.REM, "awake": s.Awake, "respiratory_rate": s.Rate, "hr_resting": n.Body.Rest, "temperature_delta": n.Body.Skin,
				"timezone_offset": float64(s.Local-s.End) / 1000, "type": "long_sleep", "state": "confirmed",
			})
		}
	})
}

// The file of the project Open Wearables has the stages outside of the night, so
// the stored night has no stages. The file states no offset, so the night has none.
func TestPeersPush(t *testing.T) {
	db := storetest.SQLite(t)
	find, series := importFiles(t, db, "open-wearables-test_garmin_247.json")
	nights := find("sleep")
	if len(nights) != 1 {
		t.Fatalf("%d nights", len(nights))
	}
	filestest.CompareJSON(t, nights[0], map[string]any{"total": 27000.0, "awake": 1800.0, "duration": 28800.0, "timezone_offset": nil, "calendar_date": "2024-01-15"})
	checkEqual(t, "heartrate", series("heartrate", "", "watch"), map[int64]float64{1705276800: 60, 1705277700: 65, 1705278600: 70})
	checkEqual(t, "steps", series("steps", "", "watch"), map[int64]float64{1705309200: 100, 1705310100: 150})
	checkEqual(t, "hrv", series("hrv", "rmssd", "watch"), map[int64]float64{1768340715 + 265: 70, 1768340715 + 565: 73, 1768340715 + 865: 68})
}
