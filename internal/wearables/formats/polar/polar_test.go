package polar

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/replies/repliestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

func TestRealFiles(t *testing.T) {
	const left = "continuous heart rate.samples" // of 0: no contact
	repliestest.Real(t, Kind, "wearables/polar", map[string]repliestest.File{
		"polar-metrics-continuous-heart-rate-2025-06-30.json": {"continuous heart rate": {1, 1}},
		"polar-metrics-continuous-heart-rate-2025-07-03.json": {"continuous heart rate": {1, 1}, left: {15, 0}},
		"polar-metrics-continuous-heart-rate-2025-07-06.json": {"continuous heart rate": {1, 1}},
		"polar-metrics-continuous-heart-rate-2025-07-29.json": {"continuous heart rate": {1, 1}},
		"open-wearables-test_polar_247.json":                  {"sleep": {1, 1}, "cardio load": {1, 0}},
		"open-wearables-test_polar_import.json":               {"exercise": {1, 1}},
	})
}

func TestFilesOfOtherMakersAreRefused(t *testing.T) {
	repliestest.CheckRefused(t, Kind, "polar")
}

// The test compares the heart rate of a real day with a second reader. Every
// value has its time on the watch, in the user's zone. Without a zone that time
// stays unchanged.
func TestRealHeartRate(t *testing.T) {
	path := testdata.Shared(t, "wearables/polar/polar-metrics-continuous-heart-rate-2025-07-03.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var day struct {
		Date    string `json:"date"`
		Samples []struct {
			BPM  float64 `json:"heart_rate"`
			Time string  `json:"sample_time"`
		} `json:"heart_rate_samples"`
	}
	if err := json.Unmarshal(raw, &day); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, zone string
		east       time.Duration
		offset     int32
	}{{"a zone", "Europe/Madrid", 2 * time.Hour, 7200}, {"no zone", "", 0, wearables.NoOffset}} {
		want, sum := map[int64]float64{}, 0.0
		for _, s := range day.Samples {
			at, err := time.Parse("2006-01-02 15:04:05", day.Date+" "+s.Time)
			if err != nil {
				t.Fatal(err)
			}
			if s.BPM > 0 {
				want[at.Add(-test.east).UnixMicro()] = s.BPM
				sum += s.BPM
			}
		}
		storetest.Each(t, func(t *testing.T, db *store.DB) {
			user := sheettest.User(t, db, test.zone)
			sheettest.Run(t, db, Kind, user, path)
			got := sheettest.Find(t, sheettest.Series(t, db, user), "heartrate", "", "watch")
			if got.Len() != len(want) || len(want) != 4138 {
				t.Fatalf("%s: %d samples, want %d", test.name, got.Len(), len(want))
			}
			for i, at := range got.Time {
				if got.Value[i] != want[at] || got.Offset[i] != test.offset {
					t.Fatalf("%s: %v (%d) at %v, want %v", test.name, got.Value[i], got.Offset[i], time.UnixMicro(at).UTC(), want[at])
				}
			}
			days := filestest.Summaries(t, db, user, "activity")
			if len(days) != 1 || days[0]["calendar_date"] != day.Date {
				t.Fatalf("%s: %v", test.name, days)
			}
			beats := days[0]["heart_rate"].(map[string]any)
			if mean := beats["avg_bpm"].(float64); mean < sum/float64(len(want))-0.06 || mean > sum/float64(len(want))+0.06 || beats["max_bpm"] != 124.0 {
				t.Errorf("%s: %v", test.name, beats)
			}
		})
	}
}

