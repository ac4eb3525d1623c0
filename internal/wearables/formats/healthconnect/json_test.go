package healthconnect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

// The table lists the content of the files of the four writers, by type.
func TestJSONCounts(t *testing.T) {
	type counts struct {
		Types                                      map[string]*files.TypeCount
		Records, Mapped, Copies, Damaged, Workouts int64
	}
	got := map[string]counts{}
	db := storetest.SQLite(t)
	for _, name := range []string{"client.json", "capacitor.jsonl", "gateway.json", "webhook.jsonl"} {
		o := sheettest.Run(t, db, Kind, sheettest.User(t, db, ""), filepath.Join("testdata", name))
		got[name] = counts{o.Types, o.Records, o.Mapped, o.Copies, o.Damaged, o.Workouts}
		if o.Truncated || len(o.Rejections) > 0 {
			t.Errorf("%s: %+v", name, o)
		}
	}
	filestest.CompareGolden(t, "json-counts.golden.json", got)
}

const knownOffset = -4 * 3600

func TestJSONValues(t *testing.T) {
	for name, want := range map[string][]struct {
		resource, kind, source, app string
		offset                      int32
		values                      []float64
	}{
		"client.json": {
			{"steps", "", "watch", "com.mi.health", knownOffset, []float64{1000, 400}}, // the same steps of a second app are a copy
			{"heartrate", "", "watch", "com.mi.health", knownOffset, []float64{120, 150, 165}},
			{"body_weight", "", "scale", "com.renpho.health", knownOffset, []float64{71.25}}, // other apps state the phone's offset
			{"calories_active", "", "watch", "com.mi.health", knownOffset, []float64{300}},
			{"distance", "", "watch", "com.mi.health", knownOffset, []float64{5000}},
			{"blood_pressure", "", "app", "com.example.diary", knownOffset, []float64{121}},
			{"glucose", "automatic", "automatic", "com.example.sensor", knownOffset, []float64{5.4}},
			{"carbohydrates", "", "app", "com.example.diary", knownOffset, []float64{62.5}},
			{"body_temperature_delta", "", "watch", "com.mi.health", knownOffset, []float64{-0.2}},
		},
		"capacitor.jsonl": {
			{"steps", "", "watch", "com.mi.health", knownOffset, []float64{1000}},
			{"distance", "", "watch", "com.mi.health", knownOffset, []float64{812.5}},
			{"heartrate", "", "watch", "com.mi.health", 0, []float64{71}}, // Z, of an app that also writes other offsets
			{"body_weight", "", "scale", "com.renpho.health", knownOffset, []float64{71.25}},
			{"body_fat", "", "scale", "com.renpho.health", knownOffset, []float64{18.4}},
			{"glucose", "", "fingerprick", "com.example.diary", knownOffset, []float64{5.4}},
		},
		"gateway.json": {
			{"blood_oxygen", "", "watch", "com.mi.health", wearables.NoOffset, []float64{97}},
			{"heartrate", "", "watch", "com.mi.health", wearables.NoOffset, []float64{52}},
			{"hrv", "rmssd", "watch", "com.mi.health", wearables.NoOffset, []float64{42.5}},
		},
		"webhook.jsonl": {
			{"steps", "", "watch", "com.mi.health", wearables.NoOffset, []float64{1000}}, // and not the sum of the day
			{"heartrate", "", "watch", "com.mi.health", wearables.NoOffset, []float64{61, 63}},
			{"hrv", "rmssd", "unknown", "", wearables.NoOffset, []float64{42.5}},
			{"calories_active", "", "watch", "com.mi.health", wearables.NoOffset, []float64{300.5}},
			{"body_weight", "", "app", "com.renpho.health", wearables.NoOffset, []float64{71.25}},
			{"blood_pressure", "", "unknown", "", wearables.NoOffset, []float64{121}},
			{"body_temperature_delta", "", "unknown", "", wearables.NoOffset, []float64{-0.2}},
			{"carbohydrates", "", "app", "com.example.diary", wearables.NoOffset, []float64{62.5}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := storetest.SQLite(t)
			user := sheettest.User(t, db, "")
			sheettest.Run(t, db, Kind, user, filepath.Join("testdata", name))
			all := sheettest.Series(t, db, user)
			for _, w := range want {
				got := sheettest.Find(t, all, w.resource, w.kind, w.source)
				if got.Source.AppID != w.app || !slices.Equal(got.Value, w.values) {
					t.Errorf("%s of %s %s: %v", w.resource, w.source, got.Source.AppID, got.Value)
				}
				if slices.ContainsFunc(got.Offset, func(o int32) bool { return o != w.offset }) {
					t.Errorf("%s: offsets %v, want %d", w.resource, got.Offset, w.offset)
				}
			}
			if len(all) != len(want) {
				t.Errorf("%d series, want %d", len(all), len(want))
			}
		})
	}
}

