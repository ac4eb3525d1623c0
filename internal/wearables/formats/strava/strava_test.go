package strava

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/replies/repliestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

func fixture(name string) string { return filepath.Join("testdata", name) }

func TestImportExport(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		o := sheettest.Run(t, db, Kind, user, fixture("export.json"))
		filestest.Types(t, o, map[string]files.TypeCount{
			"activity": {Read: 10, Mapped: 5, BadDate: 3, BadValue: 1, Copies: 1}, // the details of one that the list has
			"stream":   {Read: 13, Mapped: 12, Unpaired: 1},
			"athlete":  {Read: 1, Mapped: 1}, "athlete.weight": {Read: 1, Skipped: 1},
			"lap": {Read: 1, Skipped: 1}, "athlete_stats": {Read: 1, Skipped: 1}, "athlete_zones": {Read: 1, Skipped: 1}, "activity_zones": {Read: 1, Skipped: 1},
			"stream moving": {Read: 1, Skipped: 1}, "stream grade_smooth": {Read: 1, Skipped: 1}, "other": {Read: 1, Skipped: 1},
			"activity.laps": {Read: 1, Skipped: 1}, "activity.splits_metric": {Read: 1, Skipped: 1},
			"activity.kilojoules": {Read: 2, Skipped: 2}, "activity.average_cadence": {Read: 2, Skipped: 2}, "activity.suffer_score": {Read: 2, Skipped: 2},
		})
		if o.Records != 31 || o.Mapped != 18 || o.Copies != 1 || o.Damaged != 0 || o.Truncated {
			t.Errorf("%+v", o.Report)
		}
		byID := map[any]map[string]any{}
		for _, w := range filestest.Summaries(t, db, user, "workouts") {
			byID[w["provider_id"]] = w
		}
		if len(byID) != 5 {
			t.Errorf("%d workouts", len(byID))
		}
		for id, want := range map[string]map[string]any{
			"1001": { // by the list, the details and the streams
				"title": "morning by the river", "calendar_date": "2025-06-01", "timezone_offset": 7200.0, "time_start": "2025-06-01T05:00:00+00:00", "time_end": "2025-06-01T05:31:40+00:00",
				"moving_time": 1800.0, "distance": 5400.5, "calories": 402.0, "average_hr": 142.0, "max_hr": 160.0, "total_elevation_gain": 21.0,
				"elev_high": 40.2, "elev_low": -3.5, "average_speed": 3.0, "max_speed": 4.5, "average_watts": nil,
			},
			"1002": {"average_watts": 150.4, "device_watts": 150.4, "weighted_average_watts": 163.0, "max_watts": 540.0, "calories": nil, "total_elevation_gain": 0.0},
			"1003": {"average_watts": 120.0, "device_watts": nil, "timezone_offset": 7200.0},
			"1004": {"title": nil, "timezone_offset": -5 * 3600.0, "calendar_date": "2025-01-10", "distance": nil, "average_speed": nil},
			"1009": {"calories": 300.5, "max_speed": nil, "average_speed": 0.625, "map": nil},
		} {
			filestest.CompareJSON(t, byID[id], want)
		}
		for id, slug := range map[string]string{"1001": "running", "1002": "cycling", "1004": "hiit", "1009": "swimming"} {
			filestest.CompareJSON(t, byID[id]["sport"].(map[string]any), map[string]any{"slug": slug})
			filestest.CompareJSON(t, byID[id]["source"].(map[string]any), map[string]any{"provider": "strava", "type": "app", "app_id": nil})
		}
		filestest.CompareJSON(t, byID["1001"]["map"].(map[string]any), map[string]any{"polyline": "_p~iF~ps|U_ulLnnqC_mqNvxq`@", "summary_polyline": "_p~iF~ps|U_ulLnnqC"})
		filestest.CompareJSON(t, filestest.Summaries(t, db, user, "profile")[0], map[string]any{"sex": "female", "height": nil})
		if got := filestest.Summaries(t, db, user, "body"); len(got) != 0 {
			t.Errorf("a weight without a day became %v", got)
		}
		hearts := sheettest.Find(t, sheettest.Series(t, db, user), "heartrate", "", "app")
		if hearts.Len() != 7 { // four of the run: one is missing and one is of a strap that was off
			t.Errorf("%+v", hearts)
		}
	})
}

