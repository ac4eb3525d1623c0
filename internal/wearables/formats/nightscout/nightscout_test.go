package nightscout

import (
	"encoding/json"
	"math"
	"path/filepath"
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
	"hale/internal/wearables/formats/sheet"
	"hale/internal/wearables/formats/sheet/sheettest"
)

func TestImportRealDocuments(t *testing.T) {
	glucose := testdata.Shared(t, "wearables/nightscout/oref0-glucose.json")
	carbs := testdata.Shared(t, "wearables/nightscout/oref0-carbhistory.json")
	pump := testdata.Shared(t, "wearables/nightscout/oref0-pumphistory.json")
	link := testdata.Shared(t, "wearables/libre/librelinkup-entries.json")
	var other []map[string]any
	filestest.Decode(t, glucose, json.Unmarshal, &other)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		for path, want := range map[string][2]int64{glucose: {6, 6}, carbs: {2, 2}, pump: {3, 1}, link: {1, 1}} {
			o := sheettest.Run(t, db, Kind, user, path)
			if o.Records != want[0] || o.Mapped != want[1] || int64(o.Created) != want[1] || o.Damaged != 0 {
				t.Errorf("%s: %+v %+v", filepath.Base(path), o.Report, o.Counts)
			}
			if again := sheettest.Run(t, db, Kind, user, path); again.Created+again.Updated != 0 {
				t.Errorf("%s the second time: %+v", filepath.Base(path), again.Counts)
			}
		}
		all := sheettest.Series(t, db, user)
		got := sheettest.Find(t, all, "glucose", "automatic", "automatic")
		if got.Len() != len(other)+1 || got.Source.Provider != "manual" || got.Source.AppID != "nightscout" {
			t.Fatalf("%d samples of %+v", got.Len(), got.Source)
		}
		for i, one := range other { // the newest comes first in the document
			n := len(other) - 1 - i
			at := int64(one["date"].(float64)) * 1000
			if got.Time[n] != at || got.Offset[n] != -7*3600 || math.Abs(got.Value[n]*18.0182-one["sgv"].(float64)) > 1e-9 {
				t.Errorf("reading %d is %v at %v, %d", i, got.Value[n], time.UnixMicro(got.Time[n]).UTC(), got.Offset[n])
			}
		}
		if food := sheettest.Find(t, all, "carbohydrates", "", "app"); food.Len() != 2 || food.Value[0] != 5 || food.Value[1] != 15 {
			t.Errorf("%+v", food)
		}
		bolus := sheettest.Find(t, all, "insulin_injection", "rapid_acting", "insulin_pump")
		if at := time.Date(2018, 6, 2, 7, 5, 0, 0, time.UTC).UnixMicro(); bolus.Len() != 1 || bolus.Value[0] != 0.4 || bolus.Time[0] != at || bolus.Offset[0] != -7*3600 {
			t.Errorf("%+v", bolus)
		}
	})
}

