package push

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
)

func documentNamed(tb testing.TB, name string) *wearables.Document {
	tb.Helper()
	d, ok := wearables.DocumentNamed(name)
	if !ok {
		tb.Fatalf("no document %s", name)
	}
	return d
}

func TestSummariesInBothSpellings(t *testing.T) {
	got, err := ParseSummaries([]byte(`{"isFinalChunk":true,"timeZone":"Europe/Berlin","stage":"historical","data":[
		{"bedtimeStart":"2026-02-28T23:00:00Z","bedtime_stop":"2026-03-01T05:30:00Z","duration":23400,"timezone_offset":-36000,"unheardOf":{"a":[1]},
		 "sourceType":"watch","sourceBundle":"com.example","id":"mine","created_at":"long ago"},
		{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z","calendar_date":"2026-03-03","source":{"type":"phone","app_id":null},"deep":null}
	],"provider":"apple_health_kit"}`), documentNamed(t, "sleep"))
	if err != nil {
		t.Fatal(err)
	}
	if !got.Final || got.Stage != wearables.Historical || got.TimeZone != "Europe/Berlin" || len(got.Summaries) != 2 {
		t.Fatalf("%+v", got)
	}
	first, second := got.Summaries[0], got.Summaries[1]
	if !first.Date.IsZero() || first.Key != "2026-02-28T23:00:00Z|watch|com.example" || first.Source.AppID != "com.example" {
		t.Errorf("first %+v", first)
	}
	var body map[string]any
	if err := json.Unmarshal(first.Body, &body); err != nil {
		t.Fatal(err)
	}
	if body["bedtime_start"] != "2026-02-28T23:00:00Z" || body["duration"] != 23400.0 || body["id"] != nil || body["created_at"] != nil || body["unheard_of"] != nil {
		t.Errorf("body %v", body)
	}
	if second.Date.String() != "2026-03-03" || second.Source.Type != "phone" || second.Key != "2026-03-01T22:00:00Z|phone|" {
		t.Errorf("second %+v", second)
	}
}

// The place of a session is the stated one, or the offset in the text of its
// start. Otherwise it is the device's zone, whose name does not apply to a
// session in another offset. A summary without a field for the place has the day
// of that place at once.
func TestZoneOfASession(t *testing.T) {
	for _, c := range []struct{ document, start, more, zone, offset, name, day string }{
		{"sleep", "2026-03-01T22:00:00Z", ``, "Asia/Tokyo", "32400", "", ""},
		{"sleep", "2026-03-01T22:00:00+00:00", ``, "Asia/Tokyo", "32400", "", ""},
		{"sleep", "2026-03-01T22:00:00-05:00", ``, "Asia/Tokyo", "-18000", "", ""},
		{"sleep", "2026-03-01T22:00:00-05:00", ``, "", "-18000", "", ""},
		{"sleep", "2026-03-01T22:00:00-05:00", `,"timezone_offset":3600`, "Asia/Tokyo", "3600", "", ""},
		{"sleep", "2026-03-01T22:00:00Z", ``, "", "", "", ""},
		{"sleep_cycle", "2026-03-01T22:00:00Z", ``, "Asia/Tokyo", "", `"Asia/Tokyo"`, ""},
		{"sleep_cycle", "2026-03-01T22:00:00+09:00", ``, "Asia/Tokyo", "", `"Asia/Tokyo"`, ""},
		{"sleep_cycle", "2026-03-01T22:00:00-05:00", ``, "Asia/Tokyo", "", "", "2026-03-02"},
		{"sleep_cycle", "2026-03-01T22:00:00Z", `,"timezone_offset":-28800`, "", "", "", "2026-03-01"},
		{"sleep_cycle", "2026-03-01T22:00:00-05:00", `,"time_zone":"America/New_York"`, "Asia/Tokyo", "", `"America/New_York"`, ""},
		{"meal", "2026-11-02T23:30:00Z", ``, "Europe/Berlin", "", "", "2026-11-03"},
		{"meal", "2026-11-02T23:30:00Z", `,"timezone_offset":3600`, "", "", "", "2026-11-03"},
		{"meal", "2026-11-02T23:30:00Z", `,"timezoneOffset":0`, "Europe/Berlin", "", "", "2026-11-02"},
		{"meal", "2026-11-03T00:30:00+01:00", `,"timezone_offset":null`, "", "", "", "2026-11-03"},
		{"meal", "2026-11-03T00:30:00+01:00", ``, "America/New_York", "", "", "2026-11-03"},
		{"meal", "2026-11-02T23:30:00Z", `,"calendar_date":"2026-11-05"`, "Europe/Berlin", "", "", "2026-11-05"},
		{"meal", "2026-11-02T23:30:00Z", ``, "", "", "", ""},
		{"electrocardiogram", "2026-03-01T22:00:00Z", `,"timezone_offset":32400`, "", "", "", "2026-03-02"},
		{"sleep", "2026-03-01T22:00:00Z", `,"timezone_offset":7200.0`, "", "7200.0", "", ""},
		{"meal", "2026-03-01T22:00:00Z", `,"timezone_offset":7200.0`, "", "", "", "2026-03-02"},
		{"sleep_cycle", "2026-03-01T22:00:00Z", `,"timezone_offset":-3.6e4`, "", "", "", "2026-03-01"},
		{"electrocardiogram", "2026-03-01T22:00:00Z", `,"timezoneOffset":-0.0`, "Asia/Tokyo", "", "", "2026-03-01"},
	} {
		d := documentNamed(t, c.document)
		text := `{"stage":"daily","provider":"x","time_zone":"` + c.zone + `","data":[{"` + d.Start + `":"` + c.start + `","` + cmp.Or(d.End, "end") + `":"2026-03-02T06:00:00Z"` + c.more + `}]}`
		if c.zone == "" {
			text = strings.Replace(text, `"time_zone":"",`, "", 1)
		}
		got, err := ParseSummaries([]byte(text), d)
		if err != nil {
			t.Fatal(err)
		}
		var body map[string]json.RawMessage
		if err := json.Unmarshal(got.Summaries[0].Body, &body); err != nil {
			t.Fatal(err)
		}
		day := ""
		if at := got.Summaries[0].Date; !at.IsZero() {
			day = at.String()
		}
		if offset, name := string(body["timezone_offset"]), string(body["time_zone"]); offset != c.offset || name != c.name || day != c.day {
			t.Errorf("%+v: offset %s, zone %s, day %s", c, offset, name, day)
		}
	}
}

