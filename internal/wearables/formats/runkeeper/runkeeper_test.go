package runkeeper

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
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

func TestImportFeed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "Europe/Berlin")
		o := sheettest.Run(t, db, Kind, user, fixture("feed.json"))
		filestest.Types(t, o, map[string]files.TypeCount{
			"fitness_activity":           {Read: 6, Mapped: 3, BadDate: 2, BadValue: 1},
			"strength_training_activity": {Read: 1, Skipped: 1}, "other": {Read: 1, Skipped: 1},
		})
		if o.Records != 8 || o.Mapped != 3 {
			t.Errorf("%+v", o.Report)
		}
		byID := map[any]map[string]any{}
		for _, w := range filestest.Summaries(t, db, user, "workouts") {
			byID[w["provider_id"]] = w
			if source := w["source"].(map[string]any); source["provider"] != "runkeeper" || source["type"] != "app" {
				t.Errorf("%v", source)
			}
		}
		for id, want := range map[string]map[string]any{
			"3001": {
				"sport": "running", "time_start": "2025-06-02T05:30:00+00:00", "time_end": "2025-06-02T06:00:30.500000+00:00", "calendar_date": "2025-06-02", "timezone_offset": 7200.0,
				"moving_time": 1831.0, "distance": 5120.75, "calories": 150.25, "average_speed": 2.797, "average_hr": nil, "title": nil,
			},
			"3002": {"sport": "walking", "time_start": "2025-06-02T01:30:00+00:00", "calendar_date": "2025-06-01", "timezone_offset": -12600.0, "distance": nil, "calories": nil},
			"3003": {"sport": "cycling", "time_start": "2025-05-31T10:00:00+00:00", "timezone_offset": 7200.0}, // by the fallback zone
		} {
			if byID[id] == nil {
				t.Fatalf("no %s", id)
			}
			byID[id]["sport"] = byID[id]["sport"].(map[string]any)["slug"]
			filestest.CompareJSON(t, byID[id], want)
		}
	})
}

// Without an offset and without a fallback zone the time floats.
func TestFloatingTime(t *testing.T) {
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	sheettest.Run(t, db, Kind, user, fixture("feed.json"))
	for _, w := range filestest.Summaries(t, db, user, "workouts") {
		if w["provider_id"] == "3003" && (w["time_start"] != "2025-05-31T12:00:00+00:00" || w["timezone_offset"] != nil) {
			t.Errorf("%v %v", w["time_start"], w["timezone_offset"])
		}
	}
}

// An activity with its course and the same activity in the feed are one workout.
func TestActivityOfTheFeed(t *testing.T) {
	bed := filestest.New(t, storetest.SQLite(t))
	for _, step := range []struct {
		name             string
		created, updated int
	}{{"feed.json", 3, 0}, {"activity.json", 3, 1}, {"activity.json", 0, 0}, {"feed.json", 0, 0}} {
		o, err := bed.Import(Kind, fixture(step.name))
		if err != nil {
			t.Fatal(err)
		}
		if o.Created != step.created || o.Updated != step.updated { // the course: two heart rates and a stream
			t.Errorf("%s: %+v", step.name, o.Counts)
		}
	}
	if got := bed.Events()["daily.data.workouts.updated"]; got != 1 {
		t.Errorf("%d updates", got)
	}
	for _, w := range bed.Workouts() {
		if w.Body["provider_id"] != "3001" {
			continue
		}
		if w.Body["average_hr"] != 115.0 || w.Body["max_hr"] != 120.0 || w.Body["total_elevation_gain"] != 31.5 || w.Body["elev_high"] != 35.5 {
			t.Errorf("%v", w.Body)
		}
		s := w.Stream
		if s == nil || len(s.Time) != 4 || s.Time[3]-s.Time[0] != 30e6 {
			t.Fatalf("%+v", s)
		}
		if s.HeartRate[1] != 120 || s.Lat[1] != 52.5002 || s.Altitude[1] != 35.5 || s.Distance[2] != 57 || !math.IsNaN(s.Lat[2]) || s.Lng[3] != 13.4006 {
			t.Errorf("%+v", s)
		}
	}
}

