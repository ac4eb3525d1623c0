package ihealth

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
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

// realFiles has the expected outcome of each of the public samples.
var realFiles = map[string]repliestest.File{
	"activity.json": {"activity": {2, 2}},
	"bp.json":       {"blood pressure": {2, 2}},
	"glucose.json":  {"glucose": {2, 2}},
	"sleep.json":    {"sleep": {3, 3}, "sleep.Awaken": {2, 0}},
	"spo2.json":     {"oxygen": {2, 2}},
	"sport.json":    {"sport": {2, 2}},
	"weight.json":   {"weight": {2, 2}, "weight.DCI": {1, 0}},
}

func TestImportRealReplies(t *testing.T) {
	repliestest.Real(t, Kind, "wearables/ihealth", realFiles)
}

func TestFilesOfOtherMakersAreRefused(t *testing.T) { repliestest.CheckRefused(t, Kind, "ihealth") }

// record is one of a real file's by another reader.
type record struct {
	MDate, LastChangeTime, StartTime, EndTime int64
	SportStartTime                            int64
	TimeZone                                  any
	DataSource                                string
	HP, LP, HR, BG, BO                        float64
	WeightValue, FatValue, BMI, WaterValue    float64
	Steps, Calories, DistanceTraveled         float64
	HoursSlept, SleepEfficiency               float64
}

// seconds returns the offset of the record's clock from UTC.
func (r *record) seconds(t *testing.T) int64 {
	t.Helper()
	if hours, ok := r.TimeZone.(float64); ok {
		return int64(hours) * 3600
	}
	n, err := strconv.ParseInt(r.TimeZone.(string), 10, 64) // -0830 is -830
	if err != nil {
		t.Fatal(err)
	}
	return n/100*3600 + n%100*60
}

func read(t *testing.T, name, list string) []record {
	t.Helper()
	raw, err := os.ReadFile(testdata.Shared(t, "wearables/ihealth/"+name))
	if err != nil {
		t.Fatal(err)
	}
	var page map[string]json.RawMessage
	var all []record
	if err := json.Unmarshal(raw, &page); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(page[list], &all); err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	return all
}

// Measurements of a device were sent within a minute, by the clock in UTC: so the times
// of measurements are local.
func TestRealTimesAreLocalClockTimes(t *testing.T) {
	for _, file := range []struct{ name, list string }{{"bp.json", "BPDataList"}, {"glucose.json", "BGDataList"}, {"weight.json", "WeightDataList"}} {
		one := read(t, file.name, file.list)[0]
		if delay := one.LastChangeTime - (one.MDate - one.seconds(t)); one.DataSource != "FromDevice" || delay < 0 || delay > 60 {
			t.Errorf("%s: reported %d s later", file.name, delay)
		}
	}
	one := read(t, "sport.json", "SPORTDataList")[0]
	if delay := one.LastChangeTime - one.SportStartTime; delay < 0 || delay > 60 {
		t.Errorf("a sport is reported %d s after its start", delay)
	}
}

func TestRealValues(t *testing.T) {
	pressures, sugars := read(t, "bp.json", "BPDataList"), read(t, "glucose.json", "BGDataList")
	weights, saturations := read(t, "weight.json", "WeightDataList"), read(t, "spo2.json", "BODataList")
	days, nights := read(t, "activity.json", "ARDataList"), read(t, "sleep.json", "SRDataList")
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		for name := range realFiles {
			sheettest.Run(t, db, Kind, user, filepath.Join(testdata.Shared(t, "wearables/ihealth"), name))
		}
		all := sheettest.Series(t, db, user)
		find := func(resource, device string, r *record, want float64) {
			t.Helper()
			if r.DataSource == "Manual" {
				device = "app"
			}
			at, offset := (r.MDate-r.seconds(t))*1e6, int32(r.seconds(t))
			for _, s := range all {
				for i := range s.Time {
					if s.Resource == resource && s.Source.Type == device && s.Time[i] == at && s.Offset[i] == offset && math.Abs(s.Value[i]-want) < 1e-9 {
						return
					}
				}
			}
			t.Errorf("no %s %v of %s at %v", resource, want, device, time.UnixMicro(at).UTC())
		}
		for i := range pressures {
			find("blood_pressure", "cuff", &pressures[i], pressures[i].HP)
			find("heartrate", "cuff", &pressures[i], pressures[i].HR)
		}
		for i := range sugars {
			find("glucose", "fingerprick", &sugars[i], sugars[i].BG/18.0182)
		}
		for i := range weights {
			find("body_weight", "scale", &weights[i], weights[i].WeightValue)
			find("body_mass_index", "scale", &weights[i], weights[i].BMI)
		}
		find("body_fat", "scale", &weights[0], weights[0].FatValue)
		for i := range saturations {
			find("blood_oxygen", "unknown", &saturations[i], saturations[i].BO)
			find("heartrate", "unknown", &saturations[i], saturations[i].HR)
		}
		byDay := map[any]map[string]any{}
		for _, day := range filestest.Summaries(t, db, user, "activity") {
			byDay[day["calendar_date"]] = day
		}
		for _, d := range days {
			filestest.CompareJSON(t, byDay[time.Unix(d.MDate, 0).UTC().Format(time.DateOnly)], map[string]any{
				"steps": d.Steps, "calories_total": d.Calories, "distance": math.Round(d.DistanceTraveled*1e5) / 100,
			})
		}
		byStart := map[string]map[string]any{}
		for _, n := range filestest.Summaries(t, db, user, "sleep") {
			byStart[n["bedtime_start"].(string)[:19]] = n
		}
		for _, n := range nights {
			filestest.CompareJSON(t, byStart[time.Unix(n.StartTime-n.seconds(t), 0).UTC().Format("2006-01-02T15:04:05")], map[string]any{
				"total": 60 * n.HoursSlept, "efficiency": n.SleepEfficiency, "duration": float64(n.EndTime - n.StartTime),
				"calendar_date": time.Unix(n.EndTime, 0).UTC().Format(time.DateOnly),
			})
		}
	})
}