func TestImportFixtures(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "Europe/Berlin")
		o := sheettest.Run(t, db, Kind, user, filepath.Join("testdata", "treatments.json"))
		want := map[string]files.TypeCount{
			"Meal Bolus": {Read: 1, Mapped: 1}, "SMB": {Read: 1, Mapped: 1}, "Correction Bolus": {Read: 1, Mapped: 1},
			"BG Check": {Read: 4, Mapped: 2, BadUnit: 1, Skipped: 1}, "Temp Basal": {Read: 1, Skipped: 1},
			"Note": {Read: 1, Skipped: 1}, "other": {Read: 1, Skipped: 1}, "Carb Correction": {Read: 1, BadDate: 1},
		}
		filestest.Types(t, o, want)
		if o.Records != 11 || o.Mapped != 5 || o.Damaged != 1 || o.Created != 6 {
			t.Errorf("%+v %+v", o.Report, o.Counts)
		}
		o = sheettest.Run(t, db, Kind, user, filepath.Join("testdata", "entries.jsonl"))
		filestest.Types(t, o, map[string]files.TypeCount{
			"sgv": {Read: 5, Mapped: 3, BadValue: 1, BadDate: 1}, "sgv outside the range": {Read: 1, Skipped: 1},
			"mbg": {Read: 1, Mapped: 1}, "cal": {Read: 1, Skipped: 1},
		})
		all := sheettest.Series(t, db, user)
		for _, s := range []struct {
			resource, kind, source string
			values                 []float64
			offset                 int32
		}{
			{"glucose", "automatic", "automatic", []float64{101 / 18.0182, 104 / 18.0182, 110 / 18.0182}, 7200},
			{"glucose", "", "fingerprick", []float64{6.9, 90 / 18.0182, 126 / 18.0182}, 7200},
			{"carbohydrates", "", "app", []float64{45}, 7200},
			{"insulin_injection", "rapid_acting", "app", []float64{4.5}, 7200},
			{"insulin_injection", "rapid_acting", "insulin_pump", []float64{0.3, 1}, 7200},
		} {
			got := sheettest.Find(t, all, s.resource, s.kind, s.source)
			if got.Len() != len(s.values) || got.Offset[0] != s.offset {
				t.Fatalf("%s %s: %+v", s.resource, s.source, got)
			}
			for i, v := range s.values {
				if math.Abs(got.Value[i]-v) > 1e-9 {
					t.Errorf("%s %s: %v, want %v", s.resource, s.source, got.Value, s.values)
				}
			}
		}
		blood := sheettest.Find(t, all, "glucose", "", "fingerprick")
		if blood.Offset[1] != -7*3600 { // the uploader's offset has precedence over the fallback zone
			t.Errorf("%v", blood.Offset)
		}
	})
}

// Food and insulin of one moment are added up, in any order of the records, and a
// repeated record counts once.
func TestSamplesOfOneInstant(t *testing.T) {
	one := func(id, kind, rest string) string {
		return `{"_id":"` + id + `","eventType":"` + kind + `","created_at":"2024-05-01T06:30:00Z",` + rest + `}`
	}
	all := []string{
		one("1", "Meal Bolus", `"carbs":45.1,"insulin":4.5`), one("2", "Carb Correction", `"carbs":12`), one("3", "Correction Bolus", `"insulin":0.2`),
		one("1", "Meal Bolus", `"carbs":45.1,"insulin":4.5`), one("4", "SMB", `"insulin":0.3,"isSMB":true`), one("5", "Carb Correction", `"carbs":0.3`),
	}
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	o := sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte("["+strings.Join(all, ",")+"]")))
	series := sheettest.Series(t, db, user)
	for _, want := range []struct {
		resource, kind, source string
		value                  float64
	}{{"carbohydrates", "", "app", 57.4}, {"insulin_injection", "rapid_acting", "app", 4.7}, {"insulin_injection", "rapid_acting", "insulin_pump", 0.3}} {
		if got := sheettest.Find(t, series, want.resource, want.kind, want.source); got.Len() != 1 || math.Abs(got.Value[0]-want.value) > 1e-9 {
			t.Errorf("%s of %s: %v, want %v", want.resource, want.source, got.Value, want.value)
		}
	}
	if o.Created != 3 {
		t.Errorf("%+v", o.Counts)
	}
	slices.Reverse(all)
	if again := sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(strings.Join(all, "\n")))); again.Unchanged != 3 || again.Created+again.Updated != 0 {
		t.Errorf("in the other order: %+v", again.Counts)
	}
}

// A dose is a bolus, whatever the type of its treatment. If the same dose is already
// stored without words, reads return it once, with the words.
func TestBoluses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for _, kind := range []string{"Meal Bolus", "Snack Bolus", "Correction Bolus", "Bolus", "Note", "Anything"} {
			user := sheettest.User(t, db, "")
			at := time.Date(2024, 5, 1, 6, 30, 0, 0, time.UTC)
			before := wearables.Batch{Provider: Provider, Stage: wearables.Daily, Samples: []wearables.Samples{{
				Resource: "insulin_injection", Type: "rapid_acting", Source: sourceOf("app"),
				Time: []int64{at.UnixMicro()}, End: []int64{at.UnixMicro()}, Offset: []int32{wearables.NoOffset}, Value: []float64{4.5},
			}}}
			in := sheettest.Input(db, user, "")
			if _, err := in.Sink.Ingest(filestest.Context(user), user, before); err != nil {
				t.Fatal(err)
			}
			sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(`[{"eventType":"`+kind+`","created_at":"2024-05-01T06:30:00Z","insulin":4.5}]`)))
			if got := doses(t, db, user); !slices.Equal(got, []float64{4.5}) {
				t.Errorf("%s: %v units", kind, got)
			}
		}
	})
}

