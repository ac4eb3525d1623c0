package fitbitweb

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/replies/repliestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

var fixture = filepath.Join("testdata", "replies.jsonl")

func TestImportReplies(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "Europe/Berlin")
		o := sheettest.Run(t, db, Kind, user, fixture)
		checkTypes(t, o)
		checkDays(t, filestest.Summaries(t, db, user, "activity"))
		checkNights(t, filestest.Summaries(t, db, user, "sleep"), filestest.Summaries(t, db, user, "sleep_cycle"))
		checkWorkouts(t, filestest.Summaries(t, db, user, "workouts"))
		checkSeries(t, sheettest.Series(t, db, user))
		if p := filestest.Summaries(t, db, user, "profile"); len(p) != 1 || p[0]["birth_date"] != "1984-02-03" || p[0]["height"] != nil {
			t.Errorf("profile %v", p)
		}
		before := filestest.Events(t, db, user)
		if again := sheettest.Run(t, db, Kind, user, fixture); again.Created+again.Updated != 0 {
			t.Errorf("the second time: %+v %+v", again.Counts, again.Resources)
		}
		if after := filestest.Events(t, db, user); !maps.Equal(before, after) {
			t.Errorf("events went from %v to %v", before, after)
		}
	})
}

func checkTypes(t *testing.T, o *files.Outcome) {
	t.Helper()
	filestest.Types(t, o, map[string]files.TypeCount{
		"summary": {Read: 1, Mapped: 1}, "goals": {Read: 1, Skipped: 1}, "pagination": {Read: 1, Skipped: 1},
		"activity":         {Read: 3, Mapped: 1, BadDate: 1, BadValue: 1},
		"activity log":     {Read: 3, Mapped: 2, BadDate: 1},
		"activities-heart": {Read: 1, Mapped: 1}, "activities-heart-intraday": {Read: 5, Mapped: 3, BadDate: 1, BadValue: 1},
		"activities-steps":          {Read: 4, Mapped: 2, BadDate: 1, BadValue: 1},
		"activities-steps-intraday": {Read: 3, Mapped: 3},
		"activities-distance":       {Read: 2, Mapped: 2}, "activities-distance-intraday": {Read: 3, Mapped: 3},
		"activities-calories": {Read: 1, Mapped: 1}, "activities-calories-intraday": {Read: 1, Skipped: 1},
		"activities-minutesVeryActive": {Read: 1, Mapped: 1}, "activities-tracker-steps": {Read: 1, Skipped: 1},
		"activities-active-zone-minutes": {Read: 1, Skipped: 1}, "active-zone-minutes intraday": {Read: 1, Skipped: 1},
		"sleep": {Read: 4, Mapped: 3, BadDate: 1}, "sleep summary": {Read: 1, Skipped: 1},
		"weight": {Read: 3, Mapped: 2, BadDate: 1}, "fat": {Read: 1, Mapped: 1},
		"hrv": {Read: 3, Mapped: 1, Unpaired: 1, BadValue: 1}, "hrv.deepRmssd": {Read: 2, Skipped: 2}, "hrv intraday": {Read: 1, Mapped: 1},
		"br": {Read: 2, Mapped: 1, Unpaired: 1}, "br.deepSleepSummary": {Read: 1, Skipped: 1},
		"br.lightSleepSummary": {Read: 1, Skipped: 1}, "br.remSleepSummary": {Read: 1, Skipped: 1},
		"spo2": {Read: 1, Skipped: 1}, "spo2 intraday": {Read: 2, Mapped: 1, BadValue: 1},
		"tempSkin": {Read: 1, Mapped: 1}, "tempCore": {Read: 1, Mapped: 1}, "cardioScore": {Read: 2, Mapped: 1, BadValue: 1},
		"user": {Read: 1, Mapped: 1}, "device": {Read: 2, Mapped: 2}, "other": {Read: 1, Skipped: 1},
	})
	if o.Damaged != 0 || o.Truncated || o.Rejected != 0 {
		t.Errorf("%d damaged, rejected %v", o.Damaged, o.Rejections)
	}
}

