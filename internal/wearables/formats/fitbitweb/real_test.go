package fitbitweb

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies/repliestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

func TestImportRealReplies(t *testing.T) {
	repliestest.Real(t, Kind, "wearables/fitbit", map[string]repliestest.File{
		// A day without activities has no date anywhere.
		"shimmer-activities-date-empty-activities-list.json": {"summary": {1, 0}, "goals": {1, 0}},
		// Of three activities one has no length and one no time of day.
		"shimmer-activities-date-multiple-in-activities-list.json": {"summary": {1, 1}, "activity": {3, 1}, "goals": {1, 0}},
		"shimmer-activities-date-single-in-activities-list.json":   {"summary": {1, 1}, "activity": {1, 1}},
		// The mean of some minutes is no resting heart rate.
		"shimmer-activities-heart-1d-1m-intraday.json":   {"activities-heart": {1, 0}, "activities-heart-intraday": {5, 5}},
		"shimmer-activities-steps-1d-1m-intraday.json":   {"activities-steps": {1, 1}, "activities-steps-intraday": {3, 3}},
		"shimmer-activities-steps-timeseries.json":       {"activities-steps": {3, 3}},
		"shimmer-body-log-weight.json":                   {"weight": {4, 4}},
		"shimmer-sleep-date-empty-sleep-list.json":       {"sleep summary": {1, 0}},
		"shimmer-sleep-date-range-empty-sleep-list.json": nil, // {"sleep": []} does not identify a person
		"shimmer-sleep-date-range.json":                  {"sleep": {2, 2}},
		"shimmer-sleep-date.json":                        {"sleep": {2, 2}, "sleep summary": {1, 0}},
	})
}

func TestFilesOfOtherMakersAreRefused(t *testing.T) { repliestest.CheckRefused(t, Kind, "fitbit") }

// read decodes a real file into the test's own types.
func read(t *testing.T, name string, to any) (path string) {
	t.Helper()
	path = filepath.Join(testdata.Shared(t, "wearables/fitbit"), "shimmer-"+name+".json")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, to); err != nil {
		t.Fatal(err)
	}
	return path
}

// inNewYork converts a local time in New York to UTC, as the API writes it.
func inNewYork(t *testing.T, wall string) time.Time {
	t.Helper()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.ParseInLocation("2006-01-02 15:04:05", wall, zone)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}

func formatTime(at time.Time) string { return at.Format("2006-01-02T15:04:05+00:00") }

func TestRealDays(t *testing.T) {
	var day struct {
		Activities []struct {
			Name, StartDate, StartTime string
			LogID                      int64
			Calories, Distance         float64
			Duration, Steps            int64
		}
		Summary struct {
			ActivityCalories, CaloriesOut                                float64
			Steps                                                        int64
			FairlyActiveMinutes, LightlyActiveMinutes, VeryActiveMinutes float64
			Distances                                                    []struct {
				Activity string
				Distance float64
			}
		}
	}
	path := read(t, "activities-date-single-in-activities-list", &day)
	var steps struct {
		Days []struct{ DateTime, Value string } `json:"activities-steps"`
		Rest struct {
			Dataset []struct {
				Time  string
				Value float64
			}
		} `json:"activities-steps-intraday"`
	}
	withinDay := read(t, "activities-steps-1d-1m-intraday", &steps)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "America/New_York")
		sheettest.Run(t, db, Kind, user, path)
		sheettest.Run(t, db, Kind, user, withinDay)
		days := byDay(filestest.Summaries(t, db, user, "activity"))
		metres := 0.0
		for _, d := range day.Summary.Distances {
			if d.Activity == "total" {
				metres = d.Distance * 1000
			}
		}
		filestest.CompareJSON(t, days[day.Activities[0].StartDate], map[string]any{
			"steps": float64(day.Summary.Steps), "calories_total": day.Summary.CaloriesOut, "calories_active": day.Summary.ActivityCalories,
			"low": day.Summary.LightlyActiveMinutes, "medium": day.Summary.FairlyActiveMinutes, "high": day.Summary.VeryActiveMinutes, "distance": metres,
		})
		// The total of the day stays, although the file has minutes that add up to less.
		total, err := strconv.ParseFloat(steps.Days[0].Value, 64)
		if err != nil {
			t.Fatal(err)
		}
		filestest.CompareJSON(t, days[steps.Days[0].DateTime], map[string]any{"steps": total})
		series := sheettest.Find(t, sheettest.Series(t, db, user), "steps", "", "watch")
		sum := 0.0
		for i, want := range steps.Rest.Dataset {
			at := inNewYork(t, steps.Days[0].DateTime+" "+want.Time).UnixMicro()
			if series.Time[i] != at || series.End[i] != at+60e6 || series.Value[i] != want.Value {
				t.Errorf("at %d: %v, want %v at %d", series.Time[i], series.Value[i], want.Value, at)
			}
			sum += want.Value
		}
		if series.Len() != len(steps.Rest.Dataset) || sum >= total {
			t.Errorf("%d samples of %v steps", series.Len(), sum)
		}
		walks := filestest.Summaries(t, db, user, "workouts")
		if len(walks) != 1 {
			t.Fatalf("%d workouts", len(walks))
		}
		a := day.Activities[0]
		start := inNewYork(t, a.StartDate+" "+a.StartTime+":00")
		filestest.CompareJSON(t, walks[0], map[string]any{
			"provider_id": strconv.FormatInt(a.LogID, 10), "time_start": formatTime(start), "time_end": formatTime(start.Add(time.Duration(a.Duration) * time.Millisecond)),
			"distance": a.Distance * 1000, "calories": a.Calories, "steps": float64(a.Steps), "title": a.Name, "timezone_offset": -14400.0,
		})
	})
}

