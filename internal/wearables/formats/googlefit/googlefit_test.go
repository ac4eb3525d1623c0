package googlefit

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

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/replies/repliestest"
	"hale/internal/wearables/formats/sheet/sheettest"
	"hale/internal/wearables/providers"
)

var (
	fixture         = filepath.Join("testdata", "datasets.jsonl")
	merged          = filepath.Join("testdata", "archive-merged.json")
	estimatedSource = filepath.Join("testdata", "archive-estimated.json")
)

func TestImportDatasets(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "Europe/Berlin")
		o := sheettest.Run(t, db, Kind, user, fixture)
		filestest.Types(t, o, map[string]files.TypeCount{
			"step_count.delta": {Read: 4, Mapped: 2, BadDate: 1, BadValue: 1}, "distance.delta": {Read: 1, Mapped: 1},
			"heart_rate.summary": {Read: 1, Skipped: 1}, "heart_rate.bpm": {Read: 2, Mapped: 1, BadValue: 1}, "weight": {Read: 1, Mapped: 1},
			"body.fat.percentage": {Read: 1, Mapped: 1}, "height": {Read: 3, Mapped: 2, BadValue: 1}, "blood_pressure": {Read: 2, Mapped: 1, BadValue: 1},
			"blood_glucose": {Read: 1, Mapped: 1}, "oxygen_saturation": {Read: 1, Mapped: 1}, "body.temperature": {Read: 1, Mapped: 1},
			"hydration": {Read: 1, Mapped: 1}, "speed": {Read: 1, Skipped: 1}, "other type": {Read: 1, Skipped: 1},
			"calories.expended": {Read: 3, Mapped: 2, Skipped: 1}, "activity.segment": {Read: 7, Mapped: 4, Skipped: 2, BadDate: 1},
			"sleep.segment": {Read: 5, Mapped: 4, BadValue: 1},
		})
		if o.Damaged != 0 || o.Truncated || o.Rejected != 0 {
			t.Errorf("%d damaged, rejected %v", o.Damaged, o.Rejections)
		}
		checkSeries(t, sheettest.Series(t, db, user))
		checkSummaries(t, func(resource string) []map[string]any { return filestest.Summaries(t, db, user, resource) })

		before := filestest.Events(t, db, user)
		if again := sheettest.Run(t, db, Kind, user, fixture); again.Created+again.Updated != 0 {
			t.Errorf("the second time: %+v %+v", again.Counts, again.Resources)
		}
		if after := filestest.Events(t, db, user); !maps.Equal(before, after) {
			t.Errorf("events went from %v to %v", before, after)
		}
	})
}

func checkSeries(t *testing.T, all []wearables.Samples) {
	t.Helper()
	for _, want := range []struct {
		resource, app, sourceType string
		values                    []float64
		at                        int64 // UTC seconds
		length                    int64
	}{
		{"steps", "com.example.pedometer", "unknown", []float64{1200}, 1714978800, 3600},
		{"steps", "com.google.android.gms", "unknown", []float64{300}, 1714982400, 1800},
		{"distance", "com.example.pedometer", "unknown", []float64{850.5}, 1714978800, 3600},
		{"heartrate", "com.example.band", "unknown", []float64{72.5}, 1714979000, 0},
		{"body_weight", "com.google.android.apps.fitness", "app", []float64{81.25}, 1714975200, 0},
		{"body_fat", "", "unknown", []float64{21.5}, 1714975200, 0},
		{"blood_pressure", "com.example.cuff", "unknown", []float64{121.5}, 1714975200, 0},
		{"glucose", "", "unknown", []float64{5.5}, 1714975200, 0},
		{"blood_oxygen", "", "unknown", []float64{97.5}, 1714975200, 0},
		{"body_temperature", "", "unknown", []float64{36.75}, 1714975200, 0},
		{"water", "", "unknown", []float64{250}, 1714975200, 0},
		{"calories_active", "com.google.android.gms", "unknown", []float64{210.5}, 1714978800, 3600},
		// From 12 to 24 o'clock in Berlin, and the rest on the day after.
		{"calories_basal", "com.google.android.gms", "unknown", []float64{800, 800}, 1714989600, 43200},
		{"mindfulness_minutes", "com.example.calm", "unknown", []float64{10}, 1714985000, 600},
	} {
		i := slices.IndexFunc(all, func(s wearables.Samples) bool { return s.Resource == want.resource && s.Source.AppID == want.app })
		if i < 0 {
			t.Errorf("no %s of %q", want.resource, want.app)
			continue
		}
		s := all[i]
		if slices.ContainsFunc(s.Offset, func(o int32) bool { return o != wearables.NoOffset }) {
			t.Errorf("%s: offsets %v, though no point states one", want.resource, s.Offset)
		}
		if s.Source.Type != want.sourceType || !slices.Equal(s.Value, want.values) || s.Time[0]/1e6 != want.at || want.length > 0 && s.End[0]-s.Time[0] != want.length*1e6 {
			t.Errorf("%s: %+v, want %+v", want.resource, s, want)
		}
	}
	i := slices.IndexFunc(all, func(s wearables.Samples) bool { return s.Resource == "blood_pressure" })
	if i < 0 || all[i].Value2[0] != 79 {
		t.Error("no diastolic pressure")
	}
}