// The totals are those that Fitbit states, not the sums of a series.
func checkDays(t *testing.T, all []map[string]any) {
	t.Helper()
	days := byDay(all)
	filestest.CompareJSON(t, days["2024-05-06"], map[string]any{
		"steps": 9876.0, "distance": 7125.0, "calories_total": 2345.0, "calories_active": 901.0, "low": 180.0, "medium": 21.0, "high": 33.0,
		"floors_climbed": 14.0, "daily_movement": 7125.0,
	})
	// The later reply repeats the resting rate. The other values come from the series.
	filestest.CompareJSON(t, days["2024-05-06"]["heart_rate"], map[string]any{"resting_bpm": 57.0, "min_bpm": 61.0, "max_bpm": 118.0})
	filestest.CompareJSON(t, days["2024-05-07"], map[string]any{"steps": 4321.0, "distance": 1500.0, "calories_total": 2222.0, "high": 12.0, "low": nil})
	filestest.CompareJSON(t, days["2024-05-08"], map[string]any{"steps": nil, "distance": 2500.0})
	if len(days) != 3 {
		t.Errorf("%d days", len(days))
	}
}

func checkNights(t *testing.T, nights, cycles []map[string]any) {
	t.Helper()
	byStart := map[any]map[string]any{}
	for _, n := range nights {
		byStart[n["bedtime_start"]] = n
	}
	if len(nights) != 3 || len(cycles) != 3 {
		t.Fatalf("%d nights, %d cycles", len(nights), len(cycles))
	}
	long, nap, old := byStart["2024-05-05T21:00:00+00:00"], byStart["2024-05-06T11:00:00+00:00"], byStart["2014-07-18T21:58:00+00:00"]
	filestest.CompareJSON(t, long, map[string]any{
		"calendar_date": "2024-05-06", "type": "long_sleep", "duration": 27000.0, "total": 26280.0, "awake": 720.0, "deep": 5340.0,
		"light": 15540.0, "rem": 5400.0, "efficiency": 93.0, "latency": nil, "timezone_offset": 7200.0,
		"average_hrv": 42.75, "respiratory_rate": 15.25, "temperature_delta": -0.4,
	})
	filestest.CompareJSON(t, long["source"], map[string]any{"type": "watch", "provider": "fitbit"})
	filestest.CompareJSON(t, nap, map[string]any{"type": "short_sleep", "total": 3240.0, "awake": 360.0, "deep": 0.0, "latency": 300.0, "average_hrv": nil})
	filestest.CompareJSON(t, nap["source"], map[string]any{"type": "app"})
	filestest.CompareJSON(t, old, map[string]any{"calendar_date": "2014-07-19", "duration": 300.0, "total": 180.0, "bedtime_stop": "2014-07-18T22:03:00+00:00"})
	for _, c := range cycles {
		got := fmt.Sprint(c["stage_start_offset_second"], c["stage_end_offset_second"], c["stage_type"])
		want := map[any]string{
			// Short moments of being awake lie over the stages, also over a border of two.
			long["id"]: "[0 600 3600 3690 7800 13170 13230 18600] [600 3600 3690 7800 13170 13230 18600 27000] [4 2 4 2 1 4 3 2]",
			// Restless is awake, and the last stage ends with the sleep.
			nap["id"]: "[0 1800 2160] [1800 2160 3600] [-1 4 -1]",
			old["id"]: "[0 120 240] [120 240 300] [-1 4 -1]",
		}[c["sleep_id"]]
		if got != want {
			t.Errorf("stages of %v:\n%s, want\n%s", c["session_start"], got, want)
		}
	}
}

