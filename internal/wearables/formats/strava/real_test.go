package strava

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
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies/repliestest"
)

// The samples have streams in files of their own, without the activity that they belong
// to.
func TestRealFiles(t *testing.T) {
	repliestest.Real(t, Kind, "wearables/strava", map[string]repliestest.File{
		"connectstats-last_strava_search_0.json": {
			"activity": {30, 30}, "activity.kilojoules": {13, 0}, "activity.average_cadence": {29, 0}, "activity.average_temp": {30, 0}, "activity.suffer_score": {29, 0},
		},
		"connectstats-last_strava_search_1.json": {
			"activity": {30, 30}, "activity.kilojoules": {20, 0}, "activity.average_cadence": {28, 0}, "activity.average_temp": {30, 0}, "activity.suffer_score": {22, 0},
		},
		"connectstats-strava_laps_2674169797.json":   {"lap": {2, 0}},
		"connectstats-strava_laps_2675283580.json":   {"lap": {4, 0}},
		"connectstats-strava_stream_2674169797.json": {"stream": {7, 0}},
		"connectstats-strava_stream_2675283580.json": {"stream": {8, 0}},
		"stravalib-activity-manual.3.json":           {"activity": {1, 1}},
		"stravalib-activity.3.json": {
			"activity": {1, 1}, "activity.best_efforts": {1, 0}, "activity.segment_efforts": {1, 0}, "activity.splits_metric": {1, 0}, "activity.splits_standard": {1, 0},
		},
		"stravalib-athlete.2.json":             {"athlete": {1, 1}},
		"stravalib-example_zone_response.json": {"activity_zones": {2, 0}},
		"stravalib-strava_swagger.json":        nil,
	})
}

// statedFields is an activity of a sample by another reader.
type statedFields struct {
	ID         int64      `json:"id"`
	Name       string     `json:"name"`
	Type       string     `json:"type"`
	Start      time.Time  `json:"start_date"`
	Local      time.Time  `json:"start_date_local"`
	Elapsed    float64    `json:"elapsed_time"`
	Moving     float64    `json:"moving_time"`
	Distance   float64    `json:"distance"`
	Gain       float64    `json:"total_elevation_gain"`
	Calories   *float64   `json:"calories"`
	MeanHR     *float64   `json:"average_heartrate"`
	MaxHR      *float64   `json:"max_heartrate"`
	Watts      *float64   `json:"average_watts"`
	MaxWatts   *float64   `json:"max_watts"`
	Weighted   *float64   `json:"weighted_average_watts"`
	Metered    bool       `json:"device_watts"`
	Speed      float64    `json:"average_speed"`
	MaxSpeed   float64    `json:"max_speed"`
	High       *float64   `json:"elev_high"`
	Low        *float64   `json:"elev_low"`
	Map        statedMap  `json:"map"`
	StartPlace *[]float64 `json:"start_latlng"`
}

type statedMap struct {
	Polyline *string `json:"polyline"`
	Summary  *string `json:"summary_polyline"`
}

func decode(t *testing.T, name string, to any) {
	t.Helper()
	filestest.Decode(t, testdata.Shared(t, "wearables/strava/"+name), json.Unmarshal, to)
}

// slugs of the sports that the samples have.
var slugs = map[string]string{"Run": "running", "Ride": "cycling", "Hike": "hiking", "Workout": "other"}

