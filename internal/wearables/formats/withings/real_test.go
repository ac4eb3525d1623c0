package withings

import (
	"encoding/json"
	"math"
	"os"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies/repliestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

// realFiles has the expected outcome of each of the public samples.
var realFiles = map[string]repliestest.File{
	"activity.json": {"activity": {2, 2}},
	"connectstats-getmeas.json": {
		"measuregrps": {843, 843}, "measure.weight": {441, 441}, "measure.height": {1, 1}, "measure.fat_free_mass": {432, 432},
		"measure.fat_ratio": {432, 432}, "measure.fat_mass": {432, 0}, "measure.diastolic": {4, 4}, "measure.systolic": {4, 4},
		"measure.heart_pulse": {402, 402},
	},
	"device.json":      {"device": {5, 3}}, // of three models, all with the id that their publisher put there
	"goals.json":       {"goals": {1, 0}},
	"measurement.json": {"measuregrps": {2, 2}, "measure.weight": {2, 2}},
	// Its publisher scrambled it: some fat ratios are 0, some pressures no pair.
	"measurement_list.json": {
		"measuregrps": {2061, 1649}, "measuregrps ambiguous": {1, 0}, "measure.weight": {441, 441}, "measure.height": {1, 1},
		"measure.fat_free_mass": {420, 420}, "measure.fat_ratio": {420, 412}, "measure.fat_mass": {420, 0},
		"measure.diastolic": {793, 793}, "measure.systolic": {793, 793}, "measure.heart_pulse": {1207, 1207},
		"measure.muscle_mass": {412, 412}, "measure.hydration": {412, 412}, "measure.bone_mass": {412, 412},
		"measure.pulse_wave_velocity": {412, 0}, "measure.vascular_age": {412, 0}, repliestest.Rejected: {4, 0},
	},
	"measurement_list_2.json": {
		"measuregrps": {34, 25}, "measure.weight": {17, 17}, "measure.fat_free_mass": {28, 14}, "measure.fat_ratio": {14, 14},
		"measure.fat_mass": {28, 0}, "measure.heart_pulse": {8, 8}, "measure.muscle_mass": {14, 14}, "measure.hydration": {14, 14},
		"measure.bone_mass": {14, 14}, "measure.visceral_fat": {14, 14}, "measure.extracellular_water": {14, 0},
		"measure.intracellular_water": {14, 0}, "measure.fat_free_mass_segment": {70, 0}, "measure.fat_mass_segment": {70, 0},
		"measure.muscle_mass_segment": {70, 0}, "measure.basal_metabolic_rate": {14, 0}, "measure.pulse_wave_velocity": {2, 0},
		"measure.vascular_age": {2, 0}, "measure.afib_ecg": {5, 0}, "measure.electrodermal_activity": {7, 0},
		"measure.electrodermal_activity_left": {7, 0}, "measure.electrodermal_activity_right": {7, 0},
	},
	"measurement_positions.json": {
		"measuregrps": {2, 2}, "measure.weight": {2, 2}, "measure.fat_free_mass": {4, 2}, "measure.fat_ratio": {2, 2},
		"measure.fat_mass": {4, 0}, "measure.muscle_mass": {2, 2}, "measure.hydration": {2, 2}, "measure.bone_mass": {2, 2},
		"measure.visceral_fat": {2, 2}, "measure.extracellular_water": {2, 0}, "measure.intracellular_water": {2, 0},
		"measure.fat_free_mass_segment": {10, 0}, "measure.fat_mass_segment": {10, 0}, "measure.muscle_mass_segment": {10, 0},
		"measure.basal_metabolic_rate": {2, 0},
	},
	"notify_list.json":                              {"notification": {1, 0}},
	"shimmer-withings-activity-measures.json":       {"activity": {4, 4}},
	"shimmer-withings-body-measures-only-goal.json": {"measuregrps goal": {1, 0}},
	"shimmer-withings-body-measures.json": {
		"measuregrps": {5, 5}, "measure.weight": {2, 2}, "measure.height": {1, 1}, "measure.diastolic": {1, 1}, "measure.systolic": {1, 1},
		"measure.heart_pulse": {3, 3}, "measure.body_temperature": {1, 1}, "measure.unknown_18": {3, 0},
	},
	"shimmer-withings-intraday-activity.json": {"intraday activity": {6, 4}},
	"shimmer-withings-sleep-measures.json":    {"sleep": {3, 3}},
	"shimmer-withings-sleep-summary.json":     {"sleep summary": {2, 2}},
	"sleep.json":                              {"sleep": {613, 613}, "sleep.snoring": {613, 0}},
	"sleep_no_datafields.json":                {"sleep": {613, 613}},
	"sleep_summary.json": {
		"sleep summary": {300, 300}, "sleep summary.apnea_hypopnea_index": {300, 0},
		"sleep summary.breathing_disturbances_intensity": {300, 0}, "sleep summary.snoring": {300, 0},
	},
	"workouts.json": {"workout": {11, 11}, "workout.elevation": {10, 0}, "workout.spo2_average": {1, 0}},
}

func TestImportRealReplies(t *testing.T) {
	repliestest.Real(t, Kind, "wearables/withings", realFiles)
}

func TestFilesOfOtherMakersAreRefused(t *testing.T) { repliestest.CheckRefused(t, Kind, "withings") }

// read decodes a real file by another reader.
func read(t *testing.T, name string, to any) string {
	t.Helper()
	path := testdata.Shared(t, "wearables/withings/"+name)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, to); err != nil {
		t.Fatal(err)
	}
	return path
}

