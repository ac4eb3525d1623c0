package googlefit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies/repliestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

func TestImportRealDatasets(t *testing.T) {
	repliestest.Real(t, Kind, "wearables/google-fit", map[string]repliestest.File{
		"activity-segments.json":                          {"activity.segment": {3, 3}},
		"activity-segments-only-sleep.json":               {"activity.segment": {1, 1}},
		"activity-segments-only-stationary-activity.json": {"activity.segment": {1, 0}},
		"calories-expended.json":                          {"calories.expended": {3, 3}},
		"heart-rate.json":                                 {"heart_rate.bpm": {2, 2}},
		"height.json":                                     {"height": {2, 2}},
		"location-samples.json":                           {"location.sample": {2, 0}},
		"speed.json":                                      {"speed": {2, 0}},
		"step-deltas.json":                                {"step_count.delta": {4, 4}},
		"weight.json":                                     {"weight": {3, 3}},
	})
}

func TestFilesOfOtherMakersAreRefused(t *testing.T) { repliestest.CheckRefused(t, Kind, "google-fit") }

// realPoint is a point in the test's own types.
type realPoint struct {
	StartTimeNanos, EndTimeNanos, OriginDataSourceID string
	Value                                            []struct{ IntVal, FpVal float64 }
}

func realPoints(t *testing.T, name string) (path string, points []realPoint) {
	t.Helper()
	path = filepath.Join(testdata.Shared(t, "wearables/google-fit"), name+".json")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var reply struct{ Point []realPoint }
	if err := json.Unmarshal(raw, &reply); err != nil {
		t.Fatal(err)
	}
	return path, reply.Point
}

func micros(t *testing.T, nanos string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(nanos, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n / 1000
}

// Each point is stored with its time, its value and its app.
func TestRealValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		for _, of := range []struct {
			file, resource string
			amount         bool
		}{{"heart-rate", "heartrate", false}, {"weight", "body_weight", false}, {"step-deltas", "steps", true}} {
			path, points := realPoints(t, of.file)
			sheettest.Run(t, db, Kind, user, path)
			all := sheettest.Series(t, db, user)
			for _, want := range points {
				app := strings.Split(want.OriginDataSourceID, ":")[2]
				found := false
				for _, s := range all {
					for i := range s.Time {
						if s.Resource == of.resource && s.Source.AppID == app && s.Time[i] == micros(t, want.StartTimeNanos) {
							found = s.Value[i] == want.Value[0].FpVal+want.Value[0].IntVal && (!of.amount || s.End[i] == micros(t, want.EndTimeNanos))
						}
					}
				}
				if !found {
					t.Errorf("%s: a point of %s is missing", of.file, app)
				}
			}
		}
	})
}

func TestRealSessions(t *testing.T) {
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	path, segments := realPoints(t, "activity-segments")
	sheettest.Run(t, db, Kind, user, path)
	found := map[int64]map[string]any{}
	for _, w := range filestest.Summaries(t, db, user, "workouts") {
		found[instant(t, w["time_start"])] = w
	}
	for _, want := range segments {
		w := found[micros(t, want.StartTimeNanos)]
		filestest.CompareJSON(t, w, map[string]any{"timezone_offset": nil})
		filestest.CompareJSON(t, w["sport"], map[string]any{"slug": map[float64]string{7: "walking", 8: "running", 9: "aerobics"}[want.Value[0].IntVal]})
		if w != nil && instant(t, w["time_end"]) != micros(t, want.EndTimeNanos) {
			t.Errorf("a workout ends at %v", w["time_end"])
		}
	}
	path, slept := realPoints(t, "activity-segments-only-sleep")
	sheettest.Run(t, db, Kind, user, path)
	nights := filestest.Summaries(t, db, user, "sleep")
	if len(nights) != 1 {
		t.Fatalf("%d nights", len(nights))
	}
	start, end := micros(t, slept[0].StartTimeNanos), micros(t, slept[0].EndTimeNanos)
	if instant(t, nights[0]["bedtime_start"]) != start || instant(t, nights[0]["bedtime_stop"]) != end {
		t.Errorf("%v to %v", nights[0]["bedtime_start"], nights[0]["bedtime_stop"])
	}
	filestest.CompareJSON(t, nights[0], map[string]any{"total": float64(end-start) / 1e6, "type": "short_sleep", "deep": 0.0})
	filestest.CompareJSON(t, nights[0]["source"], map[string]any{"type": "app", "provider": "google_fit"})
}

// instant parses an instant as the API writes it. It returns UTC microseconds.
func instant(t *testing.T, v any) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339, v.(string))
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMicro()
}

// The basal and the active energy of a day add up to all energy.
func TestRealEnergy(t *testing.T) {
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	path, points := realPoints(t, "calories-expended")
	sheettest.Run(t, db, Kind, user, path)
	all, got := 0.0, 0.0
	for _, p := range points {
		all += p.Value[0].FpVal
	}
	for _, s := range sheettest.Series(t, db, user) {
		if s.Resource == "calories_basal" || s.Resource == "calories_active" {
			for _, v := range s.Value {
				got += v
			}
		}
	}
	if d := got - all; d > 1e-6 || d < -1e-6 {
		t.Errorf("%v kcal of %v", got, all)
	}
	path, heights := realPoints(t, "height")
	sheettest.Run(t, db, Kind, user, path)
	if p := filestest.Summaries(t, db, user, "profile"); len(p) != 1 || p[0]["height"] != float64(int(100*heights[1].Value[0].FpVal+0.5)) {
		t.Errorf("profile %v", p)
	}
}