func checkWorkouts(t *testing.T, all []map[string]any) {
	t.Helper()
	byID := map[any]map[string]any{}
	for _, w := range all {
		byID[w["provider_id"]] = w
	}
	if len(all) != 3 {
		t.Fatalf("%d workouts", len(all))
	}
	filestest.CompareJSON(t, byID["7001"], map[string]any{
		"time_start": "2024-05-06T16:10:00+00:00", "time_end": "2024-05-06T16:55:00+00:00", "title": "Walk", "distance": 4250.0, "calories": 210.0,
		"steps": 5200.0, "timezone_offset": 7200.0, "calendar_date": "2024-05-06", "max_hr": 118.0,
	})
	filestest.CompareJSON(t, byID["7101"], map[string]any{
		"time_start": "2024-05-07T15:30:00+00:00", "time_end": "2024-05-07T16:00:00+00:00", "distance": 11500.0, "average_hr": 131.0,
		"moving_time": 1500.0, "total_elevation_gain": 84.5, "timezone_offset": 7200.0,
	})
	filestest.CompareJSON(t, byID["7101"]["sport"], map[string]any{"slug": "cycling"})
	filestest.CompareJSON(t, byID["7102"], map[string]any{"distance": 4023.36, "total_elevation_gain": nil})
	filestest.CompareJSON(t, byID["7102"]["source"], map[string]any{"type": "app"})
}

func checkSeries(t *testing.T, all []wearables.Samples) {
	t.Helper()
	for _, want := range []struct {
		resource, sampleType, sourceType string
		first                            string // UTC
		values                           []float64
	}{
		{"heartrate", "", "watch", "2024-05-05T22:00:05Z", []float64{61, 62, 118}},
		{"steps", "", "watch", "2024-05-05T22:00:00Z", []float64{0, 400, 1450}},
		{"distance", "", "watch", "2024-05-07T21:58:00Z", []float64{250, 125, 62.5}},
		{"hrv", "rmssd", "watch", "2024-05-05T21:15:00Z", []float64{38.25, 41.5}},
		{"blood_oxygen", "", "watch", "2024-05-05T21:30:00Z", []float64{96.5, 97}},
		{"body_weight", "", "scale", "2024-05-06T05:05:30Z", []float64{72.5}},
		{"body_weight", "", "app", "2024-05-07T21:59:59Z", []float64{72.1}},
		{"body_fat", "", "scale", "2024-05-06T05:05:30Z", []float64{18.25}},
		{"body_fat", "", "app", "2024-05-08T21:59:59Z", []float64{18.5}},
		{"body_temperature", "", "app", "2024-05-06T18:15:00Z", []float64{37.25}},
		{"vo2_max", "", "watch", "2024-05-06T22:00:00Z", []float64{45}},
	} {
		got := sheettest.Find(t, all, want.resource, want.sampleType, want.sourceType)
		if at := time.UnixMicro(got.Time[0]).UTC().Format(time.RFC3339); at != want.first || !slices.Equal(got.Value, want.values) || got.Offset[0] != 7200 {
			t.Errorf("%s: %v from %s, offset %d, want %v from %s", want.resource, got.Value, at, got.Offset[0], want.values, want.first)
		}
	}
	for resource, minutes := range map[string]int64{"steps": 15, "distance": 1, "vo2_max": 24 * 60} {
		if s := sheettest.Find(t, all, resource, "", "watch"); s.End[0]-s.Time[0] != minutes*60e6 {
			t.Errorf("%s counts for %d µs", resource, s.End[0]-s.Time[0])
		}
	}
	// The dataset continues after midnight on the reply's second day.
	if d := sheettest.Find(t, all, "distance", "", "watch"); d.Time[2]-d.Time[1] != 60e6 {
		t.Errorf("%v", d.Time)
	}
}

func byDay(all []map[string]any) map[string]map[string]any {
	days := map[string]map[string]any{}
	for _, d := range all {
		days[d["calendar_date"].(string)] = d
	}
	return days
}