// An average without beats is Runkeeper's own.
func TestStatedHeartRate(t *testing.T) {
	bed := filestest.New(t, storetest.SQLite(t))
	for _, more := range []string{`"average_heart_rate":131`, `"has_path":false`} { // the feed does not have it
		content := `{"utc_offset":0,"duration":60,"start_time":"Mon, 2 Jun 2025 07:30:00","total_distance":1,"type":"Running","uri":"/fitnessActivities/1",` + more + `}`
		if _, err := bed.Import(Kind, filestest.Save(t, []byte(content))); err != nil {
			t.Fatal(err)
		}
	}
	if got := bed.Workouts()[0].Body["average_hr"]; got != 131.0 {
		t.Errorf("%v", got)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	filestest.CheckRefused(t, Kind, map[string]string{
		"an empty feed": `{"items":[],"size":0}`, "nothing": "", "text": "Date,Type,Distance\n", "zip": "PK\x03\x04",
		"of another": `{"items":[{"uri":"/weight/1","weight":70,"start_time":"x","duration":1,"type":"a"}]}`,
	})
	repliestest.CheckRefused(t, Kind, "runkeeper")
}

func TestDamage(t *testing.T) {
	const one = `{"utc_offset":0,"duration":60,"start_time":"Mon, 2 Jun 2025 07:30:00","total_distance":1,"type":"Running","uri":"/fitnessActivities/1"}`
	for name, test := range map[string]struct {
		content         string
		mapped, damaged int64
		truncated       bool
	}{
		"whole":                {`{"items":[` + one + `,` + one + `]}`, 2, 0, false},
		"cut in the second":    {`{"items":[` + one + `,{"utc`, 1, 0, true},
		"cut behind the first": {`[` + one, 1, 0, true},
		"no JSON from here":    {one + `}`, 1, 1, true},
		"no object":            {`[` + one + `,1]`, 1, 1, false},
	} {
		g := repliestest.Gather(t, maker, nil, []byte(test.content))
		if g.Err != nil || g.Report.Mapped != test.mapped || g.Report.Damaged != test.damaged || g.Report.Truncated != test.truncated {
			t.Errorf("%s: %v %+v", name, g.Err, g.Report)
		}
	}
}

func TestRealFile(t *testing.T) {
	repliestest.Real(t, Kind, "wearables/runkeeper", map[string]repliestest.File{"fitness-activities.json": {"fitness_activity": {2, 2}}})

	var feed struct {
		Items []struct {
			URI      string   `json:"uri"`
			Start    string   `json:"start_time"`
			Offset   float64  `json:"utc_offset"`
			Duration float64  `json:"duration"`
			Distance float64  `json:"total_distance"`
			Calories *float64 `json:"total_calories"`
			Type     string   `json:"type"`
		} `json:"items"`
	}
	path := testdata.Shared(t, "wearables/runkeeper/fitness-activities.json")
	filestest.Decode(t, path, json.Unmarshal, &feed)
	bed := filestest.New(t, storetest.SQLite(t))
	if _, err := bed.Import(Kind, path); err != nil {
		t.Fatal(err)
	}
	all := bed.Workouts()
	if len(all) != 2 || len(feed.Items) != 2 {
		t.Fatalf("%d workouts", len(all))
	}
	for i, item := range feed.Items { // the sample's are in order
		got := all[i].Body
		start, err := time.Parse("Mon, 02 Jan 2006 15:04:05 -0700", fmt.Sprintf("%s %+05d", item.Start, int(item.Offset)*100))
		if err != nil {
			t.Fatal(err)
		}
		begun, err := time.Parse(time.RFC3339, got["time_start"].(string))
		if err != nil || !begun.Equal(start) {
			t.Errorf("began at %v, want %v", begun, start)
		}
		if !strings.HasSuffix(item.URI, "/"+got["provider_id"].(string)) || got["timezone_offset"] != item.Offset*3600 ||
			got["distance"] != math.Round(item.Distance*100)/100 || got["moving_time"] != math.Round(item.Duration) ||
			(got["calories"] == nil) != (item.Calories == nil) || got["sport"].(map[string]any)["name"] != item.Type {
			t.Errorf("workout %d differs", i)
		}
		if item.Calories != nil && got["calories"] != math.Round(*item.Calories*100)/100 {
			t.Errorf("workout %d has other calories", i)
		}
	}
}

func FuzzRead(f *testing.F) {
	filestest.Seed(f, "feed.json", "activity.json")
	f.Fuzz(func(t *testing.T, content []byte) {
		repliestest.Gather(t, maker, nil, content).Check(t)
	})
}