func TestJSONSessions(t *testing.T) {
	imported := func(t *testing.T, name string) (*store.DB, users.User) {
		t.Helper()
		db := storetest.SQLite(t)
		user := sheettest.User(t, db, "")
		sheettest.Run(t, db, Kind, user, filepath.Join("testdata", name))
		return db, user
	}
	t.Run("client", func(t *testing.T) {
		db, user := imported(t, "client.json")
		filestest.Has(t, db, user, "sleep", map[string]any{ // as it was last changed
			"calendar_date": "2024-07-01", "duration": 28800, "total": 27000, "awake": 1200, "latency": 600, "light": 7200, "deep": 7200, "rem": 7200, "timezone_offset": knownOffset,
		})
		filestest.Has(t, db, user, "workouts", map[string]any{
			"title": "Lunch run", "sport": map[string]any{"id": 37, "name": "Running", "slug": "running"}, "distance": 5000, "calories": 300,
			"average_hr": 145, "max_hr": 165, "provider_id": "00112233-4455-6677-8899-aabbccddeeff", "elev_low": 34, "elev_high": 36.5, "timezone_offset": knownOffset,
		}, map[string]any{"title": "Breath", "sport": map[string]any{"id": 29, "name": "Mind And Body", "slug": "mind_and_body"}})
		filestest.Has(t, db, user, "activity", map[string]any{"calendar_date": "2024-07-01", "steps": 1400, "distance": 5000, "calories_active": 300})
	})
	t.Run("gateway", func(t *testing.T) {
		db, user := imported(t, "gateway.json")
		filestest.Has(t, db, user, "sleep", map[string]any{"duration": 28800, "deep": 28200, "hr_average": 52, "average_hrv": 42.5})
	})
	t.Run("webhook", func(t *testing.T) {
		db, user := imported(t, "webhook.jsonl")
		filestest.Has(t, db, user, "sleep", map[string]any{ // to the millisecond, as in its first stage
			"bedtime_start": "2024-07-01T03:00:00.250000+00:00", "bedtime_stop": "2024-07-01T11:00:00+00:00", "light": 7799, "deep": 21000,
		})
		filestest.Has(t, db, user, "workouts", map[string]any{"title": "Lunch run", "calories": 300.5})
		filestest.Has(t, db, user, "profile", map[string]any{"height": 176})
	})
}

// The same records give the same rows, whether they come as a database or as JSON. The
// second import changes nothing.
func TestComparisonIsSymmetric(t *testing.T) {
	path := build(t, "schema.sql", "week.sql")
	storetest.Each(t, func(t *testing.T, db *store.DB) { compareImports(t, db, path) })
}

func TestComparisonIsSymmetricProperty(t *testing.T) {
	db := storetest.SQLite(t)
	days := rapid.Custom(drawRecords)
	for seed := range 25 {
		if compareImports(t, db, build(t, "schema.sql", days.Example(seed))); t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, days.Example(seed))
		}
	}
}