func TestPeers(t *testing.T) {
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	for _, name := range []string{"247", "import"} {
		sheettest.Run(t, db, Kind, user, testdata.Shared(t, "wearables/polar/open-wearables-test_polar_"+name+".json"))
	}
	night := filestest.Summaries(t, db, user, "sleep")[0]
	filestest.CompareJSON(t, night, map[string]any{
		"bedtime_start": "2024-01-14T21:00:00+00:00", "bedtime_stop": "2024-01-15T05:00:00+00:00", "calendar_date": "2024-01-15", "timezone_offset": 7200.0,
		"total": 27000.0, "light": 14400.0, "deep": 5400.0, "rem": 7200.0, "awake": 1800.0, "score": 82.0, "type": "long_sleep",
	})
	cycle := filestest.Summaries(t, db, user, "sleep_cycle")[0]
	if got := cycle["stage_type"].([]any); !slices.Equal(got, []any{4.0, 2.0, 1.0, 3.0, 2.0}) || cycle["sleep_id"] != night["id"] {
		t.Errorf("stages %v", got)
	}
	if got := cycle["stage_end_offset_second"].([]any); !slices.Equal(got, []any{1800.0, 5400.0, 12600.0, 18000.0, 28800.0}) {
		t.Errorf("stages end after %v", got)
	}
	hearts := sheettest.Find(t, sheettest.Series(t, db, user), "heartrate", "", "watch")
	if hearts.Len() != 3 || time.UnixMicro(hearts.Time[0]).UTC().Format(time.RFC3339) != "2024-01-14T21:30:00Z" || hearts.Value[0] != 58 {
		t.Errorf("%+v", hearts)
	}
	ran := filestest.Summaries(t, db, user, "workouts")[0]
	filestest.CompareJSON(t, ran, map[string]any{
		"provider_id": "ABC123", "time_start": "2024-01-15T07:00:00+00:00", "time_end": "2024-01-15T08:00:00+00:00", "timezone_offset": 3600.0,
		"distance": 10000.0, "average_hr": 145.0, "max_hr": 175.0,
	})
	filestest.CompareJSON(t, ran["sport"].(map[string]any), map[string]any{"slug": "running"})
}

func fixture(tb testing.TB) []byte {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "accesslink.json"))
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func TestImport(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "Europe/Berlin")
		path := filepath.Join("testdata", "accesslink.json")
		o := sheettest.Run(t, db, Kind, user, path)
		for name, want := range map[string]files.TypeCount{
			"nightly recharge": {Read: 2, Mapped: 1, Unpaired: 1}, "skin temperature": {Read: 1, Mapped: 1}, "sleep": {Read: 2, Mapped: 1, BadDate: 1},
			"continuous heart rate": {Read: 2, Mapped: 1, BadValue: 1}, "continuous heart rate.samples": {Read: 2, BadValue: 1, BadDate: 1},
			"daily activity": {Read: 2, Mapped: 2}, "activity samples": {Read: 1, Mapped: 1}, "activity samples.steps": {Read: 1, BadDate: 1},
			"activity samples.activity_zones": {Read: 1, Skipped: 1}, "activity samples.inactivity_stamps": {Read: 1, Skipped: 1},
			"cardio load": {Read: 1, Skipped: 1}, "exercise": {Read: 3, Mapped: 2, BadDate: 1}, "exercise.samples": {Read: 2, Skipped: 1, BadDate: 1},
			"exercise.route": {Read: 2, BadValue: 1, BadDate: 1}, "physical information": {Read: 1, Mapped: 1}, "user": {Read: 1, Mapped: 1},
			"body temperature": {Read: 2, Mapped: 1, Skipped: 1}, "oxygen test": {Read: 1, Mapped: 1}, "alertness": {Read: 1, Skipped: 1},
			"sleep.hypnogram": {Read: 1, BadDate: 1}, "sleep.heart_rate_samples": {Read: 1, BadValue: 1}, "nightly recharge.hrv_samples": {Read: 1, BadDate: 1},
		} {
			if got := o.Types[name]; got == nil || *got != want {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
		if len(o.Types) != 22 || o.Rejected != 0 || o.Records != 20 || o.Mapped != 13 {
			t.Errorf("%d types, %v, %+v", len(o.Types), o.Rejections, o.Report)
		}
		checkNight(t, db, user)
		checkDays(t, db, user)
		checkExercises(t, db, user)
		filestest.CompareJSON(t, filestest.Summaries(t, db, user, "profile")[0], map[string]any{"height": 176.0, "sex": "female", "birth_date": "1979-10-11"})

		events := filestest.Events(t, db, user)
		if again := sheettest.Run(t, db, Kind, user, path); again.Created+again.Updated != 0 {
			t.Errorf("the second time: %+v", again.Resources)
		}
		for kind, n := range filestest.Events(t, db, user) {
			if n != events[kind] {
				t.Errorf("%d of %s again", n-events[kind], kind)
			}
		}
	})
}

