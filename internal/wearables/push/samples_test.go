package push

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
)

// insulin is a resource whose samples have all that samples can have.
var (
	insulin, _   = wearables.ResourceNamed("insulin_injection")
	heartrate, _ = wearables.ResourceNamed("heartrate")
)

func body(data string) []byte {
	return []byte(`{"stage":"daily","provider":"apple_health_kit","data":` + data + `}`)
}

func micros(text string) int64 {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t.UnixMicro()
}

func TestBothFormsOfSample(t *testing.T) {
	got, err := Parse([]byte(`{
		"data": [
			{"value": 61, "startDate": "2017-03-07T06:30:00Z", "endDate": "2017-03-07T06:31:00Z", "sourceBundle": "com.apple.health.1",
			 "productType": "Watch6,1", "type": null, "unit": "bpm", "metadata": {"HKWasUserEntered": [1, {"a": "}"}]}},
			{"timestamp": "2017-03-07T08:31:00.25+02:00", "timezone_offset": 7200, "type": null, "unit": "bpm", "value": 62.5,
			 "source_type": "watch", "source_app_id": "com.apple.health.1"},
			{"timestamp": "2017-03-07T06:32:00+00:00", "value": 63, "source": {"type": "phone", "app_id": "a\u00e9\ud83d\ude00"}}
		],
		"time_zone": "Europe/Helsinki", "is_final_chunk": true, "end_date": "2017-03-08", "start_date": "2017-03-01T00:00:00Z",
		"unknown": {"nested": [[]]}, "provider": "apple_health_kit", "stage": "historical"}`), insulin)
	if err != nil {
		t.Fatal(err)
	}
	if got.Stage != wearables.Historical || !got.Final || got.Provider != "apple_health_kit" || got.Count != 3 {
		t.Errorf("head %+v", got.Head)
	}
	if want := micros("2017-03-08T23:59:59Z"); got.End.UnixMicro() != want || got.Start.UnixMicro() != micros("2017-03-01T00:00:00Z") {
		t.Errorf("range %v to %v", got.Start, got.End)
	}
	if len(got.Groups) != 3 {
		t.Fatalf("%d groups", len(got.Groups))
	}
	first, second, third := got.Groups[0], got.Groups[1], got.Groups[2]
	if first.Source.Type != "watch" || first.Source.AppID != "com.apple.health.1" || first.Unit != "bpm" ||
		first.Time[0] != micros("2017-03-07T06:30:00Z") || first.End[0] != micros("2017-03-07T06:31:00Z") || first.Offset[0] != wearables.MarkAssumed(7200) {
		t.Errorf("first %+v", first)
	}
	if second.Time[0] != micros("2017-03-07T06:31:00Z")+250_000 || second.Offset[0] != 7200 || second.Value[0] != 62.5 || second.Index[0] != 1 {
		t.Errorf("second %+v", second)
	}
	if third.Source.Type != "phone" || third.Source.AppID != "aé😀" || third.Offset[0] != wearables.MarkAssumed(7200) || third.End != nil {
		t.Errorf("third %+v", third)
	}
}