// The test compares every activity of the samples, field by field.
func TestRealActivities(t *testing.T) {
	var want []statedFields
	names := []string{"connectstats-last_strava_search_0.json", "connectstats-last_strava_search_1.json", "stravalib-activity.3.json", "stravalib-activity-manual.3.json"}
	for _, name := range names {
		var some []statedFields
		if name[0] == 'c' {
			decode(t, name, &some)
		} else {
			some = make([]statedFields, 1)
			decode(t, name, &some[0])
		}
		want = append(want, some...)
	}
	folder := testdata.Shared(t, "wearables/strava")
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		bed := filestest.New(t, db)
		for _, name := range names {
			if _, err := bed.Import(Kind, filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
		byID := map[any]map[string]any{}
		for _, w := range bed.Summaries("workouts") {
			byID[w["provider_id"]] = w
		}
		if len(byID) != 62 || len(want) != 62 {
			t.Fatalf("%d workouts of %d activities", len(byID), len(want))
		}
		for _, a := range want {
			id := fmt.Sprint(a.ID)
			filestest.CompareJSON(t, byID[id], map[string]any{
				"title": strings.TrimSpace(a.Name), "calendar_date": a.Local.Format(time.DateOnly), "timezone_offset": a.Local.Sub(a.Start).Seconds(),
				"time_start": a.Start.Format("2006-01-02T15:04:05-07:00"), "time_end": a.Start.Add(time.Duration(a.Elapsed) * time.Second).Format("2006-01-02T15:04:05-07:00"),
				"moving_time": a.Moving, "distance": nilIfZero(a.Distance, 100), "total_elevation_gain": math.Round(a.Gain*100) / 100,
				"average_speed": nilIfZero(a.Speed, 1000), "max_speed": nilIfZero(a.MaxSpeed, 1000), "calories": number(a.Calories, 100),
				"average_hr": number(a.MeanHR, 1), "max_hr": number(a.MaxHR, 1), "elev_high": number(a.High, 100), "elev_low": number(a.Low, 100),
				"average_watts": number(a.Watts, 10), "max_watts": number(a.MaxWatts, 10), "weighted_average_watts": number(a.Weighted, 10),
			})
			metered := number(a.Watts, 10)
			if !a.Metered {
				metered = nil
			}
			filestest.CompareJSON(t, byID[id], map[string]any{"device_watts": metered})
			filestest.CompareJSON(t, byID[id]["sport"].(map[string]any), map[string]any{"slug": slugs[a.Type]})
			for field, line := range map[string]*string{"polyline": a.Map.Polyline, "summary_polyline": a.Map.Summary} {
				route, _ := byID[id]["map"].(map[string]any)
				if line != nil && *line != "" && route[field] != *line {
					t.Errorf("%s: the %s is another", id, field)
				}
			}
		}
	})
}

func nilIfZero(v, decimals float64) any {
	if v == 0 {
		return nil
	}
	return number(&v, decimals)
}

func number(v *float64, decimals float64) any {
	if v == nil {
		return nil
	}
	return math.Round(*v*decimals) / decimals
}

// The streams of two activities, each in a file with its activity, moment by
// moment.
func TestRealStreams(t *testing.T) {
	var list []json.RawMessage
	decode(t, "connectstats-last_strava_search_0.json", &list)
	for id, test := range map[int64]struct {
		strides bool
		watts   bool
	}{2674169797: {true, false}, 2675283580: {false, true}} {
		var all []struct {
			Type string            `json:"type"`
			Data []json.RawMessage `json:"data"`
		}
		var raw json.RawMessage
		name := fmt.Sprintf("connectstats-strava_stream_%d.json", id)
		decode(t, name, &all)
		decode(t, name, &raw)
		want := map[string][]json.RawMessage{}
		for _, s := range all {
			want[s.Type] = s.Data
		}
		var a statedFields
		content := []byte{}
		for _, one := range list {
			if err := json.Unmarshal(one, &a); err != nil {
				t.Fatal(err)
			}
			if a.ID == id {
				content = fmt.Appendf(nil, `{"activity":%s,"streams":%s}`, one, raw)
				break
			}
		}
		bed := filestest.New(t, storetest.SQLite(t))
		if _, err := bed.Import(Kind, filestest.Save(t, content)); err != nil {
			t.Fatal(err)
		}
		s := bed.Workouts()[0].Stream
		if s == nil || len(s.Time) != len(want["time"]) {
			t.Fatalf("%d: %+v", id, s)
		}
		factor := 1.0
		if test.strides {
			factor = 2
		}
		for _, column := range []struct {
			name   string
			got    []float64
			factor float64
		}{
			{"altitude", s.Altitude, 1},
			{"velocity_smooth", s.Velocity, 1},
			{"cadence", s.Cadence, factor},
			{"heartrate", s.HeartRate, 1},
			{"distance", s.Distance, 1},
			{"watts", s.Power, 1},
		} {
			for i, one := range want[column.name] {
				var v float64
				if err := json.Unmarshal(one, &v); err != nil {
					t.Fatal(err)
				}
				if column.got[i] != v*column.factor {
					t.Fatalf("%d: moment %d has %s %v, want %v", id, i, column.name, column.got[i], v*column.factor)
				}
			}
		}
		if test.watts != (s.Power != nil) {
			t.Errorf("%d: powers %v", id, len(s.Power))
		}
		for i := range s.Time {
			var after float64
			var place [2]float64
			if json.Unmarshal(want["time"][i], &after) != nil || json.Unmarshal(want["latlng"][i], &place) != nil {
				t.Fatal("no time or place")
			}
			if at := a.Start.Add(time.Duration(after) * time.Second).UnixMicro(); s.Time[i] != at || s.Lat[i] != place[0] || s.Lng[i] != place[1] {
				t.Fatalf("%d: moment %d at %d", id, i, s.Time[i])
			}
		}
		if hearts := bed.Samples("heartrate"); hearts.Len() != len(want["heartrate"]) {
			t.Errorf("%d: %d heart rates", id, hearts.Len())
		}
	}
}