// checkNight compares the night of the fixture. The night includes values from
// other documents. Its stages begin and end with it. Time that the watch did
// not recognize is sleep without a stage.
func checkNight(t *testing.T, db *store.DB, user users.User) {
	t.Helper()
	nights := filestest.Summaries(t, db, user, "sleep")
	if len(nights) != 1 {
		t.Fatalf("%d nights", len(nights))
	}
	filestest.CompareJSON(t, nights[0], map[string]any{
		"calendar_date": "2025-03-02", "duration": 26970.0, "total": 25260.0, "awake": 1710.0, "score": 78.0, "average_hrv": 41.0, "respiratory_rate": 13.4,
		"skin_temperature": 35.8, "temperature_delta": -0.2, "timezone_offset": 3600.0,
	})
	cycle := filestest.Summaries(t, db, user, "sleep_cycle")[0]
	if got := cycle["stage_type"].([]any); !slices.Equal(got, []any{4.0, 2.0, 1.0, 3.0, 2.0, -1.0}) {
		t.Errorf("stages %v", got)
	}
	if got := cycle["stage_end_offset_second"].([]any); !slices.Equal(got, []any{570.0, 7170.0, 12570.0, 17970.0, 21570.0, 26970.0}) {
		t.Errorf("stages end after %v", got)
	}
	all := sheettest.Series(t, db, user)
	times(t, sheettest.Find(t, all, "hrv", "rmssd", "watch"), map[string]float64{"2025-03-01T22:50:00Z": 39, "2025-03-01T23:55:00Z": 43})
	times(t, sheettest.Find(t, all, "respiratory_rate", "", "watch"), map[string]float64{"2025-03-01T23:55:00Z": 13.2})
	times(t, sheettest.Find(t, all, "heartrate", "", "watch"), map[string]float64{
		"2025-03-01T21:58:00Z": 60, "2025-03-01T22:05:00Z": 55, "2025-03-01T23:05:00Z": 50, // of the night
		"2025-03-02T09:00:00Z": 100, "2025-03-02T09:00:15Z": 110, // of the run
		"2025-03-29T23:05:00Z": 60, "2025-03-30T01:10:00Z": 61, // the clocks were put forward between them
	})
	times(t, sheettest.Find(t, all, "body_temperature", "", "watch"), map[string]float64{"2025-03-02T04:01:00Z": 36.6})
	times(t, sheettest.Find(t, all, "blood_oxygen", "", "watch"), map[string]float64{"2025-03-02T06:00:00Z": 97})
	times(t, sheettest.Find(t, all, "body_weight", "", "app"), map[string]float64{"2025-03-02T07:11:33Z": 71.5})
	times(t, sheettest.Find(t, all, "vo2_max", "", "app"), map[string]float64{"2025-03-02T07:11:33Z": 46})
	steps := sheettest.Find(t, all, "steps", "", "watch")
	times(t, steps, map[string]float64{"2025-03-02T07:00:00Z": 12, "2025-03-02T07:01:00Z": 13})
	if steps.End[0]-steps.Time[0] != 60e6 {
		t.Errorf("%+v", steps)
	}
}

// A day has the values that Polar states, not the steps of two minutes.
func checkDays(t *testing.T, db *store.DB, user users.User) {
	t.Helper()
	for _, day := range filestest.Summaries(t, db, user, "activity") {
		switch day["calendar_date"] {
		case "2025-03-01":
			filestest.CompareJSON(t, day, map[string]any{"steps": 6100.0, "calories_total": 2100.0, "calories_active": 410.0})
		case "2025-03-02":
			filestest.CompareJSON(t, day, map[string]any{"steps": 10250.0, "calories_total": 2300.0, "calories_active": 640.0, "distance": 7800.5})
		}
	}
}

