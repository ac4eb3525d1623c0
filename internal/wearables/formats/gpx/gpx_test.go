package gpx

import (
	"encoding/xml"
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
)

// importResult holds the outcome of one file.
type importResult struct {
	Types     map[string]*files.TypeCount `json:"types"`
	Resources map[string]int              `json:"created"`
	Damaged   int64                       `json:"damaged,omitempty"`
	Truncated bool                        `json:"truncated,omitempty"`
	Refused   string                      `json:"refused,omitempty"`
	Workouts  []map[string]any            `json:"workouts"`
}

func importPath(t *testing.T, db *store.DB, path string) importResult {
	t.Helper()
	bed := filestest.New(t, db)
	o, err := bed.Import(Kind, path)
	s := importResult{Types: o.Types, Resources: map[string]int{}, Damaged: o.Damaged, Truncated: o.Truncated}
	if err != nil {
		s.Refused = err.Error()
	}
	for name, c := range o.Resources {
		s.Resources[name] = c.Created
	}
	for _, w := range bed.Workouts() {
		one := map[string]any{"rows": len(w.Stream.Time), "heart": len(w.Stream.HeartRate)}
		for _, name := range []string{"title", "time_start", "time_end", "timezone_offset", "distance", "moving_time", "average_hr", "elev_high", "elev_low", "sport", "hr_zones"} {
			one[name] = w.Body[name]
		}
		s.Workouts = append(s.Workouts, one)
	}
	return s
}

func TestGoldenPublicFiles(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(testdata.Shared(t, "wearables/gpx"), "*.gpx"))
	if err != nil || len(names) < 10 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	db := storetest.SQLite(t)
	all := map[string]importResult{}
	for _, name := range names {
		all[strings.TrimSuffix(filepath.Base(name), ".gpx")] = importPath(t, db, name)
	}
	filestest.CompareGolden(t, "public.golden.json", all)
}

// document is GPX as encoding/xml reads it.
type document struct {
	Tracks []plainTrack `xml:"trk"`
}

type plainTrack struct {
	Points []struct {
		Lat  float64 `xml:"lat,attr"`
		Lng  float64 `xml:"lon,attr"`
		Ele  float64 `xml:"ele"`
		Time string  `xml:"time"`
	} `xml:"trkseg>trkpt"`
}

// A different reader and a different formula for distances give the same course.
func TestPublicTrackAgainstEncodingXML(t *testing.T) {
	path := testdata.Shared(t, "wearables/gpx/gpxgo-korita-zbevnica.gpx")
	var want document
	filestest.Decode(t, path, xml.Unmarshal, &want)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		bed := filestest.New(t, db)
		if _, err := bed.Import(Kind, path); err != nil {
			t.Fatal(err)
		}
		byStart := map[int64]filestest.Workout{}
		for _, w := range bed.Workouts() {
			byStart[w.Stream.Time[0]] = w
		}
		if len(want.Tracks) != 4 || len(byStart) != 2 { // one is empty, one has no times
			t.Fatalf("%d workouts of %d tracks", len(byStart), len(want.Tracks))
		}
		for _, track := range want.Tracks {
			if len(track.Points) > 0 && track.Points[0].Time != "" {
				start, err := time.Parse(time.RFC3339, track.Points[0].Time)
				if err != nil {
					t.Fatal(err)
				}
				compareTrack(t, byStart[start.UnixMicro()], track)
			}
		}
	})
}

func compareTrack(t *testing.T, w filestest.Workout, want plainTrack) {
	t.Helper()
	points, s := want.Points, w.Stream
	if s == nil || len(s.Time) != len(points) {
		t.Fatalf("another number of rows than %d points", len(points))
	}
	metres := 0.0
	for i, p := range points {
		if s.Lat[i] != p.Lat || s.Lng[i] != p.Lng || s.Altitude[i] != p.Ele {
			t.Fatalf("row %d: %v %v %v, want %+v", i, s.Lat[i], s.Lng[i], s.Altitude[i], p)
		}
		if i > 0 {
			metres += flatDistance(points[i-1].Lat, points[i-1].Lng, p.Lat, p.Lng)
		}
	}
	if got := w.Body["distance"].(float64); math.Abs(got-metres) > metres/1000 {
		t.Errorf("%v m, want %v", got, metres)
	}
}

// flatDistance returns the distance in metres on a flat map. This is exact enough between
// two successive points.
func flatDistance(lat1, lng1, lat2, lng2 float64) float64 {
	const perDegree = 111_195
	y, x := (lat2-lat1)*perDegree, (lng2-lng1)*perDegree*math.Cos(lat1*math.Pi/180)
	return math.Hypot(x, y)
}