func compareImports(t *testing.T, db *store.DB, path string) {
	t.Helper()
	text := filestest.Save(t, asJSON(t, path))
	phone, client := sheettest.User(t, db, ""), sheettest.User(t, db, "")
	first := sheettest.Run(t, db, Kind, phone, path)
	sheettest.Run(t, db, Kind, client, text)
	stored, other := rowsOf(t, db, phone), rowsOf(t, db, client)
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		if stored[name] != other[name] {
			t.Errorf("%s is\n%s\nas JSON\n%s", name, stored[name], other[name])
		}
	}
	if len(stored) != len(other) {
		t.Errorf("%d series, as JSON %d", len(stored), len(other))
	}
	for _, again := range []*files.Outcome{sheettest.Run(t, db, Kind, phone, text), sheettest.Run(t, db, Kind, client, path)} {
		if again.Created+again.Updated != 0 || again.Unchanged != first.Created+first.Unchanged {
			t.Errorf("the other way changes something: %+v, first %+v: %v", again.Counts, first.Counts, again.Resources)
		}
	}
}

// Samples have the place of the thermometer. If a value is already stored without it,
// reads return it once, with the place.
func TestThermometers(t *testing.T) {
	insert := func(location string) string {
		return `INSERT INTO application_info_table (row_id, package_name) VALUES (7, 'com.example.diary');
			INSERT INTO body_temperature_record_table (app_info_id, recording_method, time, zone_offset, measurement_location, temperature) VALUES (7, 3, 1719835200000, 0, ` + location + `, 36.8)`
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for location, want := range map[string]string{"1": "armpit", "4": "mouth", "6": "temporal_artery", "9": "wrist", "10": "", "0": "", "'x'": "", "NULL": ""} {
			user := sheettest.User(t, db, "")
			sheettest.Run(t, db, Kind, user, build(t, "schema.sql", insert("NULL")))
			text := `{"BodyTemperature":{"records":[{"time":"2024-07-01T12:00:00Z","zoneOffset":{"totalSeconds":0},"temperature":{"inCelsius":36.8},` +
				`"measurementLocation":` + strings.ToLower(strings.ReplaceAll(location, "'", `"`)) + `,"metadata":{"dataOrigin":"com.example.diary","recordingMethod":3}}]}}`
			for _, path := range []string{build(t, "schema.sql", insert(location)), filestest.Save(t, []byte(text))} {
				sheettest.Run(t, db, Kind, user, path)
				values := 0
				for _, s := range sheettest.Series(t, db, user) {
					if values += s.Len(); s.Resource != "body_temperature" || s.Len() > 0 && s.Extra != want {
						t.Errorf("%s: %s of %q, want %q", location, s.Resource, s.Extra, want)
					}
				}
				if values != 1 {
					t.Errorf("%s: the value is there %d times", location, values)
				}
			}
		}
	})
}

// rowsOf returns a user's data by its keys, without fields that differ between users.
func rowsOf(t *testing.T, db *store.DB, user users.User) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, s := range sheettest.Series(t, db, user) {
		all[fmt.Sprintf("%s %s %s %+v", s.Resource, s.Type, s.Extra, s.Source)] = fmt.Sprint(s.Time, s.End, s.Offset, s.Value, s.Value2)
	}
	for _, resource := range []string{"activity", "body", "profile", "sleep", "sleep_cycle", "workouts"} {
		var docs []string
		for _, doc := range filestest.Summaries(t, db, user, resource) {
			for _, own := range []string{"id", "user_id", "sleep_id", "created_at", "updated_at"} {
				delete(doc, own)
			}
			docs = append(docs, fmt.Sprint(doc))
		}
		slices.Sort(docs) // by day they are in the order of ids
		all[resource] = strings.Join(docs, "\n")
	}
	return all
}