func checkExercises(t *testing.T, db *store.DB, user users.User) {
	t.Helper()
	all := filestest.Summaries(t, db, user, "workouts")
	if len(all) != 2 {
		t.Fatalf("%d workouts", len(all))
	}
	for _, w := range all {
		switch w["provider_id"] {
		case "ex1":
			filestest.CompareJSON(t, w, map[string]any{
				"time_start": "2025-03-02T09:00:00+00:00", "time_end": "2025-03-02T09:30:15.500000+00:00", "timezone_offset": 3600.0,
				"distance": 5012.5, "calories": 300.0, "average_hr": 140.0, "max_hr": 165.0, "max_speed": 4.0, "elev_high": 121.0,
			})
			filestest.CompareJSON(t, w["sport"].(map[string]any), map[string]any{"slug": "running"})
			if w["map"] == nil {
				t.Error("no route")
			}
		case "77": // no offset: the user's zone
			filestest.CompareJSON(t, w, map[string]any{"time_start": "2025-03-03T17:00:00+00:00", "timezone_offset": 3600.0, "average_hr": 110.0})
		default:
			t.Errorf("workout %v", w["provider_id"])
		}
	}
}

func times(t *testing.T, got wearables.Samples, want map[string]float64) {
	t.Helper()
	if got.Len() != len(want) {
		t.Errorf("%s: %d samples, want %d", got.Resource, got.Len(), len(want))
	}
	for i, at := range got.Time {
		shown := time.UnixMicro(at).UTC().Format(time.RFC3339)
		if v, ok := want[shown]; !ok || v != got.Value[i] {
			t.Errorf("%s: %v at %s, want %v", got.Resource, got.Value[i], shown, v)
		}
	}
}

// The watch of an exercise is one of the user's devices.
func TestDevices(t *testing.T) {
	g := repliestest.Gather(t, maker, time.UTC, fixture(t))
	g.Check(t)
	if len(g.Devices) != 2 || g.Devices[0].Model != "Polar Vantage V2" || g.Devices[0].ExternalID != "AB12" {
		t.Errorf("%+v", g.Devices)
	}
}

func TestSeveralPeople(t *testing.T) {
	one := `{"polar_user":"https://x/v3/users/7","date":"2025-03-02","heart_rate_samples":[{"heart_rate":60,"sample_time":"00:05:00"}]}`
	other := strings.Replace(one, "users/7", "users/8", 1)
	bed := filestest.New(t, storetest.SQLite(t))
	if o, err := bed.Import(Kind, filestest.Save(t, []byte(one+other))); !fault.Is(err, fault.Unprocessable) || o.Created != 0 {
		t.Errorf("%v %+v", err, o.Counts)
	}
	if _, err := bed.Import(Kind, filestest.Save(t, []byte(one+one))); err != nil {
		t.Error(err)
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"PT2H44M45S": 2*time.Hour + 44*time.Minute + 45*time.Second, "PT4658.866S": 4658866 * time.Millisecond, "PT1H": time.Hour, "P1DT1M": 24*time.Hour + time.Minute,
	} {
		if got, ok := parseDuration(text); !ok || got != want {
			t.Errorf("%s is %v", text, got)
		}
	}
	for _, text := range []string{"", "P", "PT", "1H", "PT-1H", "P1Y", "PT1H1", "PT9999999999S"} {
		if got, ok := parseDuration(text); ok {
			t.Errorf("%s is %v", text, got)
		}
	}
}