type measures struct {
	Body struct {
		Timezone    string
		Measuregrps []struct {
			Date     int64
			Attrib   int
			Measures []struct {
				Value, Type int
				Unit        int
			}
		}
	}
}

func TestRealMeasures(t *testing.T) {
	var file measures
	path := read(t, "connectstats-getmeas.json", &file)
	zone, err := time.LoadLocation(file.Body.Timezone)
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		resource string
		kind     string
		at       int64
	}
	want, offsets := map[key]float64{}, map[int64]int32{}
	for _, g := range file.Body.Measuregrps {
		types := map[int]float64{}
		for _, m := range g.Measures {
			types[m.Type] = float64(m.Value) * math.Pow(10, float64(m.Unit))
		}
		kind := "unknown"
		switch {
		case g.Attrib == 2 || g.Attrib == 4:
			kind = "app"
		case types[10] > 0:
			kind = "cuff"
		case types[1] > 0:
			kind = "scale"
		}
		for number, resource := range map[int]string{1: "body_weight", 5: "lean_body_mass", 6: "body_fat", 10: "blood_pressure", 11: "heartrate"} {
			if v, ok := types[number]; ok {
				want[key{resource, kind, g.Date * 1e6}] = v
			}
		}
		_, seconds := time.Unix(g.Date, 0).In(zone).Zone()
		offsets[g.Date*1e6] = int32(seconds)
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		sheettest.Run(t, db, Kind, user, path)
		got := 0
		for _, s := range sheettest.Series(t, db, user) {
			for i, at := range s.Time {
				got++
				if v, ok := want[key{s.Resource, s.Source.Type, at}]; !ok || math.Abs(v-s.Value[i]) > 1e-9 || s.Offset[i] != offsets[at] {
					t.Fatalf("%s of %s at %v is %v at offset %d, want %v at %d", s.Resource, s.Source.Type, time.UnixMicro(at).UTC(), s.Value[i], s.Offset[i], v, offsets[at])
				}
			}
		}
		if got != len(want) || got < 1500 {
			t.Errorf("%d samples, want %d", got, len(want))
		}
	})
}

type nights struct {
	Body struct {
		Series []struct {
			Timezone           string
			Startdate, Enddate int64
			Date               string
			State              int
			HR, RR             map[string]float64
			Data               map[string]float64
		}
	}
}

func TestRealNights(t *testing.T) {
	var summaries, stretches nights
	paths := []string{read(t, "sleep_summary.json", &summaries), read(t, "sleep.json", &stretches)}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		for _, path := range paths {
			sheettest.Run(t, db, Kind, user, path)
		}
		byStart := map[int64]map[string]any{}
		for _, n := range filestest.Summaries(t, db, user, "sleep") {
			at, err := time.Parse(time.RFC3339, n["bedtime_start"].(string))
			if err != nil {
				t.Fatal(err)
			}
			byStart[at.Unix()] = n
		}
		if len(byStart) != len(summaries.Body.Series) { // the stretches made none beside them
			t.Errorf("%d nights, want %d", len(byStart), len(summaries.Body.Series))
		}
		for _, want := range summaries.Body.Series {
			zone, err := time.LoadLocation(want.Timezone)
			if err != nil {
				t.Fatal(err)
			}
			_, offset := time.Unix(want.Enddate, 0).In(zone).Zone()
			d := want.Data
			filestest.CompareJSON(t, byStart[want.Startdate], map[string]any{
				"calendar_date": want.Date, "duration": float64(want.Enddate - want.Startdate), "total": d["total_sleep_time"],
				"awake": d["wakeupduration"], "light": d["lightsleepduration"], "deep": d["deepsleepduration"], "rem": d["remsleepduration"],
				"latency": d["sleep_latency"], "hr_average": d["hr_average"], "hr_lowest": d["hr_min"], "respiratory_rate": d["rr_average"],
				"score": d["sleep_score"], "efficiency": math.Round(1e4*d["sleep_efficiency"]) / 100, "timezone_offset": float64(offset),
			})
		}
		checkStages(t, filestest.Summaries(t, db, user, "sleep_cycle"), &stretches)
		beats, breaths := map[int64]float64{}, map[int64]float64{}
		for _, s := range stretches.Body.Series {
			repliestest.Seconds(t, beats, s.HR)
			repliestest.Seconds(t, breaths, s.RR)
		}
		all := sheettest.Series(t, db, user)
		repliestest.SameSamples(t, sheettest.Find(t, all, "heartrate", "", "unknown"), beats)
		repliestest.SameSamples(t, sheettest.Find(t, all, "respiratory_rate", "", "unknown"), breaths)
	})
}

