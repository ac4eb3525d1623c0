package api

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// Every series has an ungrouped read with the samples of the grouped one, in
// order of time.
func TestPlainSeriesHaveWhatTheGroupedHave(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		for _, r := range wearables.Resources() {
			if !r.Push {
				continue
			}
			value := fmt.Sprintf(`"value":%v`, max(r.Min, min(50, r.Max)))
			if r.Pair {
				value = `"systolic":120,"diastolic":80`
			}
			kind := ""
			if len(r.Types) > 0 {
				kind = `,"type":"` + r.Types[0] + `"`
			} else if r.AnyType {
				kind = `,"type":"lead_1"`
			}
			var pushed pushBody
			d.post(d.path("/v2/timeseries/{user_id}/"+r.Name), pushText(fmt.Sprintf(`[
				{"timestamp":"2026-02-01T00:10:00Z","end":"2026-02-01T00:11:00Z",%[1]s%[2]s,"source_type":"watch"},
				{"timestamp":"2026-02-01T00:05:00Z","end":"2026-02-01T00:06:00Z",%[1]s%[2]s,"source_type":"phone"},
				{"timestamp":"2026-02-01T00:00:00Z","end":"2026-02-01T00:01:00Z",%[1]s%[2]s,"source_type":"watch"}]`, value, kind)), &pushed)
			if pushed.Created != 3 {
				t.Errorf("%s: %+v", r.Name, pushed)
			}
			var plain []sampleBody
			d.get(d.path("/v2/timeseries/{user_id}/"+r.Name+"?start_date=2026-02-01&end_date=2026-02-01"), &plain)
			if len(plain) != 3 || !slices.IsSortedFunc(plain, byTime) {
				t.Errorf("%s: %+v", r.Name, plain)
			}
			var groups groupsBody
			d.get(d.path("/v2/timeseries/{user_id}/"+r.Name+"/grouped?start_date=2026-02-01"), &groups)
			var all []sampleBody
			for _, g := range groups.Groups["apple_health_kit"] {
				all = append(all, g.Data...)
			}
			slices.SortFunc(all, byTime)
			if !reflect.DeepEqual(all, plain) {
				t.Errorf("%s: plain %+v, grouped %+v", r.Name, plain, all)
			}
		}
	})
}

func byTime(a, b sampleBody) int { return time.Time(a.Timestamp).Compare(time.Time(b.Timestamp)) }

func TestPlainSeriesOnTheWire(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		var pushed pushBody
		d.post(d.path("/v2/timeseries/{user_id}/cholesterol"), pushText(`[{"timestamp":"2026-02-01T08:00:00Z","value":2.5,"type":"cholesterol/ldl"},
			{"timestamp":"2026-02-01T08:00:00Z","value":1.5,"type":"cholesterol/hdl"}]`), &pushed)
		for _, c := range []struct{ path, want string }{
			{"cholesterol/ldl?start_date=2026-02-01", `[{"timestamp":"2026-02-01T08:00:00+00:00","timezone_offset":null,"type":"cholesterol/ldl","unit":"mmol/L","value":2.5}]`},
			{"cholesterol/hdl?start_date=2026-02-01&provider=apple_health_kit", `[{"timestamp":"2026-02-01T08:00:00+00:00","timezone_offset":null,"type":"cholesterol/hdl","unit":"mmol/L","value":1.5}]`},
			{"cholesterol/total?start_date=2026-02-01", `[]`},
			{"hypnogram?start_date=2026-02-01", `[]`},
			{"steps?start_date=2026-02-01", `[]`},
		} {
			var any []sampleBody
			if got := d.get(d.path("/v2/timeseries/{user_id}/"+c.path), &any); got != c.want {
				t.Errorf("%s: %s", c.path, got)
			}
		}
		for path, status := range map[string]int{
			"/v2/timeseries/{user_id}/steps":                                                              http.StatusUnprocessableEntity,
			"/v2/timeseries/{user_id}/moods?start_date=2026-02-01":                                        http.StatusUnprocessableEntity,
			"/v2/timeseries/019f0000-0000-7000-8000-000000000000/steps?start_date=2026-02-01":             http.StatusNotFound,
			"/v2/timeseries/019f0000-0000-7000-8000-000000000000/cholesterol/total?start_date=2026-02-01": http.StatusNotFound,
		} {
			if w := d.do(http.MethodGet, d.path(path), ""); w.Code != status {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	})
}

// An ungrouped read has no pages: it gives all of them at once.
func TestPlainSeriesReadOverPages(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		const n = wearables.PageSamples + 5
		samples := wearables.Samples{Resource: "heartrate", Source: wearables.Source{Type: "watch"}}
		for i := range n {
			samples.Time = append(samples.Time, time.Date(2026, 1, 1, 0, 0, 30*i, 0, time.UTC).UnixMicro())
			samples.Value = append(samples.Value, float64(60+i%40))
		}
		_, err := d.api.Wearables.Ingest(store.WithTeam(t.Context(), d.team.ID.UUID()), d.user, wearables.Batch{
			Provider: "apple_health_kit", Stage: wearables.Historical, Samples: []wearables.Samples{samples},
		})
		if err != nil {
			t.Fatal(err)
		}
		var plain []sampleBody
		d.get(d.path("/v2/timeseries/{user_id}/heartrate?start_date=2026-01-01"), &plain)
		if len(plain) != n || !slices.IsSortedFunc(plain, byTime) {
			t.Errorf("%d samples", len(plain))
		}
	})
}