func checkSummaries(t *testing.T, of func(string) []map[string]any) {
	t.Helper()
	days := map[any]map[string]any{}
	for _, d := range of("activity") {
		days[d["calendar_date"]] = d
	}
	filestest.CompareJSON(t, days["2024-05-06"], map[string]any{"steps": 1500.0, "distance": 850.5, "calories_active": 210.5, "calories_total": 1010.5})
	runs := of("workouts")
	if len(runs) != 1 {
		t.Fatalf("%d workouts", len(runs))
	}
	filestest.CompareJSON(t, runs[0], map[string]any{"time_start": "2024-05-06T07:00:00+00:00", "time_end": "2024-05-06T07:30:00+00:00", "timezone_offset": 7200.0, "calendar_date": "2024-05-06"})
	filestest.CompareJSON(t, runs[0]["sport"], map[string]any{"slug": "running"})
	nights := map[any]map[string]any{}
	for _, n := range of("sleep") {
		nights[n["calendar_date"]] = n
	}
	filestest.CompareJSON(t, nights["2024-05-06"], map[string]any{"bedtime_start": "2024-05-06T00:00:00+00:00", "duration": 18000.0, "light": 3600.0, "total": 18000.0, "timezone_offset": 7200.0, "type": "long_sleep"})
	filestest.CompareJSON(t, nights["2024-05-07"], map[string]any{"bedtime_start": "2024-05-07T00:00:00+00:00", "duration": 12000.0, "light": 3600.0, "deep": 1800.0, "rem": 6000.0, "awake": 600.0})
	for _, c := range of("sleep_cycle") {
		if c["sleep_id"] == nights["2024-05-07"]["id"] {
			if got := fmt.Sprint(c["stage_start_offset_second"], c["stage_type"]); got != "[0 3600 5400 6000] [2 1 4 3]" {
				t.Errorf("stages %s", got)
			}
		}
	}
	if p := of("profile"); len(p) != 1 || p[0]["height"] != 170.0 {
		t.Errorf("profile %v", p)
	}
}

// The archive has the same steps in several streams. They count once: from each stream
// only the steps that no other one has.
func TestArchiveCountsSteps(t *testing.T) {
	for _, order := range [][]string{{merged, estimatedSource}, {estimatedSource, merged}} {
		db := storetest.SQLite(t)
		user := sheettest.User(t, db, "")
		for _, name := range order {
			o := sheettest.Run(t, db, Kind, user, name)
			if o.Damaged != 0 || o.Mapped < 2 || o.Rejected != 0 {
				t.Errorf("%s: %+v %v", name, o.Report, o.Rejections)
			}
		}
		for _, name := range order {
			if again := sheettest.Run(t, db, Kind, user, name); again.Created+again.Updated != 0 {
				t.Errorf("%s again: %+v", name, again.Resources)
			}
		}
		days := filestest.Summaries(t, db, user, "activity")
		if len(days) != 1 || days[0]["steps"] != 550.0 { // 500 merged, and 50 when nothing was
			t.Errorf("%v", days)
		}
	}
}

// A basal rate of several days is cut at midnights, also in the nights in which
// clocks change, and none of it is lost.
func TestBasalEnergyByDay(t *testing.T) {
	zone, err := civil.Zone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2024, 10, 26, 22, 0, 0, 0, time.UTC) // midnight there, of a day with 25 hours
	end := start.Add(73 * time.Hour)
	text := fmt.Sprintf(`{"point":[{"dataTypeName":"com.google.calories.expended","startTimeNanos":"%d","endTimeNanos":"%d",
		"originDataSourceId":"derived:com.google.calories.expended:com.google.android.gms:from_bmr","value":[{"fpVal":7300}]}]}`, start.UnixNano(), end.UnixNano())
	g := repliestest.Gather(t, maker, zone, []byte(text))
	s := g.Series("calories_basal", "", "unknown")
	if !slices.EqualFunc(s.Value, []float64{2500, 2400, 2400}, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }) || s.End[2] != end.UnixMicro() {
		t.Errorf("%+v", s)
	}
}

