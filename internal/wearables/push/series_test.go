package push

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
)

func seriesBody(series string, more ...string) []byte {
	return []byte(`{"stage":"daily","provider":"apple_health_kit","series":` + series + strings.Join(more, "") + `}`)
}

// A body of several resources is stored like separate bodies, one for each resource,
// one after the other.
func TestSeriesEqualTheirSeparateLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom([]string{"", `,"time_zone":"Europe/Helsinki"`}).Draw(t, "zone")
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"heartrate", "glucose", "steps", "blood_pressure", "body_weight", "insulin_injection"}), 0, 6, rapid.ID[string]).Draw(t, "names")
		var lists []string
		var want wearables.Batch
		var rejects [][]Reject
		count := 0
		for _, name := range names {
			list := "[" + strings.Join(drawAlike(t), ",") + "]"
			lists = append(lists, fmt.Sprintf("%q:%s", name, list))
			r, _ := wearables.ResourceNamed(name)
			alone, err := Parse([]byte(`{"stage":"daily","provider":"apple_health_kit","data":`+list+zone+`}`), r)
			if err != nil {
				t.Skip("not a body") // TestFaultsInSeriesNameTheField has those
			}
			batch, unfit := alone.Batch(r)
			want.Samples, count = append(want.Samples, batch.Samples...), count+alone.Count
			rejects = append(rejects, alone.Rejects(unfit, wearables.Result{}))
		}
		got, err := ParseSeries(seriesBody("{"+strings.Join(lists, ", ")+"}", zone))
		if err != nil {
			t.Fatal(err)
		}
		batch := got.Batch()
		if batch.Provider != "apple_health_kit" || batch.Stage != wearables.Daily || got.Count != count || len(got.Parts) != len(names) {
			t.Fatalf("%+v", got)
		}
		same := cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })
		if diff := cmp.Diff(want.Samples, batch.Samples, same); diff != "" {
			t.Fatalf("apart (-) and together (+):\n%s", diff)
		}
		for i := range got.Parts {
			if diff := cmp.Diff(rejects[i], got.Parts[i].Rejects(wearables.Result{})); diff != "" {
				t.Fatalf("%s:\n%s", names[i], diff)
			}
		}
	})
}