// A sport without a number has that of HealthKit's list, as in imports.
func TestSportNumbers(t *testing.T) {
	for sport, want := range map[string]string{
		`{"name":"Running","slug":"running"}`:        `"id":37`,
		`{"name":"Chess","slug":"chess"}`:            `"id":3000`,
		`{"id":7,"name":"Running","slug":"running"}`: `"id":7`,
		`{"id":null,"name":"Yoga at","slug":"yoga"}`: `"id":57`,
	} {
		got, err := ParseSummaries(body(`[{"time_start":"2026-03-01T07:00:00Z","time_end":"2026-03-01T08:00:00Z","sport":`+sport+`}]`), documentNamed(t, "workouts"))
		if err != nil {
			t.Fatal(err)
		}
		if text := string(got.Summaries[0].Body); !strings.Contains(text, want+`,`) {
			t.Errorf("%s is stored as %s", sport, text)
		}
	}
}

func TestDayKeysKeepSourcesApart(t *testing.T) {
	got, err := ParseSummaries(body(`[{"calendar_date":"2026-03-01","product_type":"Watch6,1"},{"calendar_date":"2026-03-01","product_type":"iPhone14,2"}]`), documentNamed(t, "activity"))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := got.Summaries[0].Key, got.Summaries[1].Key; a != "2026-03-01|watch|" || b != "2026-03-01|phone|" {
		t.Errorf("keys %s and %s", a, b)
	}
}