func TestSources(t *testing.T) {
	for id, want := range map[string][3]string{
		"raw:com.google.weight:com.example.scale:":                                                        {"com.example.scale", "unknown", ""},
		"raw:com.google.weight:com.google.android.apps.fitness:user_input":                                {"com.google.android.apps.fitness", "app", "user_input"},
		"derived:com.google.step_count.cumulative:com.google.android.gms:maker:model 1:0a1b:step_counter": {"com.google.android.gms", "unknown", "step_counter"},
		"raw:com.google.step_count.cumulative:Maker:Model:0a1b:sensor":                                    {"", "unknown", "sensor"},
		"raw:com.google.weight:123456789:":                                                                {"", "unknown", ""}, "weight": {"", "unknown", ""}, "": {"", "unknown", ""},
		"raw:com.google.weight:com.example.a b:x": {"", "unknown", "x"}, "raw:com.google.weight:.com.example.:x": {"", "unknown", "x"},
	} {
		source, stream := sourceOf(id)
		if got := [3]string{source.AppID, source.Type, stream}; got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

// sportOf maps the numbers of activities to sports. It returns false for activities
// that are no sport, and for unknown numbers.
func TestSports(t *testing.T) {
	for code, want := range map[float64]string{
		1: "cycling", 8: "running", 58: "running", 80: "strength_training", 82: "swimming", 108: "other", 9: "aerobics", 120: "softball",
		0: "", 3: "", 4: "", 5: "", 6: "", 72: "", 107: "", 117: "", 118: "", 121: "", 999: "", -1: "", 1.5: "",
	} {
		if got, ok := sportOf(code); got.Slug != want || ok != (want != "") {
			t.Errorf("%v: %q, want %q", code, got.Slug, want)
		}
	}
}

func TestProviderIsInTheCatalogue(t *testing.T) {
	if _, ok := providers.Find(Provider); !ok {
		t.Error("it is not")
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for name, content := range map[string]string{
		"an empty dataset": `{"dataSourceId":"raw:com.google.weight:com.example:","point":[]}`, "nothing": "", "a number": "7", "zip": "PK\x03\x04",
		"unknown points": `{"point":[{"startTimeNanos":"1","endTimeNanos":"2"}]}`, "an error": `{"error":{"code":401}}`,
		"a session": `{"session":[{"id":"1","startTimeMillis":"1714978800000","endTimeMillis":"1714980600000","activityType":8}]}`,
	} {
		var unlike *files.UnlikeError
		if err := Kind.Check(filestest.Save(t, []byte(content)), 0); !errors.As(err, &unlike) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDamage(t *testing.T) {
	one := `{"dataTypeName":"com.google.weight","startTimeNanos":"1714975200000000000","endTimeNanos":"1714975200000000000","value":[{"fpVal":80}]}`
	for name, test := range map[string]struct {
		content         string
		mapped, damaged int64
		truncated       bool
	}{
		"whole":              {`{"point":[` + one + `,` + one + `]}`, 2, 0, false},
		"nothing measured":   {`{"point":[` + one + `,{"dataTypeName":"com.google.heart_rate.bpm","endTimeNanos":"1714975200000000000","value":[{"fpVal":0}]}]}`, 1, 0, false},
		"cut in a point":     {`{"point":[` + one + `,{"dataTyp`, 1, 0, true},
		"cut behind a point": {`{"Data Points":[` + one, 1, 0, true},
		"no JSON from here":  {`{"point":[` + one + `,{x:}]}`, 1, 1, true},
		"no object":          {`{"point":[` + one + `,7,` + one + `]}`, 2, 1, false},
	} {
		g := repliestest.Gather(t, maker, nil, []byte(test.content))
		if g.Err != nil || g.Report.Mapped != test.mapped || g.Report.Truncated != test.truncated || g.Report.Damaged != test.damaged {
			t.Errorf("%s: %v %+v", name, g.Err, g.Report)
		}
	}
	long := repliestest.Gather(t, maker, nil, []byte(`{"point":[`+one+`,{"dataTypeName":"`+strings.Repeat("x", 2*replies.MaxRecord)+`"}]}`))
	if !fault.Is(long.Err, fault.Unprocessable) || long.Report.Mapped != 1 {
		t.Errorf("%v %+v", long.Err, long.Report)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{fixture, merged, estimatedSource} {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"point":[{"dataTypeName":"com.google.calories.expended","startTimeNanos":"0946684800000000000","endTimeNanos":"4102444799999999999","originDataSourceId":"a:b:c:from_bmr","value":[{"fpVal":1e308}]}]}`))
	zone, err := civil.Zone("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		g := repliestest.Gather(t, maker, zone, content)
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
