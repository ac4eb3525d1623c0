package imports_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
)

// scenario is a running service with one user.
type scenario struct {
	*apptest.Service
	t    *testing.T
	user string
}

func newScenario(t *testing.T, d storetest.Database) *scenario {
	t.Helper()
	s := &scenario{Service: apptest.Start(t, d), t: t}
	var user struct {
		ID string `json:"user_id"`
	}
	s.Expect(200, "POST", "/v2/user/", `{"client_user_id": "ann"}`, &user)
	s.user = user.ID
	return s
}

// eventKey is an import as the API shows it.
type eventKey struct {
	ID, Kind, Status string
	Error            *string
	Created          int
	Updated          int
	Skipped          int
	Report           *struct {
		Workouts  int
		Truncated bool
		Types     map[string]map[string]int
	}
}

// send uploads a file and waits until its import is over.
func (s *scenario) send(raw []byte) eventKey {
	s.t.Helper()
	var i eventKey
	s.Expect(202, "POST", "/v2/user/"+s.user+"/imports", string(raw), &i)
	for range 600 {
		if s.Get("/v2/user/"+s.user+"/imports/"+i.ID, &i); i.Status != "queued" && i.Status != "running" {
			return i
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("the import is still %s", i.Status)
	return i
}

// A ride is uploaded, read back with its course, and announced.
func TestRideScenario(t *testing.T) {
	raw, err := os.ReadFile(testdata.Shared(t, "wearables/fit/fitparse-garmin-edge-820-bike.fit"))
	if err != nil {
		t.Fatal(err)
	}
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := newScenario(t, d)
		done := s.send(raw)
		if done.Kind != "fit" || done.Status != "succeeded" || done.Report.Workouts != 1 || done.Report.Types["record"]["mapped"] != 15 {
			t.Fatalf("%+v, %+v", done, done.Report)
		}
		var list struct {
			Workouts []struct {
				ID       string
				Distance float64
				Offset   int   `json:"timezone_offset"`
				HR       int   `json:"average_hr"`
				Zones    []int `json:"hr_zones"`
				Sport    struct{ Slug string }
				Source   struct{ Provider, Type string }
				Map      struct{ Polyline string }
			}
		}
		s.Get("/v2/summary/workouts/"+s.user+"?start_date=2017-06-12&end_date=2017-06-12", &list)
		if len(list.Workouts) != 1 {
			t.Fatalf("%+v", list)
		}
		w := list.Workouts[0]
		if w.Distance != 457.12 || w.Offset != -25200 || w.HR != 116 || len(w.Zones) != 6 || w.Sport.Slug != "cycling" ||
			w.Source.Provider != "garmin" || w.Source.Type != "watch" || w.Map.Polyline == "" {
			t.Errorf("%+v", w)
		}
		var course struct {
			Time      []int64
			Heartrate []int
			Distance  []float64
			Cadence   []float64
		}
		s.Get("/v2/timeseries/workouts/"+w.ID+"/stream", &course)
		if len(course.Time) != 15 || course.Time[0] != 1497283815 || course.Heartrate[0] != 101 || course.Distance[1] != 41.58 || course.Cadence[0] < 69 {
			t.Errorf("%+v", course)
		}
		events := s.events()
		for kind, n := range map[string]int{
			"daily.data.workouts.created": 1, "daily.data.workout_stream.created": 1, "daily.data.heartrate.created": 1,
			"provider.connection.created": 1, "provider.device.created": 1, "historical.data.workouts.created": 0,
		} {
			if events[kind] != n {
				t.Errorf("%d of %s, want %d; all: %v", events[kind], kind, n, events)
			}
		}
		if again := s.send(raw); again.Created+again.Updated != 0 {
			t.Errorf("the second time: %+v", again)
		}
		if after := s.events(); len(after) != len(events) || after["daily.data.workouts.created"] != 1 || after["daily.data.workouts.updated"] != 0 {
			t.Errorf("a repeated import announced something: %v, before %v", after, events)
		}
	})
}

// events counts what the event feed has, by type.
func (s *scenario) events() map[string]int {
	s.t.Helper()
	counts := map[string]int{}
	for range 1200 { // events are numbered a moment after they are written
		clear(counts)
		var feed struct {
			Events []struct {
				Type string `json:"event_type"`
			} `json:"events"`
		}
		s.Get("/v2/events?after=0&limit=1000", &feed)
		for _, e := range feed.Events {
			counts[e.Type]++
		}
		if counts["daily.data.workouts.created"] > 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return counts
}

// A file that is no export, or has no usable data, is refused with a clear error.
func TestBadFilesScenario(t *testing.T) {
	s := newScenario(t, storetest.NewSQLite(t))
	for text, says := range map[string]string{
		"%PDF-1.4": "none of those that can be imported", `<kml><Document/></kml>`: "none of those",
	} {
		status, body := s.Call("POST", "/v2/user/"+s.user+"/imports", text)
		if status != 422 || !strings.Contains(string(body), says) {
			t.Errorf("%q: %d %s", text, status, body)
		}
	}
	if status, body := s.Call("POST", "/v2/user/"+s.user+"/imports?kind=fit", "<gpx></gpx>"); status != 422 || !strings.Contains(string(body), "not a FIT file") {
		t.Errorf("%d %s", status, body)
	}
	for name, c := range map[string]struct{ raw, says string }{
		"GPX without times": {`<gpx><trk><trkseg><trkpt lat="1" lon="2"/><trkpt lat="1" lon="3"/></trkseg></trk></gpx>`, "no times"},
		"FIT without data":  {"\x0e\x10\x00\x00\x00\x00\x00\x00.FIT\x00\x00", "damaged"},
		"TCX without data":  {`<TrainingCenterDatabase></TrainingCenterDatabase>`, "no activity"},
	} {
		i := s.send([]byte(c.raw))
		if i.Status != "failed" || i.Error == nil || !strings.Contains(*i.Error, c.says) {
			raw, _ := json.Marshal(i)
			t.Errorf("%s: %s", name, raw)
		}
	}
}

// Every public file is recognised by its content as what it is.
func TestKindsAreRecognised(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	for kind, folder := range map[string]string{"fit": "wearables/fit", "tcx": "wearables/tcx", "gpx": "wearables/gpx"} {
		names, err := filepath.Glob(filepath.Join(testdata.Shared(t, folder), "*."+kind))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no files, %v", kind, err)
		}
		for _, name := range names {
			file, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			up, err := b.service.Receive(b.ctx, "", file)
			file.Close()
			if err != nil || up.Kind != kind {
				t.Errorf("%s: %+v, %v", filepath.Base(name), up, err)
				continue
			}
			up.Discard()
		}
	}
}