// drawRecords draws records of three apps over some days, as SQL. Records of different apps
// may be copies, and one app always writes an offset of zero.
func drawRecords(r *rapid.T) string {
	var b strings.Builder
	b.WriteString(`INSERT INTO application_info_table (row_id, package_name) VALUES (1, 'com.example.one'), (2, 'com.garmin.two'), (3, 'com.renpho.three');
		INSERT INTO device_info_table VALUES (1, 'Maker', 'Watch', 1), (2, NULL, NULL, 0);
		INSERT INTO basal_metabolic_rate_record_table (app_info_id, time, basal_metabolic_rate) VALUES (1, 1719835200000, 80), (2, 1719835200000, 80), (3, 1719835200000, 80);`)
	var at, app, method int64
	var device, zone string
	draw := func() {
		at = 1719835200000 + 900_000*rapid.Int64Range(0, 200).Draw(r, "at")
		app = rapid.Int64Range(1, 3).Draw(r, "app")
		method = rapid.Int64Range(0, 3).Draw(r, "method")
		device = rapid.SampledFrom([]string{"NULL", "1", "2"}).Draw(r, "device")
		zone = rapid.SampledFrom([]string{"NULL", "0", "7200", "-14400"}).Draw(r, "zone")
		if app == 3 {
			zone = "0"
		}
	}
	for range rapid.IntRange(0, 12).Draw(r, "amounts") {
		draw()
		table := rapid.SampledFrom([]string{"steps.count", "distance.distance", "active_calories_burned.energy", "hydration.volume", "floors_climbed.floors"}).Draw(r, "table")
		name, column, _ := strings.Cut(table, ".")
		fmt.Fprintf(&b, "INSERT INTO %s_record_table (app_info_id, device_info_id, recording_method, start_time, start_zone_offset, end_time, %s) VALUES (%d, %s, %d, %d, %s, %d, %d);",
			name, column, app, device, method, at, zone, at+600_000, rapid.IntRange(1, 3).Draw(r, "value"))
	}
	for range rapid.IntRange(0, 8).Draw(r, "points") {
		draw()
		table := rapid.SampledFrom([]string{
			"weight.weight.70250.5", "oxygen_saturation.percentage.97", "respiratory_rate.rate.14.5", "heart_rate_variability_rmssd.heart_rate_variability_millis.40.25", "resting_heart_rate.beats_per_minute.55",
		}).Draw(r, "table")
		part := strings.SplitN(table, ".", 3)
		fmt.Fprintf(&b, "INSERT INTO %s_record_table (app_info_id, device_info_id, recording_method, time, zone_offset, %s) VALUES (%d, %s, %d, %d, %s, %s);",
			part[0], part[1], app, device, method, at+app, zone, part[2]) // restingHeartRate rates of several apps at one time are not used
	}
	named := rapid.Bool().Draw(r, "named") // a writer gives an id to all nights or to none
	for i := range rapid.IntRange(0, 4).Draw(r, "sessions") {
		draw()
		fmt.Fprintf(&b, "INSERT INTO heart_rate_record_table (row_id, app_info_id, device_info_id, recording_method, start_time, start_zone_offset, end_time) VALUES (%d, %d, %s, %d, %d, %s, %d);", i+1, app, device, method, at, zone, at+900_000)
		for n := range rapid.IntRange(0, 5).Draw(r, "samples") {
			fmt.Fprintf(&b, "INSERT INTO heart_rate_record_series_table VALUES (%d, %d, %d);", i+1, 60+int64(n)+app, at+int64(n)*60_000)
		}
		fmt.Fprintf(&b, "INSERT INTO exercise_session_record_table (row_id, uuid, app_info_id, device_info_id, recording_method, start_time, start_zone_offset, end_time, exercise_type) VALUES (%d, X'%032x', %d, %s, %d, %d, %s, %d, 33);", i+1, i+1, app, device, method, at, zone, at+1_800_000)
		id := "NULL"
		if named {
			id = fmt.Sprintf("X'%032x'", i+1)
		}
		fmt.Fprintf(&b, "INSERT INTO sleep_session_record_table (row_id, uuid, app_info_id, device_info_id, recording_method, start_time, start_zone_offset, end_time, end_zone_offset) VALUES (%d, %s, %d, %s, %d, %d, %s, %d, %s);", i+1, id, app, device, method, at, zone, at+14_400_000, zone)
		for n := range rapid.IntRange(0, 3).Draw(r, "stages") {
			fmt.Fprintf(&b, "INSERT INTO sleep_stages_table VALUES (%d, %d, %d, %d);", i+1, at+int64(n)*3_600_000, at+int64(n+1)*3_600_000, rapid.IntRange(0, 7).Draw(r, "stage"))
		}
	}
	return b.String()
}