// The source of the body applies to samples that do not state theirs, field by
// field. It may be anywhere in the body.
func TestTheSourceOfABody(t *testing.T) {
	got, err := ParseSeries(seriesBody(`{
		"heartrate":[{"timestamp":"2017-03-07T06:30:00Z","value":61},{"timestamp":"2017-03-07T06:31:00Z","value":62,"source_type":"ring"}],
		"steps":[{"startDate":"2017-03-07T06:30:00Z","endDate":"2017-03-07T06:31:00Z","value":61,"productType":"iPhone14,2","sourceBundle":"com.other"}]
	}`, `,"source":{"type":"watch","app_id":"com.\u0065xample","device_id":"3fa85f64-5717-4562-b3fc-2c963f66afa6"}`))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, p := range got.Parts {
		for _, g := range p.Groups {
			seen = append(seen, strings.Join([]string{p.Resource.Name, g.Source.Type, g.Source.AppID, g.Source.DeviceID.String()[:8]}, " "))
		}
	}
	want := []string{"heartrate watch com.example 3fa85f64", "heartrate ring com.example 3fa85f64", "steps phone com.other 3fa85f64"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

func TestFaultsInSeriesNameTheField(t *testing.T) {
	const ok = `{"timestamp":"2017-03-07T06:30:00Z","value":1}`
	for _, c := range []struct {
		body, code, loc string
	}{
		{`{"stage":"daily","provider":"x"}`, "missing", "body.series"},
		{`{"stage":"daily","provider":"x","data":[]}`, "missing", "body.series"},
		{`{"stage":"weekly","provider":"x","series":{}}`, "enum", "body.stage"},
		{string(seriesBody(`[]`)), "model_attributes_type", "body.series"},
		{string(seriesBody(`{"heartrate":{}}`)), "list_type", "body.series.heartrate"},
		{string(seriesBody(`{"heart":[]}`)), "value_error", "body.series.heart"},
		{string(seriesBody(`{"hypnogram":[]}`)), "value_error", "body.series.hypnogram"},
		{string(seriesBody(`{"body_weight":[],"weight":[]}`)), "value_error", "body.series.weight"},
		{string(seriesBody(`{"glucose":[],"heartrate":[{"timestamp":"2017-03-07T06:30:00Z","value":"1"}]}`)), "float_type", "body.series.heartrate.0.value"},
		{string(seriesBody(`{"glucose":[],"heartrate":[7]}`)), "model_attributes_type", "body.series.heartrate.0"},
		{string(seriesBody(`{"glucose":[`+ok+`]}`, `,"time_zone":"Mars/Base"`)), "value_error", "body.time_zone"},
		{string(seriesBody(`{"glucose":[`+ok+`]}`, `,"source":7`)), "model_attributes_type", "body.source"},
		{string(seriesBody(`{"glucose":[`+ok+`]}`, `,"source":{"device_id":"x"}`)), "uuid_parsing", "body.source"},
		{string(seriesBody(`{"glucose":[` + ok + `],}`)), "json_invalid", "body"},
		{string(seriesBody(`{}`)) + "x", "json_invalid", "body"},
		{"{\"series\":\"\xff\"}", "json_invalid", "body"},
	} {
		_, err := ParseSeries([]byte(c.body))
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

// The limit holds for all series together, also where samples look alike.
func TestTooManySamplesInAllSeries(t *testing.T) {
	one := `{"timestamp":"2017-03-07T06:30:00Z","value":1}`
	list := func(n int) string { return "[" + strings.Repeat(one+",", n-1) + one + "]" }
	const half = MostSamples / 2
	got, err := ParseSeries(seriesBody(`{"heartrate":` + list(half) + `,"glucose":` + list(half) + `}`))
	if err != nil || got.Count != MostSamples {
		t.Fatal(err)
	}
	_, err = ParseSeries(seriesBody(`{"heartrate":` + list(half) + `,"glucose":` + list(half+1) + `}`))
	var tooLarge *fault.Error
	if !errors.As(err, &tooLarge) || tooLarge.Kind() != fault.TooLarge || strings.Join(tooLarge.Loc(), ".") != "body.series.glucose" {
		t.Fatalf("got %v", err)
	}
}

// FuzzParseSeries checks that accepted texts are JSON, and that texts refused
// as invalid JSON are not.
func FuzzParseSeries(f *testing.F) {
	f.Add(seriesBody(`{"heartrate":[{"timestamp":"2017-03-07T06:30:00Z","value":6.1e1}],"glucose":[]}`, `,"source":{"type":"watch"}`))
	f.Add(seriesBody(`{"steps":[{"startDate":"2017-03-07T06:30:00+01:00","value":{"value":-0}}]}`, `,"series":{"note":[]},"source":null`))
	f.Add([]byte(`{"series":{"\u0073teps":[tru]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ParseSeries(data)
		if err == nil {
			if !json.Valid(data) || !utf8.Valid(data) {
				t.Fatalf("%q was taken", data)
			}
			n := 0
			for _, s := range got.Batch().Samples {
				n += s.Len()
			}
			for _, p := range got.Parts {
				for _, r := range p.Rejects(wearables.Result{}) {
					n += r.Count
				}
			}
			if n != got.Count {
				t.Fatalf("%d samples in parts, %d in all", n, got.Count)
			}
			return
		}
		var one *fault.Error
		if errors.As(err, &one) && one.Code() == "json_invalid" && json.Valid(data) && utf8.Valid(data) {
			t.Fatalf("%q was refused as no JSON: %v", data, err)
		}
	})
}