// In any order and with any repeats, a day has the totals that Fitbit states and the
// heart rate of the series.
func TestStatedTotalsAreKept(t *testing.T) {
	total := `{"activities-steps":[{"dateTime":"2024-05-06","value":"9876"}],"activities-steps-intraday":{"dataset":[{"time":"08:15:00","value":400}],"datasetInterval":15,"datasetType":"minute"}}`
	heart := `{"activities-heart":[{"dateTime":"2024-05-06","value":{"restingHeartRate":57}}],"activities-heart-intraday":{"dataset":[{"time":"08:15:00","value":80}],"datasetInterval":1,"datasetType":"minute"}}`
	for _, order := range [][]string{{total, heart}, {heart, total}, {total, heart, total, heart}} {
		db := storetest.SQLite(t)
		user := sheettest.User(t, db, "")
		for i, text := range order {
			o := sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(text)))
			if i > 1 && o.Created+o.Updated != 0 {
				t.Errorf("import %d changes %+v", i, o.Resources)
			}
		}
		days := filestest.Summaries(t, db, user, "activity")
		if len(days) != 1 {
			t.Fatalf("%d days", len(days))
		}
		filestest.CompareJSON(t, days[0], map[string]any{"steps": 9876.0})
		filestest.CompareJSON(t, days[0]["heart_rate"], map[string]any{"resting_bpm": 57.0, "avg_bpm": 80.0})
	}
}

// In the night in which clocks are set back, a sleep is an hour longer than it
// looks, and its stages are where they were.
func TestNightsOfChangingClocks(t *testing.T) {
	berlin, err := civil.Zone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	text := `{"sleep":[{"dateOfSleep":"2024-10-27","startTime":"2024-10-26T23:00:00.000","endTime":"2024-10-27T06:00:00.000","minutesAsleep":480,
		"levels":{"data":[{"dateTime":"2024-10-26T23:00:00.000","level":"light","seconds":12600},{"dateTime":"2024-10-27T02:30:00.000","level":"deep","seconds":2700},
		{"dateTime":"2024-10-27T02:15:00.000","level":"rem","seconds":13500}]}}]}`
	for zone, want := range map[*time.Location]string{
		berlin: "28800 [0 12600 15300] [12600 15300 28800]",
		nil:    "25200 [0 12600 15300] [12600 15300 25200]", // without that knowledge the rest is cut off
	} {
		g := repliestest.Gather(t, maker, zone, []byte(text))
		night, cycle := g.Bodies(t, "sleep"), g.Bodies(t, "sleep_cycle")
		if len(night) != 1 || len(cycle) != 1 {
			t.Fatalf("%d nights, %d cycles", len(night), len(cycle))
		}
		if got := fmt.Sprint(night[0]["duration"], cycle[0]["stage_start_offset_second"], cycle[0]["stage_end_offset_second"]); got != want {
			t.Errorf("in %v: %s, want %s", zone, got, want)
		}
		if _, stated := night[0]["timezone_offset"]; stated != (zone != nil) {
			t.Errorf("in %v the offset is %v", zone, night[0]["timezone_offset"])
		}
	}
}

// A reply that has no date gets it from the request, where a file has both.
func TestDateOfTheRequest(t *testing.T) {
	body := `{"activities":[],"summary":{"caloriesOut":2000,"sedentaryMinutes":700,"steps":5}}`
	asked := repliestest.Gather(t, maker, nil, []byte(`{"path":"/1/user/-/activities/date/2024-05-06.json","status":200,"body":`+body+`}`))
	if days := asked.Bodies(t, "activity"); len(days) != 1 || days[0]["calendar_date"] != "2024-05-06" {
		t.Errorf("%v", days)
	}
	if alone := repliestest.Gather(t, maker, nil, []byte(body)); alone.Report.Types["summary"].BadDate != 1 || len(alone.Summaries) != 0 {
		t.Errorf("%+v", alone.Report.Types["summary"])
	}
	two := `{"activities":[{"logId":1,"activityId":2,"startDate":"2024-05-06","startTime":"10:00"},{"logId":2,"activityId":2,"startDate":"2024-05-07","startTime":"10:00"}],"summary":{"caloriesOut":2000,"sedentaryMinutes":700}}`
	if g := repliestest.Gather(t, maker, nil, []byte(two)); g.Report.Types["summary"].BadDate != 1 {
		t.Errorf("%+v", g.Report.Types["summary"])
	}
}