// doses returns the units of insulin of all samples. It checks that they are boluses.
func doses(t *testing.T, db *store.DB, user users.User) (all []float64) {
	t.Helper()
	for _, s := range sheettest.Series(t, db, user) {
		if all = append(all, s.Value...); s.Len() > 0 && s.Extra != "bolus,," {
			t.Errorf("words %q of %v units", s.Extra, s.Value)
		}
	}
	return all
}

// A later export replaces an earlier export's values of the same moment. It does so
// even after a correction of a treatment's type, or with an additional treatment. So
// only the last export counts.
func TestLaterExports(t *testing.T) {
	one := func(kind, units string) string {
		return `{"eventType":"` + kind + `","created_at":"2024-05-01T06:30:00Z","insulin":` + units + `}`
	}
	correction := one("Correction Bolus", "3")
	for name, c := range map[string]struct {
		exports []string
		want    float64
	}{
		"the type":              {[]string{correction, one("Meal Bolus", "3")}, 3},
		"the type and amount":   {[]string{correction, one("Meal Bolus", "4")}, 4},
		"the type, and back":    {[]string{correction, one("Meal Bolus", "3"), one("Correction Bolus", "2")}, 2},
		"a second dose":         {[]string{correction, correction + "," + one("Meal Bolus", "2")}, 5},
		"a second, of no bolus": {[]string{correction, correction + "," + one("Note", "2")}, 5},
		"the second is gone":    {[]string{correction + "," + one("Meal Bolus", "2"), correction}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				user := sheettest.User(t, db, "")
				for _, list := range c.exports {
					sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte("["+list+"]")))
				}
				if got := doses(t, db, user); !slices.Equal(got, []float64{c.want}) {
					t.Errorf("%v units, want %v", got, c.want)
				}
			})
		})
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	filestest.CheckRefused(t, Kind, map[string]string{
		"another list": `[{"name":"a","date":1}]`, "numbers": `[1,2]`, "an empty list": `[]`, "text": "sgv,date\n", "a run": `[{"type":"Run","date":"2024-05-01"}]`,
		"a graph": `{"data":{"graphData":[]}}`, "a long text": `["` + strings.Repeat("x", 2*sheet.MaxRecord) + `"]`, "nothing but space": "   ", "zip": "PK\x03\x04",
	})
}

func TestDamage(t *testing.T) {
	one := `{"type":"sgv","sgv":101,"date":1714543200000}`
	for name, test := range map[string]struct {
		content   string
		mapped    int64
		truncated bool
	}{
		"byte order mark":     {"\ufeff[" + one + `]`, 1, false},
		"whole":               {`[` + one + `,` + one + `]`, 2, false},
		"cut in a record":     {`[` + one + `,{"type":"sg`, 1, true},
		"cut after a record":  {`[` + one, 1, true},
		"cut between records": {`[` + one + `,`, 1, true},
		"no JSON from here":   {`[` + one + `,{type:}]`, 1, true},
		"lines cut":           {one + "\n" + `{"type"`, 1, true},
		"lines":               {one + "\n" + one, 2, false},
	} {
		g := sheettest.Gather(t, read, time.UTC, []byte(test.content))
		if g.Err != nil || g.Report.Mapped != test.mapped || g.Report.Truncated != test.truncated {
			t.Errorf("%s: %v %+v", name, g.Err, g.Report)
		}
	}
	long := sheettest.Gather(t, read, time.UTC, []byte(`[`+one+`,{"notes":"`+strings.Repeat("x", 2*sheet.MaxRecord)+`"}]`))
	if !fault.Is(long.Err, fault.Unprocessable) || long.Report.Mapped != 1 {
		t.Errorf("%v %+v", long.Err, long.Report)
	}
}

func FuzzRead(f *testing.F) {
	filestest.Seed(f, "treatments.json", "entries.jsonl")
	f.Add([]byte(`[{"_type":"Bolus","timestamp":"2018-06-02T00:05:00-07:00","amount":0.4}]`))
	f.Fuzz(func(t *testing.T, content []byte) {
		sheettest.Gather(t, read, time.UTC, content).Check(t)
	})
}