// checkStages lays the stretches over the cycles: every second of a stretch is
// in its stage.
func checkStages(t *testing.T, cycles []map[string]any, want *nights) {
	t.Helper()
	stageAt := map[int64]float64{} // by ten seconds
	for _, c := range cycles {
		start, err := time.Parse(time.RFC3339, c["session_start"].(string))
		if err != nil {
			t.Fatal(err)
		}
		from, to, kind := c["stage_start_offset_second"].([]any), c["stage_end_offset_second"].([]any), c["stage_type"].([]any)
		for i := range kind {
			for at := int64(from[i].(float64)); at < int64(to[i].(float64)); at++ {
				stageAt[start.Unix()+at] = kind[i].(float64)
			}
		}
	}
	seconds := 0
	for _, s := range want.Body.Series {
		for at := s.Startdate; at < s.Enddate; at++ {
			seconds++
			if stageAt[at] != []float64{4, 2, 1, 3}[s.State] {
				t.Fatalf("%v is in stage %v, want state %d", time.Unix(at, 0).UTC(), stageAt[at], s.State)
			}
		}
	}
	if seconds != len(stageAt) {
		t.Errorf("%d seconds in stages, want %d", len(stageAt), seconds)
	}
}

func TestRealDaysAndWorkouts(t *testing.T) {
	var days struct {
		Body struct{ Activities []map[string]any }
	}
	var worked struct {
		Body struct {
			Series []struct {
				ID                 int64
				Startdate, Enddate int64
				Data               map[string]*float64
			}
		}
	}
	paths := []string{read(t, "shimmer-withings-activity-measures.json", &days), read(t, "workouts.json", &worked)}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		sheettest.Run(t, db, Kind, user, paths[0])
		byDay := map[any]map[string]any{}
		for _, got := range filestest.Summaries(t, db, user, "activity") {
			byDay[got["calendar_date"]] = got
		}
		for _, d := range days.Body.Activities {
			offset := -7 * 3600.0 // summer in Los Angeles
			if d["date"].(string) < "2015-03" {
				offset = -8 * 3600
			}
			filestest.CompareJSON(t, byDay[d["date"]], map[string]any{
				"steps": d["steps"], "distance": d["distance"], "calories_active": d["calories"],
				"low": d["soft"].(float64) / 60, "medium": d["moderate"].(float64) / 60, "high": d["intense"].(float64) / 60,
				"time_zone": d["timezone"], "timezone_offset": offset, "calories_total": nil,
			})
		}
		sheettest.Run(t, db, Kind, user, paths[1])
		byStart := map[int64]map[string]any{}
		for _, w := range filestest.Summaries(t, db, user, "workouts") {
			at, err := time.Parse(time.RFC3339, w["time_start"].(string))
			if err != nil {
				t.Fatal(err)
			}
			byStart[at.Unix()] = w
		}
		starts := map[int64]bool{}
		for _, w := range worked.Body.Series {
			starts[w.Startdate] = true
			want := map[string]any{"timezone_offset": 7200.0}
			if steps := w.Data["steps"]; steps != nil {
				want["steps"] = *steps
			}
			if manual := w.Data["manual_distance"]; manual != nil && *manual > 0 {
				want["distance"] = *manual
			}
			filestest.CompareJSON(t, byStart[w.Startdate], want)
		}
		if len(byStart) != len(starts) {
			t.Errorf("%d workouts, want %d", len(byStart), len(starts))
		}
	})
}