func TestDamage(t *testing.T) {
	one := `{"date":"2025-03-02","heart_rate_samples":[{"heart_rate":60,"sample_time":"00:05:00"}]}`
	steps := `{"date":"2025-06-30","steps":{"interval_ms":60000,"total_steps":9,"samples":[{"steps":5,"timestamp":"2025-06-30T10:00:00"},{"steps":4,"timestamp":"2025-06-30T10:01:00"},{"`
	for name, test := range map[string]struct {
		content   string
		mapped    int64
		damaged   int64
		truncated bool
	}{
		"whole":             {`{"heart_rates":[` + one + `]}`, 1, 0, false},
		"cut in a document": {`{"heart_rates":[` + one + `,{"date":"2025-`, 1, 0, true},
		"cut in the steps":  {steps, 1, 0, true},
		"cut behind them":   {steps + `steps":1,"timestamp":"2025-06-30T10:02:00"}]},"activity_zones":{"samples":[{"zo`, 1, 0, true},
		"no JSON from here": {`[` + one + `,{date:}]`, 1, 1, true},
	} {
		g := repliestest.Gather(t, maker, nil, []byte(test.content))
		if g.Err != nil || g.Report.Mapped != test.mapped || g.Report.Truncated != test.truncated || g.Report.Damaged != test.damaged {
			t.Errorf("%s: %v %+v", name, g.Err, g.Report)
		}
	}
	for name, content := range map[string]string{"nothing": "", "an empty list": "[]", "a day": `{"date":"2025-03-02"}`, "text": "date,bpm\n"} {
		if err := Kind.Check(filestest.Save(t, []byte(content)), 0); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(fixture(f))
	f.Add([]byte(`{"date":"2025-03-02","sleep_start_time":"2025-03-01T23:00:30+14:00","sleep_end_time":"2025-03-02T06:30:00-12:00","hypnogram":{"23:00":0},"heart_rate_samples":{"00:00":1e9}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		repliestest.Gather(t, maker, time.UTC, content).Check(t)
	})
}

// Values that wait for the end of the file are kept without their documents, and their
// number is bounded.
func TestWaitingStateIsBounded(t *testing.T) {
	r := &reader{Reader: &replies.Reader{Report: &files.Report{}}}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for day := range 20 {
		d, ok := replies.Parse([]byte(fmt.Sprintf(`{"date":"2025-03-%02d","ans_charge":1,"hrv_samples":{"23:40":50,"x":2},"breathing_samples":{"0:05":14.1},"padding":"%s"}`,
			day+1, strings.Repeat("x", 1<<20))))
		if !ok {
			t.Fatal(day)
		}
		if became := r.recharge(d); became != replies.Waits {
			t.Fatal(became)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 5<<20 || r.waits != 60 {
		t.Errorf("%d values wait in %d bytes", r.waits, grown)
	}
	r.waits = mostWaiting
	d, _ := replies.Parse([]byte(`{"date":"2025-04-01","ans_charge":1,"hrv_samples":{"23:40":50}}`))
	if became := r.recharge(d); became != replies.Waits || r.Report.Type("nightly recharge.hrv_samples").TooMany != 1 || r.waits != mostWaiting {
		t.Errorf("%v, %+v", became, r.Report.Types)
	}
}

// The number of kept watches is bounded too.
func TestDevicesAreBounded(t *testing.T) {
	r := &reader{Reader: &replies.Reader{Report: &files.Report{}}}
	for i := range 150 {
		d, ok := replies.Parse([]byte(fmt.Sprintf(`{"device_id":"%d"}`, i%120)))
		if !ok {
			t.Fatal(i)
		}
		r.own(hyphenated(d))
	}
	if len(r.owned) != 100 {
		t.Errorf("%d devices", len(r.owned))
	}
}

// The account's height has no time: it is that of the day of the file's arrival, in any
// order of measurements.
func TestTheAccountsHeightIsOfToday(t *testing.T) {
	const (
		measured = `{"id":3,"transaction-id":9,"created":"2015-03-02T07:11:33.000Z","maximum-heart-rate":186,"weight":71.5,"height":170.0}`
		later    = `{"id":4,"transaction-id":9,"created":"2016-03-02T07:11:33.000Z","maximum-heart-rate":186,"weight":71.5,"height":172.0}`
		account  = `{"polar-user-id":7,"member-id":"m-1","birthdate":"1979-10-11","gender":"FEMALE","height":181}`
	)
	for name, c := range map[string]struct {
		uploads []string
		want    float64
	}{
		"measured, then the account":  {[]string{"[" + measured + "," + account + "]"}, 181},
		"the account, then measured":  {[]string{"[" + account + "," + measured + "," + later + "]"}, 181},
		"in two files":                {[]string{measured, account}, 181},
		"in two files, the other way": {[]string{account, measured}, 181},
		"without the account's":       {[]string{"[" + later + "," + measured + "]"}, 172},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				user := sheettest.User(t, db, "")
				for _, content := range c.uploads {
					sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(content)))
				}
				filestest.CompareJSON(t, filestest.Summaries(t, db, user, "profile")[0], map[string]any{"height": c.want})
			})
		})
	}
}