func TestFaultsOfSummariesNameTheField(t *testing.T) {
	for _, c := range []struct{ document, data, code, loc string }{
		{"activity", `[{"steps":1}]`, "missing", "body.data.0.calendar_date"},
		{"activity", `[{"calendar_date":"2026-02-30"}]`, "value_error", "body.data.0.calendar_date"},
		{"activity", `[{"calendar_date":"2026-03-01","steps":1.5}]`, "value_error", "body.data.0.steps"},
		{"activity", `[{"calendar_date":"2026-03-01","source":[]}]`, "value_error", "body.data.0.source"},
		{"activity", `[{"calendar_date":"2026-03-01","source":{"app_id":"a\u0000b"}}]`, "value_error", "body.data.0.source"},
		{"activity", `[{"calendar_date":"2026-03-01","sourceBundle":"a\u0000b"}]`, "value_error", "body.data.0.source_bundle"},
		{"activity", `[{"calendar_date":"2026-03-01","source_app_id":"` + strings.Repeat("x", 257) + `"}]`, "string_too_long", "body.data.0.source_app_id"},
		{"activity", `[{"calendar_date":"2026-03-01","steps":1e16}]`, "value_error", "body.data.0.steps"},
		{"activity", `[null]`, "model_attributes_type", "body.data.0"},
		{"activity", `[{"calendar_date":"2026-03-01"}`, "json_invalid", "body"},
		{"workouts", `[{"title":"x"}]`, "missing", "body.data.0.time_start"},
		{"workouts", `[{"time_start":"noon"}]`, "value_error", "body.data.0.time_start"},
		{"meal", `[{"timestamp":"2026-03-01T22:00:00Z","timezone_offset":"1h"}]`, "int_type", "body.data.0.timezone_offset"},
		{"meal", `[{"timestamp":"2026-03-01T22:00:00Z","timezone_offset":100000}]`, "int_type", "body.data.0.timezone_offset"},
		{"meal", `[{"timestamp":"2026-03-01T22:00:00Z","timezone_offset":-93600.5}]`, "int_type", "body.data.0.timezone_offset"},
		{"meal", `[{"timestamp":"2026-03-01T22:00:00Z","timezone_offset":1e999}]`, "int_type", "body.data.0.timezone_offset"},
		{"sleep", `[{"bedtime_start":"2026-03-01T22:00:00"}]`, "value_error", "body.data.0.bedtime_start"},
	} {
		_, err := ParseSummaries(body(c.data), documentNamed(t, c.document))
		var one *fault.Error
		if !errors.As(err, &one) {
			t.Errorf("%s: %v", c.data, err)
			continue
		}
		if loc := strings.Join(one.Loc(), "."); one.Code() != c.code || loc != c.loc {
			t.Errorf("%s: %s at %s, want %s at %s", c.data, one.Code(), loc, c.code, c.loc)
		}
	}
}

// FuzzParseSummaries checks that accepted texts are JSON, and that each
// summary's body is a document that could be stored.
func FuzzParseSummaries(f *testing.F) {
	f.Add(body(`[{"calendar_date":"2026-03-01","steps":1,"heart_rate":{"avg_bpm":60.5},"source_type":"watch"}]`))
	f.Add(body(`[{"calendarDate":"2026-03-01","SOURCE":{"type":null},"device_id":"x"},{}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ParseSummaries(data, documentNamed(t, "activity"))
		if err != nil {
			return
		}
		if !json.Valid(data) || !utf8.Valid(data) {
			t.Fatalf("%q was taken", data)
		}
		for _, s := range got.Summaries {
			if !json.Valid(s.Body) || s.Key == "" || s.Date.IsZero() {
				t.Fatalf("%q gave %+v", data, s)
			}
		}
	})
}

// A malformed summary is left out and counted; the others keep their places.
func TestMalformedSummaries(t *testing.T) {
	got, err := ParseSummaries(body(`[{"calendar_date":"2026-03-01","steps":1.5},null,{"calendar_date":"2026-03-02","steps":7},{"steps":1},
		{"calendar_date":"2026-03-03","source_device_id":"x"}]`), documentNamed(t, "activity"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Reject{{"malformed_steps", 1, 0}, {"malformed_element", 1, 1}, {"implausible_value", 1, 2}, {"missing_calendar_date", 1, 3}, {"malformed_source_device_id", 1, 4}}
	rejects := got.Rejects(wearables.Result{Rejections: []wearables.Rejection{{Reason: "implausible_value", Count: 1}}})
	if !slices.Equal(rejects, want) || len(got.Summaries) != 1 || !slices.Equal(got.Index, []int{2}) {
		t.Errorf("%+v of %+v", rejects, got.Summaries)
	}
}

// A meal's energy may be in kilojoules or small calories.
func TestEnergyOfMeals(t *testing.T) {
	got, err := ParseSummaries(body(`[{"timestamp":"2026-03-01T12:00:00Z","energy":{"unit":"kJ","value":836.8},
		"data":{"Rice":{"energy":{"unit":"cal","value":150000}},"Tea":{"energy":{"unit":"kcal","value":2}}}}]`), documentNamed(t, "meal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"energy":{"unit":"kcal","value":200}`, `"Rice":{"energy":{"unit":"kcal","value":150}}`, `"Tea":{"energy":{"unit":"kcal","value":2}}`} {
		if text := string(got.Summaries[0].Body); !strings.Contains(text, want) {
			t.Errorf("%s without %s", text, want)
		}
	}
}