// The words of a resource's further fields divide samples as their type does.
// The parser skips a field that the resource does not have, with any content.
func TestWordsOfFurtherFields(t *testing.T) {
	const list = `[{"timestamp":"2017-03-07T06:30:00Z","value":4,"delivery_mode":"bolus","delivery_form":null,"bolus_purpose":"meal"},
		{"timestamp":"2017-03-07T06:31:00Z","value":3,"bolusPurpose":"meal","deliveryMode":"bolus","sensor_location":7},
		{"timestamp":"2017-03-07T06:32:00Z","value":2,"delivery_mode":null},
		{"timestamp":"2017-03-07T06:33:00Z","value":1,"bolus_purpose":"me\u0061l","intensity":{}},
		{"timestamp":"2017-03-07T06:34:00Z","value":5}]`
	got, err := Parse(body(list), insulin)
	if err != nil {
		t.Fatal(err)
	}
	series, err := ParseSeries(seriesBody(`{"insulin_injection":` + list + `,"heartrate":[{"timestamp":"2017-03-07T06:30:00Z","value":60,"delivery_mode":1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, groups := range [][]Group{got.Groups, series.Parts[0].Groups} {
		var words []string
		for _, g := range groups {
			words = append(words, fmt.Sprint(g.Extra, g.Value))
		}
		if want := "bolus,,meal[4 3] [2 5] ,,meal[1]"; strings.Join(words, " ") != want {
			t.Errorf("got %q, want %s", words, want)
		}
	}
	if g := series.Parts[1].Groups; len(g) != 1 || g[0].Extra != "" {
		t.Errorf("heart rates %+v", g)
	}
}

func TestBloodPressureOfAnSDK(t *testing.T) {
	got, err := Parse(body(`[{"systolic":{"value":120,"startDate":"2017-03-07T06:30:00Z","unit":"mmHg"},"diastolic":{"value":80.5,"unit":"mmHg"}},
		{"timestamp":"2017-03-07T06:31:00Z","systolic":121,"diastolic":81,"unit":"mmHg"}]`), insulin)
	if err != nil {
		t.Fatal(err)
	}
	g := got.Groups[0]
	if len(got.Groups) != 1 || g.Len() != 2 || g.Value[1] != 121 || g.Value2[0] != 80.5 || g.Value2[1] != 81 {
		t.Fatalf("%+v", got.Groups)
	}
}

func TestFaultsNameTheField(t *testing.T) {
	const ok = `"timestamp":"2017-03-07T06:30:00Z","value":1`
	for _, c := range []struct {
		body, code, loc string
	}{
		{`{}`, "missing", "body.stage"},
		{`[]`, "model_attributes_type", "body"},
		{``, "json_invalid", "body"},
		{`{"stage":`, "json_invalid", "body"},
		{`{"stage":"daily","provider":"x","data":[]`, "json_invalid", "body"},
		{`{"stage":"daily","provider":"x","data":[]} x`, "json_invalid", "body"},
		{`{"stage":"daily","provider":"x","data":[],}`, "json_invalid", "body"},
		{`{"stage":"weekly","provider":"x","data":[]}`, "enum", "body.stage"},
		{`{"stage":"daily","provider":7,"data":[]}`, "string_type", "body.provider"},
		{`{"stage":"daily","provider":"x"}`, "missing", "body.data"},
		{`{"stage":"daily","provider":"x","data":{}}`, "list_type", "body.data"},
		{`{"stage":"daily","provider":"x","data":[],"time_zone":"Mars/Base"}`, "value_error", "body.time_zone"},
		{`{"stage":"daily","provider":"x","data":[],"start_date":"soon"}`, "datetime_parsing", "body.start_date"},
		{`{"stage":"daily","provider":"x","data":[],"is_final_chunk":1}`, "bool_type", "body.is_final_chunk"},
		{string(body(`[7]`)), "model_attributes_type", "body.data.0"},
		{string(body(`[{"value":1},{"timestamp":1,"value":1}]`)), "missing", "body.data.0.timestamp"},
		{string(body(`[{"timestamp":"2017-03-07T06:30:00Z"}]`)), "missing", "body.data.0.value"},
		{string(body(`[{"timestamp":"2017-03-07T06:30:00","value":1}]`)), "datetime_parsing", "body.data.0.timestamp"},
		{string(body(`[{"timestamp":"2017-02-30T06:30:00Z","value":1}]`)), "datetime_parsing", "body.data.0.timestamp"},
		{string(body(`[{` + ok + `,"value":"1"}]`)), "float_type", "body.data.0.value"},
		{string(body(`[{` + ok + `,"value":1e999}]`)), "finite_number", "body.data.0.value"},
		{string(body(`[{` + ok + `,"value":01}]`)), "json_invalid", "body"},
		{string(body(`[{` + ok + `,"timezone_offset":0.5}]`)), "int_type", "body.data.0.timezone_offset"},
		{string(body(`[{` + ok + `,"device_id":"x"}]`)), "uuid_parsing", "body.data.0.source_device_id"},
		{string(body(`[{` + ok + `,"delivery_form":7}]`)), "string_type", "body.data.0.delivery_form"},
		{string(body(`[{` + ok + `,"bolusPurpose":"` + strings.Repeat("m", 257) + `"}]`)), "string_too_long", "body.data.0.bolus_purpose"},
		{string(body(`[{` + ok + `,"source":[]}]`)), "model_attributes_type", "body.data.0.source"},
		{string(body(`[{` + ok + `,"unit":"` + strings.Repeat("m", 257) + `"}]`)), "string_too_long", "body.data.0.unit"},
		{string(body(`[{` + ok + `,"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}]`)), "value_error", "body.data.0"},
		{string(body(`[{` + ok + `,"value":` + strings.Repeat(`{"value":`, 1000) + "1" + strings.Repeat("}", 1000) + `}]`)), "float_type", "body.data.0.value"},
		{"{\"stage\":\"\xff\"}", "json_invalid", "body"},
		{string(body("[{" + ok + ",\"unit\":\"a\nb\"}]")), "json_invalid", "body"},
	} {
		_, err := Parse([]byte(c.body), insulin)
		var list fault.List
		var one *fault.Error
		if errors.As(err, &list) {
			one = list[0]
		} else if !errors.As(err, &one) {
			t.Errorf("%.80s: got %v", c.body, err)
			continue
		}
		if loc := strings.Join(one.Loc(), "."); one.Code() != c.code || loc != c.loc || one.Kind() != fault.Invalid {
			t.Errorf("%.80s: %s at %s (%s), want %s at %s", c.body, one.Code(), loc, one.Message(), c.code, c.loc)
		}
	}
}

// A malformed sample is left out and counted; the others are stored.
func TestMalformedSamples(t *testing.T) {
	const ok = `"timestamp":"2017-03-07T06:30:00Z","value":1`
	for _, c := range []struct{ sample, reason string }{
		{`null`, "malformed_element"},
		{`7`, "malformed_element"},
		{`{"timestamp":"2017-03-07T06:30:00Z","value":null}`, "missing_value"},
		{`{"timestamp":null,"value":1}`, "missing_timestamp"},
		{`{"timestamp":"2017-03-07T24:00:00Z","value":1}`, "malformed_timestamp"},
		{`{"timestamp":"2017-03-07T06:30:00+19:00","value":1}`, "malformed_timestamp"},
		{`{` + ok + `,"end":"2017-03-07T24:00:00Z"}`, "malformed_end"},
		{`{` + ok + `,"timezone_offset":64801}`, "malformed_timezone_offset"},
		{`{` + ok + `,"timezone_offset":-64801}`, "malformed_timezone_offset"},
		{`{` + ok + `,"value":"1"}`, "malformed_value"},
		{`{` + ok + `,"value":1e999}`, "malformed_value"},
		{`{` + ok + `,"unit":"\ud83c"}`, "malformed_unit"},
		{`{` + ok + `,"device_id":"x"}`, "malformed_source_device_id"},
	} {
		for _, list := range []string{"{" + ok + "}," + c.sample + ",{" + ok + "}", "{" + ok + "},{" + ok + "}," + c.sample, c.sample + ",{" + ok + "}"} {
			got, err := Parse(body("["+list+"]"), heartrate)
			if err != nil {
				t.Errorf("%s: %v", list, err)
				continue
			}
			before, _, _ := strings.Cut(list+",", ","+c.sample+",")
			at := strings.Count(before, ok)
			if strings.HasPrefix(list, c.sample) {
				at = 0
			}
			batch, rejects := got.Batch(heartrate)
			stored := strings.Count(list, "{"+ok+"}")
			if want := []Reject{{c.reason, 1, at}}; !slices.Equal(rejects, want) || batch.Samples[0].Len() != stored || got.Rows != nil {
				t.Errorf("%s: %+v, want %+v", list, rejects, want)
			}
		}
	}
}

func TestTooManySamples(t *testing.T) {
	one := `{"timestamp":"2017-03-07T06:30:00Z","value":1}`
	full := body("[" + strings.Repeat(one+",", MostSamples-1) + one + "]")
	if got, err := Parse(full, insulin); err != nil || got.Count != MostSamples {
		t.Fatal(err)
	}
	over := body("[" + strings.Repeat(one+",", MostSamples) + one + "]")
	if _, err := Parse(over, insulin); !fault.Is(err, fault.TooLarge) {
		t.Fatalf("got %v", err)
	}
}

func TestNumbersAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,3})?`),
			rapid.Map(rapid.Float64(), func(f float64) string { b, _ := json.Marshal(f); return string(b) }),
		).Draw(t, "number")
		s := scanner{b: []byte(text), index: -1}
		got, err := s.number()
		var want float64
		wantErr := json.Unmarshal([]byte(text), &want)
		if (err == nil) != (wantErr == nil) || err == nil && (math.Float64bits(got) != math.Float64bits(want) || s.pos != len(text)) {
			t.Fatalf("%s: got %v (%v), want %v (%v)", text, got, err, want, wantErr)
		}
	})
}

func TestMomentsAgreeWithTime(t *testing.T) {
	var m moments
	rapid.Check(t, func(t *rapid.T) {
		us := rapid.Int64Range(micros("1950-01-01T00:00:00Z"), micros("2100-01-01T00:00:00Z")).Draw(t, "instant")
		minutes := rapid.SampledFrom([]int{0, 60, -210, 345, 14 * 60}).Draw(t, "offset")
		layout := rapid.SampledFrom([]string{time.RFC3339Nano, "2006-01-02 15:04:05.999999Z0700", "2006-01-02T15:04:05.999999Z07:00"}).Draw(t, "layout")
		text := time.UnixMicro(us).In(time.FixedZone("", minutes*60)).Format(layout)
		got, offset, ok := m.parse([]byte(text))
		want := int32(minutes * 60)
		if minutes == 0 {
			want = wearables.NoOffset
		}
		if !ok || got != us || offset != want {
			t.Fatalf("%s: got %d, %d, %v; want %d, %d", text, got, offset, ok, us, want)
		}
	})
	for _, bad := range []string{
		"", "2017-03-07", "2017-03-07T06:30:00", "2017-03-07T24:00:00Z", "2017-03-07T06:60:00Z", "2017-03-07T06:30:00.Z",
		"2017-03-07T06:30:00+1", "2017-03-07T06:30:00+24:00", "2017-03-07T06:30:00+01:00x", "2017-13-07T06:30:00Z", "20170307T063000Z00000",
	} {
		if _, _, ok := m.parse([]byte(bad)); ok {
			t.Errorf("%q was taken for an instant", bad)
		}
	}
}

// wireSample is the oracle's view of a sample, for encoding/json.
type wireSample struct {
	Timestamp time.Time `json:"timestamp"`
	Offset    *int32    `json:"timezone_offset"`
	Type      *string   `json:"type"`
	Unit      string    `json:"unit"`
	Value     float64   `json:"value"`
	App       string    `json:"source_app_id"`
	Extra     any       `json:"extra,omitempty"`
}

func TestColumnsAgreeWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Custom(func(t *rapid.T) wireSample {
			s := wireSample{
				Timestamp: time.UnixMicro(rapid.Int64Range(1e15, 2e15).Draw(t, "time")).UTC(),
				Unit:      rapid.SampledFrom([]string{"bpm", "", "°C", "a\"b\\c\n"}).Draw(t, "unit"),
				Value:     rapid.Float64().Draw(t, "value"),
				App:       rapid.String().Filter(func(s string) bool { return !strings.Contains(s, "\x00") && len(s) < 256 }).Draw(t, "app"),
			}
			if rapid.Bool().Draw(t, "has offset") {
				offset := rapid.Int32Range(-50_000, 50_000).Draw(t, "offset")
				s.Offset = &offset
			}
			if rapid.Bool().Draw(t, "has extra") {
				s.Extra = map[string]any{"k": []any{1, "x", nil, true, map[string]any{}}}
			}
			return s
		})
		want := rapid.SliceOfN(one, 0, 60).Draw(t, "samples")
		data, err := json.Marshal(map[string]any{"stage": "daily", "provider": "x", "data": want})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(data, insulin)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, g := range got.Groups {
			for i, index := range g.Index {
				seen++
				w := want[index]
				offset := wearables.NoOffset
				if g.Offset != nil {
					offset = g.Offset[i]
				}
				wantOffset := wearables.NoOffset
				if w.Offset != nil {
					wantOffset = *w.Offset
				}
				if g.Time[i] != w.Timestamp.UnixMicro() || g.Value[i] != w.Value || g.Unit != w.Unit || g.Source.AppID != w.App || offset != wantOffset {
					t.Fatalf("sample %d is %v %v %q %q %d, want %+v", index, g.Time[i], g.Value[i], g.Unit, g.Source.AppID, offset, w)
				}
			}
		}
		if seen != len(want) || got.Count != len(want) {
			t.Fatalf("%d of %d samples came through", seen, len(want))
		}
	})
}

// FuzzParse checks that accepted texts are JSON, and that texts refused as
// invalid JSON are not.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"stage":"daily","provider":"x","time_zone":"Europe/Berlin","data":[{"timestamp":"2017-03-07T06:30:00Z","value":6.1e1}]}`))
	f.Add(body(`[{"startDate":"2017-03-07T06:30:00+01:00","value":{"value":-0},"source":{"app_id":"\u00e9\ud83d"}}, {}]`))
	f.Add([]byte(`{"a":[tru,"\x",01,1.,1e,{"b":nul}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Parse(data, insulin)
		if err == nil {
			if !json.Valid(data) || !utf8.Valid(data) {
				t.Fatalf("%q was taken", data)
			}
			n := 0
			for _, g := range got.Groups {
				n += g.Len()
				if len(g.Index) != g.Len() || len(g.Value) != g.Len() {
					t.Fatal("columns of unequal length")
				}
			}
			malformed := 0
			for _, r := range got.Malformed {
				malformed += r.Count
			}
			if n+malformed != got.Count || n == 0 && malformed > 0 {
				t.Fatalf("%d samples in groups and %d malformed ones, %d in all", n, malformed, got.Count)
			}
			return
		}
		var one *fault.Error
		if errors.As(err, &one) && one.Code() == "json_invalid" && json.Valid(data) && utf8.Valid(data) {
			t.Fatalf("%q was refused as no JSON: %v", data, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var sb strings.Builder
	sb.WriteString(`{"stage":"daily","provider":"apple_health_kit","data":[`)
	const n = 10_000
	for i := range n {
		if i > 0 {
			sb.WriteByte(',')
		}
		when := time.Unix(1_488_844_800+int64(i)*60, 0).UTC().Format("2006-01-02T15:04:05+00:00")
		fmt.Fprintf(&sb, `{"timestamp":"%s","timezone_offset":3600,"type":null,"unit":"bpm","value":%d}`, when, 60+i%40)
	}
	sb.WriteString(`]}`)
	data := []byte(sb.String())
	heart, _ := wearables.ResourceNamed("heartrate")
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Parse(data, heart); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/sample")
}

// Half of a surrogate pair would make one app of all that differ in it.
func TestUnpairedRecord(t *testing.T) {
	for _, app := range []string{`\ud83d`, `\ude00x`, `a\ud83d\u0041`} {
		_, err := Parse(body(`[{"timestamp":"2017-03-07T06:30:00Z","value":1,"source":{"app_id":"`+app+`"}}]`), insulin)
		var one *fault.Error
		if !errors.As(err, &one) || one.Code() != "string_unicode" {
			t.Errorf("%s: %v", app, err)
		}
	}
}

// Clients need the type of samples of some resources, and both numbers of a blood
// pressure. A sample without them is left out and counted under the missing field,
// for any source.
func TestIncompleteSamples(t *testing.T) {
	named := func(name string) *wearables.Resource {
		r, ok := wearables.ResourceNamed(name)
		if !ok {
			t.Fatal(name)
		}
		return r
	}
	const at = `"timestamp":"2017-03-07T06:30:00Z"`
	for _, name := range []string{"cholesterol", "heart_rate_alert", "insulin_injection", "stand_hour"} {
		got, err := Parse(body(`[{`+at+`,"value":1,"type":"`+named(name).Types[0]+`"},{`+at+`,"value":1,"source_type":"watch"},{`+at+`,"value":1,"type":null}]`), named(name))
		if err != nil {
			t.Fatal(err)
		}
		batch, rejects := got.Batch(named(name))
		if want := []Reject{{wearables.MissingType, 2, 1}}; !slices.Equal(rejects, want) || len(batch.Samples) != 1 || batch.Samples[0].Len() != 1 {
			t.Errorf("%s: %+v, %+v", name, rejects, batch)
		}
	}
	for _, name := range []string{"ige", "sleep_breathing_disturbance"} {
		got, err := Parse(body(`[{`+at+`,"value":1}]`), named(name))
		if err != nil {
			t.Fatal(err)
		}
		if batch, rejects := got.Batch(named(name)); len(rejects) != 0 || len(batch.Samples) != 1 {
			t.Errorf("%s: %+v", name, rejects)
		}
	}
	pressure := named("blood_pressure")
	for _, list := range []string{`[{` + at + `,"systolic":120}]`, `[{` + at + `,"systolic":120},{` + at + `,"systolic":120,"diastolic":80}]`} {
		got, err := Parse(body(list), pressure)
		if err != nil {
			t.Fatal(err)
		}
		if batch, _ := got.Batch(pressure); len(batch.Samples[0].Value2) != batch.Samples[0].Len() || !math.IsNaN(batch.Samples[0].Value2[0]) {
			t.Errorf("%s: %+v", list, batch)
		}
	}
	_, err := Parse(body(`[{`+at+`,"diastolic":80}]`), pressure)
	if one := (*fault.Error)(nil); !errors.As(err, &one) || one.Code() != "missing" || strings.Join(one.Loc(), ".") != "body.data.0.systolic" {
		t.Error(err)
	}
}