// Repeated data changes nothing and sends no event, and neither does a reply with fewer
// fields.
func TestRepeatedImport(t *testing.T) {
	db := storetest.SQLite(t)
	bed := filestest.New(t, db)
	if _, err := bed.Import(Kind, fixture("export.json")); err != nil {
		t.Fatal(err)
	}
	events := bed.Events()
	if events["daily.data.workouts.created"] != 5 || events["daily.data.workout_stream.created"] != 2 {
		t.Errorf("%v", events)
	}
	for _, name := range []string{"export.json", "list.json"} {
		o, err := bed.Import(Kind, fixture(name))
		if err != nil {
			t.Fatal(err)
		}
		if o.Created+o.Updated != 0 {
			t.Errorf("%s again: %+v", name, o.Counts)
		}
	}
	for kind, n := range bed.Events() {
		if events[kind] != n {
			t.Errorf("%d %s, before %d", n, kind, events[kind])
		}
	}
}

func TestStreams(t *testing.T) {
	db := storetest.SQLite(t)
	bed := filestest.New(t, db)
	if _, err := bed.Import(Kind, fixture("beside.jsonl")); err != nil {
		t.Fatal(err)
	}
	all := bed.Workouts()
	if len(all) != 2 {
		t.Fatalf("%d workouts", len(all))
	}
	for i, w := range all {
		s := w.Stream
		if s == nil || len(s.Time) != 6 {
			t.Fatalf("stream %d: %+v", i, s)
		}
		if s.Time[1]-s.Time[0] != 10e6 || s.Distance[5] != 150.5 || s.Velocity[1] != 3 || s.Altitude[5] != 33.8 || s.Power[2] != 210 {
			t.Errorf("%+v", s)
		}
		if s.Cadence[1] != 160 { // steps: Strava counts strides on foot
			t.Errorf("cadences %v", s.Cadence)
		}
		if s.HeartRate[1] != 110 || !math.IsNaN(s.HeartRate[2]) || !math.IsNaN(s.HeartRate[4]) {
			t.Errorf("heart rates %v", s.HeartRate)
		}
		if s.Lat[1] != 52.5001 || s.Lng[1] != 13.4001 || !math.IsNaN(s.Lat[3]) {
			t.Errorf("places %v %v", s.Lat, s.Lng)
		}
		if hot := s.Temperature != nil; hot != (i == 1) {
			t.Errorf("temperatures %v", s.Temperature)
		}
		if zones := w.Body["hr_zones"].([]any); len(zones) != 6 {
			t.Errorf("zones %v", zones)
		}
	}
}

const (
	walk        = `{"id":1,"type":"Walk","name":"a","start_date":"2025-06-01T05:00:00Z","start_date_local":"2025-06-01T07:00:00Z","elapsed_time":60,"moving_time":60,"distance":80}`
	secondWalk  = `{"id":2,"type":"Walk","name":"b","start_date":"2025-06-02T05:00:00Z","start_date_local":"2025-06-02T07:00:00Z","elapsed_time":60,"moving_time":60,"distance":80}`
	times       = `{"type":"time","data":[0,1],"series_type":"time","original_size":2}`
	hearts      = `{"type":"heartrate","data":[70,71],"series_type":"time","original_size":2}`
	shortHearts = `{"type":"heartrate","data":[70],"series_type":"time","original_size":1}`
)

// keyedStreams is a set of streams by type.
const keyedStreams = `{"time":{"data":[0,1],"series_type":"time","original_size":2},"heartrate":{"data":[70,71],"series_type":"time","original_size":2}}`

