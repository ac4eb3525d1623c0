package wearables

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestClockAgreesWithTime(t *testing.T) {
	var c Clock
	rapid.Check(t, func(t *rapid.T) {
		us := rapid.Int64Range(-62_135_596_800*1_000_000, 253_402_300_799*1_000_000).Draw(t, "instant")
		layout := "2006-01-02T15:04:05+00:00"
		if us%1_000_000 != 0 {
			layout = "2006-01-02T15:04:05.000000+00:00"
		}
		want := time.UnixMicro(us).UTC().Format(layout)
		if got := string(c.Append(nil, us)); got != want {
			t.Fatalf("%d is %s, want %s", us, got, want)
		}
	})
}

func TestTextAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "s")
		var got, want string
		if err := json.Unmarshal(AppendText(nil, s), &got); err != nil {
			t.Fatal(err)
		}
		encoded, _ := json.Marshal(s)
		if err := json.Unmarshal(encoded, &want); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("%q became %q, want %q", s, got, want)
		}
	})
}

func TestNumbersRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		var got float64
		if err := json.Unmarshal(AppendNumber(nil, f), &got); err != nil {
			t.Fatal(err)
		}
		if got != f {
			t.Fatalf("%v became %v", f, got)
		}
	})
	if got := string(AppendNumber(nil, math.NaN())); got != "null" {
		t.Fatalf("NaN is written %s", got)
	}
}

func TestSampleShapes(t *testing.T) {
	at := time.Date(2017, 3, 7, 6, 30, 0, 0, time.UTC).UnixMicro()
	for name, c := range map[string]struct {
		in   Samples
		want string
	}{
		"discrete": {
			Samples{Resource: "heartrate", Time: []int64{at, at + 500_000}, Offset: []int32{-12600, NoOffset}, Value: []float64{61, 62.5}},
			`[{"timestamp":"2017-03-07T06:30:00+00:00","timezone_offset":-12600,"type":null,"unit":"bpm","value":61},` +
				`{"timestamp":"2017-03-07T06:30:00.500000+00:00","timezone_offset":null,"type":null,"unit":"bpm","value":62.5}]`,
		},
		"interval": {
			Samples{Resource: "steps", Time: []int64{at}, End: []int64{at + 60_000_000}, Value: []float64{12}},
			`[{"timestamp":"2017-03-07T06:30:00+00:00","start":"2017-03-07T06:30:00+00:00","end":"2017-03-07T06:31:00+00:00",` +
				`"timezone_offset":null,"type":null,"unit":"count","value":12}]`,
		},
		"typed": {
			Samples{Resource: "hrv", Type: "sdnn", Time: []int64{at}, Value: []float64{41.3}},
			`[{"timestamp":"2017-03-07T06:30:00+00:00","timezone_offset":null,"type":"sdnn","unit":"rmssd","value":41.3}]`,
		},
		"pair": {
			Samples{Resource: "blood_pressure", Time: []int64{at}, Value: []float64{120}, Value2: []float64{80}},
			`[{"timestamp":"2017-03-07T06:30:00+00:00","timezone_offset":null,"type":null,"unit":"mmHg","systolic":120,"diastolic":80,"grouping":["unknown",null,null,null]}]`,
		},
		"extra": {
			Samples{Resource: "body_temperature", Time: []int64{at}, End: []int64{at}, Value: []float64{36.6}},
			`[{"timestamp":"2017-03-07T06:30:00+00:00","start":"2017-03-07T06:30:00+00:00","end":"2017-03-07T06:30:00+00:00",` +
				`"timezone_offset":null,"type":null,"unit":"°C","value":36.6,"sensor_location":null}]`,
		},
		"words": {
			Samples{Resource: "insulin_injection", Type: "rapid_acting", Extra: "bolus,,meal", Time: []int64{at}, End: []int64{at}, Value: []float64{4}},
			`[{"timestamp":"2017-03-07T06:30:00+00:00","start":"2017-03-07T06:30:00+00:00","end":"2017-03-07T06:30:00+00:00",` +
				`"timezone_offset":null,"type":"rapid_acting","unit":"unit","value":4,"delivery_mode":"bolus","delivery_form":null,"bolus_purpose":"meal"}]`,
		},
		"none": {Samples{Resource: "heartrate"}, `[]`},
	} {
		if got := string(AppendAll(nil, []Samples{c.in})); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}

func TestSourceShape(t *testing.T) {
	device := uuid.MustParse("6f1f7cde-97f5-4f0e-9b55-4a7a4bdf9d51")
	s := Source{Provider: "apple_health_kit", Type: "watch", AppID: "com.apple.health.1", DeviceID: &device}
	want := `{"provider":"apple_health_kit","type":"watch","app_id":"com.apple.health.1",` +
		`"device_id":"6f1f7cde-97f5-4f0e-9b55-4a7a4bdf9d51","sport":null,"workout_id":null,` +
		`"name":"Apple HealthKit","slug":"apple_health_kit","logo":"/static/providers/apple_health_kit.svg"}`
	if got := string(AppendSource(nil, s, "")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	want = `{"provider":"x","type":"unknown","app_id":null,"device_id":null,"sport":null,"workout_id":null,"name":"x","slug":"x","logo":"/static/providers/x.svg"}`
	if got := string(AppendSource(nil, Source{Provider: "x"}, "")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func BenchmarkAppendSamples(b *testing.B) {
	s := Samples{Resource: "heartrate"}
	for i := range int64(43_200) {
		s.Time = append(s.Time, i*60_000_000)
		s.Offset = append(s.Offset, 3600)
		s.Value = append(s.Value, float64(60+i%40))
	}
	var dst []byte
	for b.Loop() {
		dst = AppendAll(dst[:0], []Samples{s})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/43_200, "ns/sample")
}