// The interval of a dataset follows it in the file.
func TestIntervals(t *testing.T) {
	for kind, want := range map[string]int64{
		`"datasetInterval":1,"datasetType":"minute"`: 60e6, `"datasetInterval":15,"datasetType":"minute"`: 900e6, `"datasetInterval":1,"datasetType":"second"`: 1e6,
		`"datasetInterval":1,"datasetType":"hour"`: 3600e6, `"datasetInterval":0,"datasetType":"minute"`: 0, `"datasetInterval":5,"datasetType":"week"`: 0, `"datasetType":"minute"`: 0,
		`"datasetInterval":9000000000000,"datasetType":"hour"`: 0,
	} {
		g := repliestest.Gather(t, maker, nil, []byte(`{"activities-steps":[{"dateTime":"2024-05-06","value":"9"}],"activities-steps-intraday":{"dataset":[{"time":"08:00:00","value":9}],`+kind+`}}`))
		s := g.Series("steps", "", "watch")
		switch {
		case want == 0 && (s.Len() != 0 || g.Report.Types["activities-steps-intraday"].BadValue != 1):
			t.Errorf("%s: %d samples", kind, s.Len())
		case want != 0 && (s.Len() != 1 || s.End[0]-s.Time[0] != want):
			t.Errorf("%s: %+v", kind, s)
		}
	}
}

// A repeated night is one night.
func TestOverlayOfOneList(t *testing.T) {
	var long, short []stage
	for i := range int64(1000) {
		long = append(long, stage{0, 86400, derive.Light})
		short = append(short, stage{2 * i, 2*i + 1, derive.Awake})
	}
	if got := overlayStages(long, short); len(got) != 2*1000+1 {
		t.Errorf("%d stages", len(got))
	}
}

// Short stretches over long ones leave no gap and no overlap, and lose no time.
func TestOverlayStages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var long, short []stage
		at := int64(0)
		for range rapid.IntRange(1, 8).Draw(t, "long") {
			to := at + rapid.Int64Range(1, 50).Draw(t, "length")
			long = append(long, stage{at, to, derive.Light})
			at = to
		}
		for from := int64(0); from < at; {
			from += rapid.Int64Range(0, 40).Draw(t, "pause")
			to := from + rapid.Int64Range(1, 30).Draw(t, "short")
			short = append(short, stage{from, to, derive.Awake})
			from = to
		}
		second := map[int64]int8{}
		var s replies.Stages
		for _, one := range overlayStages(long, short) {
			s.Add(one.from, one.to, one.kind)
		}
		for i, kind := range s.Types {
			for k := s.Starts[i]; k < s.Ends[i]; k++ {
				second[k] = kind
			}
		}
		for k := range at {
			want := derive.Light
			for _, one := range short {
				if k >= one.from && k < one.to {
					want = derive.Awake
				}
			}
			if second[k] != want {
				t.Fatalf("second %d is %d, want %d: %v over %v", k, second[k], want, short, long)
			}
		}
		if int64(len(second)) != at {
			t.Fatalf("%d seconds of %d", len(second), at)
		}
	})
}