func TestPairing(t *testing.T) {
	for name, test := range map[string]struct {
		content  string
		moments  int // of the first workout
		unpaired int64
		bad      int64
	}{
		"in the activity, as a list":       {walk[:len(walk)-1] + `,"streams":[` + times + `,` + hearts + `]}`, 2, 0, 0},
		"in the activity, by type":         {walk[:len(walk)-1] + `,"streams":` + keyedStreams + `}`, 2, 0, 0},
		"beside it":                        {`[{"streams":` + keyedStreams + `,"activity":` + walk + `},{"activity":` + secondWalk + `}]`, 2, 0, 0},
		"by the id of it":                  {`{"activities":[` + walk + `,` + secondWalk + `],"streams":{"1":` + keyedStreams + `}}`, 2, 0, 0},
		"by a word for it":                 {walk + secondWalk + `{"activity_id":1,"streams":[` + times + `,` + hearts + `]}`, 2, 0, 0},
		"before it":                        {`{"activity_id":1,"streams":[` + times + `,` + hearts + `]}` + walk + secondWalk, 2, 0, 0},
		"with the only one, by lines":      {walk + `[` + times + `,` + hearts + `]`, 2, 0, 0},
		"with the only one, before it":     {keyedStreams + walk, 2, 0, 0},
		"with one of two":                  {walk + secondWalk + keyedStreams, 0, 2, 0},
		"of two, with the only one":        {walk + keyedStreams + keyedStreams, 0, 4, 0},
		"with the other of two":            {walk + secondWalk + `{"activity_id":1,"streams":` + keyedStreams + `}` + keyedStreams, 2, 2, 0},
		"with none":                        {keyedStreams, 0, 2, 0},
		"of one that is not here":          {walk + `{"activity_id":3,"streams":` + keyedStreams + `}`, 0, 2, 0},
		"without times":                    {walk + `[` + hearts + `]`, 0, 0, 1},
		"of unequal lengths":               {walk + `[` + times + `,` + shortHearts + `]`, 0, 0, 2},
		"with words for numbers":           {walk + `[` + times + `,` + strings.Replace(hearts, "70", `"x"`, 1) + `]`, 2, 0, 1},
		"twice for one":                    {walk + `{"activity_id":1,"streams":` + keyedStreams + `}{"activity_id":1,"streams":` + keyedStreams + `}`, 2, 2, 0},
		"with moments that can not be":     {walk + `[` + strings.Replace(times, "[0,1]", "[-5,1e9]", 1) + `,` + hearts + `]`, 0, 0, 2},
		"with one of them without a value": {walk + `[` + strings.Replace(times, "[0,1]", "[null,1]", 1) + `,` + hearts + `]`, 1, 0, 0},
	} {
		g := repliestest.Gather(t, maker, nil, []byte(test.content))
		g.Check(t)
		moments := 0
		for _, w := range g.Recorded {
			if w.ID == "1" {
				moments = len(w.Course)
			}
		}
		count := g.Report.Type("stream")
		if g.Err != nil || moments != test.moments || count.Unpaired != test.unpaired || count.BadValue != test.bad || count.Mapped != count.Read-test.unpaired-test.bad {
			t.Errorf("%s: %d moments, %+v, %v", name, moments, count, g.Err)
		}
	}
}

// Streams that wait for their activity do not grow without bounds.
func TestTooManyUnpaired(t *testing.T) {
	long := `{"type":"time","data":[0` + strings.Repeat(",1", files.MaxMoments-1) + `],"series_type":"time","original_size":2}`
	g := repliestest.Gather(t, maker, nil, []byte(strings.Repeat(long+"\n", 3)))
	if count := g.Report.Type("stream"); count.Read != 3 || count.Unpaired != 2 || count.TooMany != 1 {
		t.Errorf("%+v", count)
	}
}

// The reader refuses a stream with more values than a course may have. It ignores
// a place that does not have exactly two numbers.
func TestStreamsThatAreTooLong(t *testing.T) {
	m := &reader{Reader: &replies.Reader{Report: &files.Report{}}}
	for name, data := range map[string]string{"heartrate": "1" + strings.Repeat(",1", files.MaxMoments), "latlng": "[]" + strings.Repeat(",[]", files.MaxMoments)} {
		d, ok := replies.Parse([]byte(`{"type":"` + name + `","data":[` + data + `]}`))
		if !ok {
			t.Fatal(name)
		}
		if became := m.stream(d); became != replies.TooMany || m.pairs.open.has(name) || m.pairs.open.n != 0 {
			t.Errorf("%s is %v", name, became)
		}
	}
	d, _ := replies.Parse([]byte(`{"type":"latlng","data":[[1,2],[1` + strings.Repeat(",1", 1000) + `],[3]]}`))
	if became := m.stream(d); became != replies.Waits || len(m.pairs.open.places[0]) != 2 || m.pairs.open.places[1] != nil || m.pairs.open.places[2] != nil {
		t.Errorf("%v, %v", became, m.pairs.open.places)
	}
}