// Every table and column that the reader uses has a form that fills it.
func TestFormsMapToTheTables(t *testing.T) {
	for i := range rules {
		r := &rules[i]
		table, wanted := r.table, []string{r.value, r.value2}
		if r.parent != "" {
			if !slices.Contains(layout[r.table], r.value) || !slices.Contains(layout[r.table], "epoch_millis") {
				t.Errorf("%s: %v", r.table, layout[r.table])
			}
			table, wanted = r.parent, nil
		}
		at, offset := r.clock()
		for _, column := range append(wanted, at, offset) {
			if column != "" && !slices.Contains(layout[table], column) {
				t.Errorf("%s has no %s", table, column)
			}
		}
	}
	for name, record := range distinctFields {
		if formNamed(record) == nil {
			t.Errorf("%s names %s, which is none", name, record)
		}
	}
	for _, name := range []string{
		"Steps", "steps", "StepsRecord", "heart_rate", "HeartRateSeries", "heartRate", "HeartRateVariabilityRmssd", "active_calories", "ActivitySession",
		"sleep", "SpeedSeries", "menstruationFlow", "vo2Max", "BASAL_METABOLIC_RATE", "PlannedExerciseSession",
	} {
		if formNamed(name) == nil {
			t.Errorf("%s is nothing", name)
		}
	}
	for _, name := range []string{"", "data", "step", "series", "user", strings.Repeat("steps", 50)} {
		if f := formNamed(name); f != nil {
			t.Errorf("%q is %s", name, f.record)
		}
	}
}

// The client library numbers exercises differently from the platform.
func TestClientExercises(t *testing.T) {
	for number, slug := range map[int64]string{
		0: "other", 2: "badminton", 8: "cycling", 25: "elliptical", 37: "hiking", 54: "rowing", 56: "running", 57: "treadmill_running", 70: "strength_training",
		74: "swimming", 79: "walking", 83: "yoga", 1: "other", 84: "other", -1: "other",
	} {
		if got := sportOf(platformExercise(float64(number))); got.Slug != slug {
			t.Errorf("%d is %s, want %s", number, got.Slug, slug)
		}
	}
	if len(clientExercises) != len(exercises) {
		t.Errorf("%d of %d", len(clientExercises), len(exercises))
	}
	if sorted := slices.Sorted(slices.Values(clientExercises)); len(slices.Compact(sorted)) != len(clientExercises) {
		t.Errorf("some twice: %v", sorted)
	}
}

func TestMeasures(t *testing.T) {
	for _, test := range []struct {
		in   measure
		raw  string
		want float64 // NaN for none
	}{
		{gram, `{"inKilograms":71.25}`, 71250},
		{gram, `{"inKilograms":71.25,"inGrams":71251}`, 71251},
		{gram, `{"unit":"kilograms","value":71.25}`, 71250},
		{gram, `{"unit":"pound","value":10}`, 4535.9237},
		{gram, `{"unit":"stone","value":11}`, math.NaN()},
		{gram, `{"value":11}`, math.NaN()},
		{gram, `71.25`, math.NaN()},
		{gram, `{"inKilograms":"71"}`, math.NaN()},
		{calorie, `{"inKilojoules":4.184}`, 1000},
		{metre, `{"inFeet":10}`, 3.048},
		{litre, `{"inMilliliters":250}`, 0.25},
		{millimolar, `{"unit":"milligramsPerDeciliter","value":97.2}`, 5.4},
		{plainMeasure, `14.5`, 14.5},
		{plainMeasure, `{"value":18.4}`, 18.4},
		{plainMeasure, `"14"`, math.NaN()},
		{plainMeasure, `null`, math.NaN()},
		{plainMeasure, `1e999`, math.NaN()},
		{plainMeasure, ``, math.NaN()},
	} {
		got, ok := test.in.read([]byte(test.raw))
		if ok == math.IsNaN(test.want) || ok && math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s is %v, %v", test.raw, got, ok)
		}
	}
}

