package wearables

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"hale/internal/api/calltest"
	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// The origin of an offset is reported: the phone's zone, the provider's file, the
// user's fallback, or none.
func TestOriginsOfOffsets(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		var pushed pushBody
		path := d.Path("/v2/timeseries/{user_id}/heartrate")
		d.Post(path, calltest.PushText(`[{"timestamp":"2026-03-01T08:00:00Z","value":60,"source_type":"watch"}]`), &pushed)
		d.Status(http.StatusOK, d.Do(http.MethodPatch, d.Path("/v2/user/{user_id}"), `{"fallback_time_zone":"Asia/Kolkata"}`))
		d.Post(path, calltest.PushText(`[{"timestamp":"2026-03-01T09:00:00+02:00","value":61,"source_type":"watch"},{"timestamp":"2026-03-01T10:00:00Z","value":62,"source_type":"watch"},
			{"timestamp":"2026-03-01T11:00:00Z","value":62,"source_type":"watch"}]`), &pushed)
		stated := wearables.Samples{Resource: "heartrate", Source: wearables.Source{Type: "ring"}, Time: []int64{calltest.March.UnixMicro()}, Offset: []int32{-18000}, Value: []float64{63}}
		if _, err := d.ingester().Ingest(store.WithTeam(t.Context(), d.Team.ID.UUID()), d.User, wearables.Batch{Provider: "oura", Stage: wearables.Daily, Samples: []wearables.Samples{stated}}); err != nil {
			t.Fatal(err)
		}
		d.Post(d.Path("/v2/user/{user_id}/entries"), `{"time_zone":"Europe/Berlin","data":[{"resource":"heartrate","timestamp":"2026-03-02T08:00:00Z","value":64}]}`, &pushed)

		type answer struct {
			Groups map[string][]struct {
				Source sourceBody    `json:"source"`
				Data   []offsetCount `json:"data"`
			} `json:"groups"`
		}
		var body answer
		d.Get(path+"/offsets?start_date=2026-03-01", &body)
		var got []string
		for _, provider := range []string{"apple_health_kit", "oura", users.Manual} {
			for _, group := range body.Groups[provider] {
				for _, o := range group.Data {
					got = append(got, provider, group.Source.Type, marshalText(o))
				}
			}
		}
		want := []string{
			"apple_health_kit", "watch", `{"timezone_offset":7200,"found":"device","count":1,"first":"2026-03-01T07:00:00+00:00","last":"2026-03-01T07:00:00+00:00"}`,
			"apple_health_kit", "watch", `{"timezone_offset":null,"found":"none","count":1,"first":"2026-03-01T08:00:00+00:00","last":"2026-03-01T08:00:00+00:00"}`,
			"apple_health_kit", "watch", `{"timezone_offset":19800,"found":"fallback","count":2,"first":"2026-03-01T10:00:00+00:00","last":"2026-03-01T11:00:00+00:00"}`,
			"oura", "ring", `{"timezone_offset":-18000,"found":"provider","count":1,"first":"2026-03-21T12:00:00+00:00","last":"2026-03-21T12:00:00+00:00"}`,
			"manual", "unknown", `{"timezone_offset":3600,"found":"device","count":1,"first":"2026-03-02T08:00:00+00:00","last":"2026-03-02T08:00:00+00:00"}`,
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}

		for query, want := range map[string]int{"?start_date=2026-03-01&provider=oura": 1, "?start_date=2026-03-02&end_date=2026-03-02": 1, "?start_date=2026-02-01&end_date=2026-02-02": 0} {
			body = answer{}
			if d.Get(path+"/offsets"+query, &body); len(body.Groups) != want {
				t.Errorf("%s: %+v", query, body)
			}
		}
		for path, want := range map[string]int{
			"heartrate/offsets": 422, "moods/offsets?start_date=2026-03-01": 422, "heartrate/offsets?start_date=x": 422,
		} {
			d.Status(want, d.Do(http.MethodGet, d.Path("/v2/timeseries/{user_id}/")+path, ""))
		}
		d.Status(http.StatusNotFound, d.Do(http.MethodGet, "/v2/timeseries/019f0000-0000-7000-8000-000000000000/heartrate/offsets?start_date=2026-03-01", ""))
	})
}

func marshalText(v any) string {
	text, _ := json.Marshal(v) // of what is written to the wire
	return string(text)
}