func TestOffsets(t *testing.T) {
	for name, test := range map[string]struct {
		fields string
		offset float64
	}{
		"stated":                      {`"utc_offset":-12600.0`, -12600},
		"by the local time":           {`"utc_offset":null,"start_date_local":"2025-07-01T20:45:00Z","timezone":"(GMT+00:00) Europe/London"`, 31500},
		"by the zone, in its summer":  {`"timezone":"(GMT-08:00) America/Los_Angeles"`, -7 * 3600},
		"no such zone":                {`"timezone":"(GMT-08:00) Atlantis"`, math.NaN()},
		"nothing":                     {`"timezone":null`, math.NaN()},
		"a zone of nowhere":           {`"timezone":"Europe/London"`, math.NaN()},
		"an offset that can not be":   {`"utc_offset":900000`, math.NaN()},
		"a local time of another day": {`"start_date_local":"2025-07-09T20:45:00Z"`, math.NaN()},
	} {
		content := `{"id":1,"type":"Walk","start_date":"2025-07-01T12:00:00Z","elapsed_time":60,"moving_time":60,"distance":80,` + test.fields + `}`
		db := storetest.SQLite(t)
		user := sheettest.User(t, db, "")
		sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(content)))
		got, known := filestest.Summaries(t, db, user, "workouts")[0]["timezone_offset"].(float64)
		if known == math.IsNaN(test.offset) || known && got != test.offset {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// An invalid route, which would break a client, is left out.
func TestRoutes(t *testing.T) {
	for s, ok := range map[string]bool{
		"_p~iF~ps|U": true, "": false, "_p~iF~ps|": false, "_p ~iF~ps|U": false, "_p~iFé": false, "\x00": false, strings.Repeat("?", longestLine+1): false,
	} {
		d, _ := replies.Parse(replies.Encode(map[string]any{"map": map[string]string{"polyline": s}}))
		if got := line(d, "polyline"); got != s && ok || got != "" && !ok {
			t.Errorf("%q is %q", s, got)
		}
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	filestest.CheckRefused(t, Kind, map[string]string{
		"an empty list": `[]`, "nothing": "", "text": "id,start_date\n", "a number": "7", "zip": "PK\x03\x04", "an error": `{"message":"Authorization Error","errors":[]}`,
		"a schema":  `{"swagger":"2.0","paths":{"/athlete":{"get":{"id":"x"}}}}`,
		"an import": `{"id":"x","status":"queued","created_at":"2025-01-01T00:00:00Z"}`,
	})
	repliestest.CheckRefused(t, Kind, "strava")
}

func TestDamage(t *testing.T) {
	for name, test := range map[string]struct {
		content         string
		mapped, damaged int64
		truncated       bool
	}{
		"whole":              {`[` + walk + `,` + secondWalk + `]`, 2, 0, false},
		"cut in an activity": {`[` + walk + `,{"id":2,"st`, 1, 0, true},
		"cut behind one":     {`{"activities":[` + walk, 1, 0, true},
		"no JSON from here":  {walk + `{id:}`, 1, 1, true},
		"no object":          {`[` + walk + `,"x",` + secondWalk + `]`, 2, 1, false},
	} {
		g := repliestest.Gather(t, maker, nil, []byte(test.content))
		if g.Err != nil || g.Report.Mapped != test.mapped || int64(len(g.Recorded)) != test.mapped || g.Report.Truncated != test.truncated || g.Report.Damaged != test.damaged {
			t.Errorf("%s: %v %+v", name, g.Err, g.Report)
		}
	}
	long := repliestest.Gather(t, maker, nil, []byte(`[`+walk+`,{"name":"`+strings.Repeat("x", 2*replies.MaxRecord)+`"}]`))
	if !fault.Is(long.Err, fault.Unprocessable) || len(long.Recorded) != 1 {
		t.Errorf("%v %+v", long.Err, long.Report)
	}
}

func FuzzRead(f *testing.F) {
	filestest.Seed(f, "export.json", "beside.jsonl", "streams.json")
	f.Add([]byte(walk + keyedStreams))
	f.Fuzz(func(t *testing.T, content []byte) {
		repliestest.Gather(t, maker, nil, content).Check(t)
	})
}