func TestRealNights(t *testing.T) {
	var reply struct {
		Sleep []struct {
			DateOfSleep, StartTime, EndTime         string
			MinutesAsleep, MinutesAwake, Efficiency float64
			Levels                                  struct {
				Data []struct {
					DateTime, Level string
					Seconds         int64
				}
			}
		}
	}
	path := read(t, "sleep-date", &reply)
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "America/New_York")
	sheettest.Run(t, db, Kind, user, path)
	nights, cycles := filestest.Summaries(t, db, user, "sleep"), filestest.Summaries(t, db, user, "sleep_cycle")
	if len(nights) != len(reply.Sleep) || len(cycles) != len(reply.Sleep) {
		t.Fatalf("%d nights, %d cycles", len(nights), len(cycles))
	}
	clock := func(s string) string { return s[:10] + " " + s[11:19] }
	for _, want := range reply.Sleep {
		start, end := inNewYork(t, clock(want.StartTime)), inNewYork(t, clock(want.EndTime))
		at := slices.IndexFunc(nights, func(n map[string]any) bool { return n["bedtime_start"] == formatTime(start) })
		if at < 0 {
			t.Fatalf("no night from %v", start)
		}
		filestest.CompareJSON(t, nights[at], map[string]any{
			"calendar_date": want.DateOfSleep, "bedtime_stop": formatTime(end), "duration": end.Sub(start).Seconds(), "timezone_offset": -18000.0,
			"total": 60 * want.MinutesAsleep, "awake": 60 * want.MinutesAwake, "efficiency": want.Efficiency, "type": "short_sleep",
		})
		for _, c := range cycles {
			if c["sleep_id"] != nights[at]["id"] {
				continue
			}
			for i, level := range want.Levels.Data {
				from := inNewYork(t, clock(level.DateTime)).Sub(start).Seconds()
				kind := map[string]float64{"asleep": -1, "restless": 4, "awake": 4}[level.Level]
				if c["stage_start_offset_second"].([]any)[i] != from || c["stage_end_offset_second"].([]any)[i] != from+float64(level.Seconds) || c["stage_type"].([]any)[i] != kind {
					t.Errorf("stage %d of %v", i, start)
				}
			}
		}
	}
}

func TestRealSeries(t *testing.T) {
	var hearts struct {
		Days []struct{ DateTime string } `json:"activities-heart"`
		Rest struct {
			Dataset []struct {
				Time  string
				Value float64
			}
		} `json:"activities-heart-intraday"`
	}
	var weights struct {
		Weight []struct {
			Date, Time  string
			Weight, BMI float64
		}
	}
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "America/New_York")
	sheettest.Run(t, db, Kind, user, read(t, "activities-heart-1d-1m-intraday", &hearts))
	sheettest.Run(t, db, Kind, user, read(t, "body-log-weight", &weights))
	all := sheettest.Series(t, db, user)
	series := sheettest.Find(t, all, "heartrate", "", "watch")
	for i, want := range hearts.Rest.Dataset {
		if series.Time[i] != inNewYork(t, hearts.Days[0].DateTime+" "+want.Time).UnixMicro() || series.Value[i] != want.Value {
			t.Errorf("heart rate %d: %v at %d", i, series.Value[i], series.Time[i])
		}
	}
	kg, bmi := sheettest.Find(t, all, "body_weight", "", "unknown"), sheettest.Find(t, all, "body_mass_index", "", "unknown")
	for i, want := range weights.Weight {
		at := inNewYork(t, want.Date+" "+want.Time).UnixMicro()
		if kg.Time[i] != at || kg.Value[i] != want.Weight || bmi.Time[i] != at || bmi.Value[i] != want.BMI || kg.Offset[i] != -14400 {
			t.Errorf("weight %d: %v, %v at %d", i, kg.Value[i], bmi.Value[i], kg.Time[i])
		}
	}
	if series.Len() != len(hearts.Rest.Dataset) || kg.Len() != len(weights.Weight) {
		t.Errorf("%d and %d samples", series.Len(), kg.Len())
	}
}
