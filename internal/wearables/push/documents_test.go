package push

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"hale/internal/fault"
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
	if first.Date.String() != "2026-02-28" || first.Key != "2026-02-28T23:00:00Z|watch|com.example" || first.Source.AppID != "com.example" {
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
		{"activity", `[{"calendar_date":"2026-03-01"},{"calendar_date":"2026-03-01","steps":1.5}]`, "value_error", "body.data.1.steps"},
		{"activity", `[{"calendar_date":"2026-03-01","source":[]}]`, "value_error", "body.data.0.source"},
		{"activity", `[{"calendar_date":"2026-03-01","source":{"app_id":"a\u0000b"}}]`, "value_error", "body.data.0.source"},
		{"activity", `[{"calendar_date":"2026-03-01","sourceBundle":"a\u0000b"}]`, "value_error", "body.data.0.source_bundle"},
		{"activity", `[{"calendar_date":"2026-03-01","source_app_id":"` + strings.Repeat("x", 257) + `"}]`, "string_too_long", "body.data.0.source_app_id"},
		{"activity", `[{"calendar_date":"2026-03-01","steps":1e16}]`, "value_error", "body.data.0.steps"},
		{"activity", `[null]`, "model_attributes_type", "body.data.0"},
		{"activity", `[{"calendar_date":"2026-03-01"}`, "json_invalid", "body"},
		{"workouts", `[{"title":"x"}]`, "missing", "body.data.0.time_start"},
		{"workouts", `[{"time_start":"noon"}]`, "value_error", "body.data.0.time_start"},
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

// FuzzParseSummaries: what is taken is JSON, and each summary's body is a
// document that could be stored.
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