func TestOtherJSONIsRefused(t *testing.T) {
	for name, content := range map[string]string{
		"nothing": "", "text": "time,weight\n", "a number": "7", "an empty list": "[]", "an empty page": `{"records":[],"pageToken":null}`,
		"an empty payload": `{"timestamp":"2024-07-01T20:00:00Z","app_version":"1","steps":[]}`, "numbers": "[1,2]",
		"a value of another maker":       `{"data":[{"bpm":61,"source":"rest","timestamp":"2025-03-05T08:00:00+00:00"}]}`,
		"a list of another payload":      `{"steps":[{"count":1000,"start_time":"2024-07-01T12:00:00Z","end_time":"2024-07-01T13:00:00Z"}]}`,
		"a record without its times":     `{"recordType":"Steps","count":7}`,
		"an activity with a start":       `{"weight":[{"time":"08:00","kg":7}]}`,
		"another first":                  `[{"a":1},{"recordType":"Weight","time":"2024-07-01T12:00:00Z","weight":{"inGrams":1}}]`,
		"one value longer than a record": `{"data":["` + strings.Repeat("x", 2*maxRecord) + `"]}`,
		"lists in lists":                 strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		"objects in objects":             strings.Repeat(`{"data":`, 9000),
		"only objects":                   strings.Repeat("{}", 9000),
	} {
		var unlike *files.UnlikeError
		if err := check(filestest.Save(t, []byte(content)), 0); !errors.As(err, &unlike) {
			t.Errorf("%s: %v", name, err)
		}
	}
	nameless := `[{"_id":"1","id":"1","app":"com.example.one","start":"2024-07-01T05:00:00Z","end":"2024-07-01T06:00:00Z","data":{"count":10}}]`
	if err := check(filestest.Save(t, []byte(nameless)), 0); !errors.Is(err, errNameless) {
		t.Errorf("records of an unknown kind: %v", err)
	}
	one := `{"recordType":"Weight","time":"2024-07-01T12:00:00Z","weight":{"inGrams":1}}`
	if err := check(filestest.Save(t, []byte(one)), 10); !fault.Is(err, fault.TooLarge) {
		t.Errorf("over the limit: %v", err)
	}
}

func TestJSONDamage(t *testing.T) {
	one := func(day int) string {
		return fmt.Sprintf(`{"recordType":"Weight","time":"2024-07-%02dT12:00:00Z","weight":{"inGrams":71000}}`, day)
	}
	for name, test := range map[string]struct {
		content   string
		mapped    int64
		damaged   int64
		truncated bool
	}{
		"one":                 {one(1), 1, 0, false},
		"byte order mark":     {"\ufeff" + one(1), 1, 0, false},
		"a list":              {`[` + one(1) + `,` + one(2) + `]`, 2, 0, false},
		"a page":              {`{"records":[` + one(1) + `],"pageToken":"x"}`, 1, 0, false},
		"one by line":         {one(1) + "\n" + one(2) + "\n", 2, 0, false},
		"cut in a record":     {`[` + one(1) + `,{"recordType":"We`, 1, 0, true},
		"cut behind a record": {`{"records":[` + one(1), 1, 0, true},
		"cut behind a list":   {`{"records":[` + one(1) + `]`, 1, 0, true},
		"cut behind a comma":  {`[` + one(1) + `,`, 1, 0, true},
		"no JSON from here":   {`[` + one(1) + `,{recordType:}]`, 1, 1, true},
		"no object":           {`[` + one(1) + `,7,` + one(2) + `]`, 2, 1, false},
	} {
		o, err := runAlone(t, []byte(test.content))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if o.Mapped != test.mapped || o.Damaged != test.damaged || o.Truncated != test.truncated {
			t.Errorf("%s: %+v", name, o.Report)
		}
	}
}