// Google's archive has times in UTC where it has them by the second, and those
// of the wall where it has sleep.
func TestArchive(t *testing.T) {
	zone, err := civil.Zone("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join("testdata", "archive.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	g := repliestest.Gather(t, maker, zone, raw)
	for name, want := range map[string]files.TypeCount{
		"heart_rate": {Read: 4, Mapped: 2, BadValue: 1, BadDate: 1}, "resting_heart_rate": {Read: 3, Mapped: 1, BadValue: 1, BadDate: 1},
		"sleep": {Read: 1, Mapped: 1}, "weight": {Read: 1, BadUnit: 1},
	} {
		if got := g.Report.Types[name]; got == nil || *got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	s := g.Series("heartrate", "", "watch")
	if s.Len() != 2 || s.Time[0] != time.Date(2024, 5, 6, 4, 0, 5, 0, time.UTC).UnixMicro() || s.Offset[0] != -4*3600 || s.Value[1] != 61 {
		t.Errorf("%+v", s)
	}
	if days := g.Bodies(t, "activity"); len(days) != 1 || days[0]["calendar_date"] != "2024-05-06" {
		t.Errorf("%v", days)
	}
	if nights := g.Summaries[len(g.Summaries)-2]; nights.Start != time.Date(2024, 5, 6, 3, 0, 0, 0, time.UTC) {
		t.Errorf("%v", nights.Start)
	}
	if steps := `[{"dateTime":"05/06/24 04:00:00","value":"12"}]`; Kind.Check(filestest.Save(t, []byte(steps)), 0) == nil {
		t.Error("a list of unknown values passes")
	}
}

func TestDevices(t *testing.T) {
	raw, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	g := repliestest.Gather(t, maker, nil, raw)
	want := []files.Device{
		{Provider: "fitbit", SourceType: "watch", Manufacturer: "Fitbit", Model: "Charge 9", ExternalID: "123456"},
		{Provider: "fitbit", SourceType: "scale", Manufacturer: "Fitbit", Model: "Aria 9", ExternalID: "654321"},
	}
	if !slices.Equal(g.Devices, want) {
		t.Errorf("%+v", g.Devices)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for name, content := range map[string]string{
		"an empty list of sleep": `{"sleep":[]}`, "nothing": "", "text": "dateTime,value\n", "a number": "7", "zip": "PK\x03\x04",
		"an unknown total": `{"steps":[{"dateTime":"2024-05-06","value":"1"}]}`, "another first": `[{"a":1},{"dateOfSleep":"2024-05-06","startTime":"2024-05-06T01:00:00","minutesAsleep":1}]`,
		"an error":           `{"errors":[{"errorType":"expired_token","message":"Access token expired"}],"success":false}`,
		"an unknown dataset": `{"dataset":[{"time":"00:00:00","value":1}]}`,
	} {
		var unlike *files.UnlikeError
		if err := Kind.Check(filestest.Save(t, []byte(content)), 0); !errors.As(err, &unlike) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDamage(t *testing.T) {
	begin := `{"activities-steps":[{"dateTime":"2024-05-06","value":"9"}],"activities-steps-intraday":{"datasetInterval":1,"datasetType":"minute","dataset":[`
	one := `{"time":"08:00:00","value":9}`
	for name, test := range map[string]struct {
		content         string
		mapped, damaged int64
		truncated       bool
	}{
		"whole":                {begin + one + `]}}`, 2, 0, false},
		"cut in a point":       {begin + one + `,{"time":"08:0`, 1, 0, true},
		"cut behind a point":   {begin + one, 1, 0, true},
		"no JSON from here":    {begin + one + `,{time:}]}}`, 1, 1, true},
		"no object among them": {begin + one + `,7,` + one + `]}}`, 3, 1, false},
	} {
		g := repliestest.Gather(t, maker, nil, []byte(test.content))
		if g.Err != nil || g.Report.Mapped != test.mapped || g.Report.Truncated != test.truncated || g.Report.Damaged != test.damaged {
			t.Errorf("%s: %v %+v", name, g.Err, g.Report)
		}
	}
	long := repliestest.Gather(t, maker, nil, []byte(begin+one+`,{"time":"`+strings.Repeat("x", 2*replies.MaxRecord)+`"}]}}`))
	if !fault.Is(long.Err, fault.Unprocessable) || long.Report.Mapped != 1 {
		t.Errorf("%v %+v", long.Err, long.Report)
	}
}

func FuzzRead(f *testing.F) {
	raw, err := os.ReadFile(fixture)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	if raw, err = os.ReadFile(filepath.Join("testdata", "archive.jsonl")); err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	for line := range strings.Lines(string(raw)) {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"sleep":[{"dateOfSleep":"2024-05-06","startTime":"2024-05-06T01:00:00","minutesAsleep":1e300,"duration":9e18,"levels":{"data":[{"dateTime":"2024-05-06T01:00:00","level":"deep","seconds":-1}]}}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		g := repliestest.Gather(t, maker, time.UTC, content)
		g.Check(t)
		for _, s := range g.Samples {
			for i, v := range s.Value {
				if math.IsNaN(v) || v < 0 || len(s.End) > 0 && s.End[i] < s.Time[i] {
					t.Fatalf("%s %v", s.Resource, v)
				}
			}
		}
	})
}