// If a file has a record twice, the version that changed last counts.
func TestRepeatedFile(t *testing.T) {
	one := func(modified, grams string) string {
		return `{"recordType":"Weight","time":"2024-07-01T12:00:00Z","weight":{"inGrams":` + grams + `},"metadata":{"id":"6f1c1f6e-0001-4000-8000-000000000001","lastModifiedTime":"` + modified + `"}}`
	}
	early, late := one("2024-07-01T12:01:00Z", "70000"), one("2024-07-01T12:02:00Z", "71000")
	for name, content := range map[string]string{"in order": early + late, "late first": late + early, "and again": late + early + late} {
		db := storetest.SQLite(t)
		user := sheettest.User(t, db, "")
		o := sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(content)))
		if got := sheettest.Find(t, sheettest.Series(t, db, user), "body_weight", "", "unknown"); !slices.Equal(got.Value, []float64{71}) {
			t.Errorf("%s: %v", name, got.Value)
		}
		if o.Mapped != 1 || o.Copies != int64(strings.Count(content, "recordType"))-1 {
			t.Errorf("%s: %+v", name, o.Report)
		}
	}
}

// An import leaves no file beside the upload, even if it fails or is canceled.
func TestUploadLeavesNoTemporaryFiles(t *testing.T) {
	long := `{"recordType":"Weight","time":"2024-07-01T12:00:00Z","weight":{"inGrams":1}}` + "\n" + `{"a":"` + strings.Repeat("x", maxRecord+maxRecord/2) + `"}`
	path := filestest.Save(t, []byte(long))
	in := files.Input{Path: path, DB: storetest.SQLite(t), Sink: &keeper{}}
	if _, err := run(t.Context(), in); !fault.Is(err, fault.Unprocessable) {
		t.Errorf("a record that is too long: %v", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(canceled, in); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

func FuzzJSON(f *testing.F) {
	for _, name := range []string{"client.json", "capacitor.jsonl", "gateway.json", "webhook.jsonl"} {
		f.Add(contents(f, filepath.Join("testdata", name)))
	}
	f.Add([]byte(`{"recordType":"BloodGlucose","time":"2024-07-01T12:00:00Z","level":{"unit":"millimolesPerLiter","value":1e308},"specimenSource":9e99}`))
	f.Add([]byte(`{"metadata":{"id":"x","device":{"type":-9e15},"recordingMethod":"x"},"startTime":"9999-12-31T23:59:59Z","endTime":"0000-01-01T00:00:00Z","startZoneOffset":{"totalSeconds":9e15},"stages":[{"stage":[]}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		r := &reader{stage: columns{t}, report: &files.Report{}}
		err := r.read(t.Context(), bytes.NewReader(content))
		if kind := fault.KindOf(err); err != nil && kind != fault.Unprocessable {
			t.Fatal(err)
		}
	})
}

// columns checks that rows fit into their tables, and keeps none.
type columns struct{ t *testing.T }

func (c columns) add(f *form, w *writtenRecord, values ...any) (int64, bool, error) {
	times := 2
	if f.span {
		times = 4
	}
	if len(commonColumns)+times+len(values) != len(layout[f.table]) || !isID(w.id) {
		c.t.Errorf("%s gets %v", f.table, values)
	}
	return 1, false, c.insert(f.table, make([]any, len(layout[f.table]))...)
}

// isID reports whether an id has one of the three forms of writtenRecord.
func isID(id any) bool {
	switch id := id.(type) {
	case []byte:
		return len(id) == 16
	case string:
		return id != "" && len(id) <= longestID
	}
	return id == nil
}

func (c columns) samplesOf(f *form, w *writtenRecord) (int64, error) {
	row, _, err := c.add(f, w, make([]any, len(f.fields))...)
	return row, err
}

func (c columns) insert(table string, values ...any) error {
	if len(values) != len(layout[table]) {
		c.t.Errorf("%s has %d columns and gets %v", table, len(layout[table]), values)
	}
	return nil
}
