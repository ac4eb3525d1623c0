package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
)

// A phone all day, a watch on the wrist in the morning, and an app that
// mirrors both: the team sees one number, and why.
func TestMergedStepsOfThreeSources(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.Start(t, d)
		var user struct {
			ID string `json:"user_id"`
		}
		s.Expect(http.StatusOK, "POST", "/v2/user", `{"client_user_id":"walker","fallback_time_zone":"Europe/Berlin"}`, &user)
		steps := "/v2/timeseries/" + user.ID + "/steps"
		push := func(provider, source string, first, last, each int) {
			var rows []string
			for hour := first; hour < last; hour++ { // Berlin is an hour ahead
				rows = append(rows, fmt.Sprintf(`{"timestamp":"2026-03-02T%02d:00:00Z","end":"2026-03-02T%02d:00:00Z","value":%d,"source_type":%q}`, hour, hour+1, each, source))
			}
			s.Expect(http.StatusOK, "POST", steps, fmt.Sprintf(`{"stage":"daily","provider":%q,"data":[%s]}`, provider, strings.Join(rows, ",")), nil)
		}
		push("apple_health_kit", "phone", 7, 19, 300)
		push("apple_health_kit", "watch", 7, 11, 500)
		push("health_connect", "app", 7, 19, 400)

		type line struct {
			Sources []struct{ Provider, Type string }
			Data    []struct {
				Value  float64
				Source int
			}
			SetAside []struct {
				Value     float64
				Source    int
				CoveredBy int `json:"covered_by"`
			} `json:"set_aside"`
		}
		read := func() (m line, total float64) {
			s.Get(steps+"/merged?start_date=2026-03-02&end_date=2026-03-02&explain=true", &m)
			for _, p := range m.Data {
				total += p.Value
			}
			return m, total
		}
		m, total := read()
		aside := 0.0
		for _, p := range m.SetAside {
			aside += p.Value
			if p.CoveredBy >= p.Source {
				t.Errorf("%+v was set aside for no better source", p)
			}
		}
		if naive := 12*300.0 + 4*500 + 12*400; total != 4*500+8*300 || total+aside != naive || m.Sources[0].Type != "watch" {
			t.Errorf("%v steps and %v set aside of %v; sources %v", total, aside, naive, m.Sources)
		}

		s.Expect(http.StatusOK, "PATCH", "/v2/team/source/priorities", `[{"data_type":"timeseries","provider":"health_connect","priority":10}]`, nil)
		if m, total = read(); total != 12*400 || len(m.Sources) != 3 || m.Sources[0].Provider != "health_connect" {
			t.Errorf("with a preference %v steps of %v", total, m.Sources)
		}
		var days struct{ Data []struct{ Total float64 } }
		if s.Get(steps+"/daily?start_date=2026-03-02&end_date=2026-03-02", &days); len(days.Data) != 1 || days.Data[0].Total != total {
			t.Errorf("the day says %+v, its hours %v", days.Data, total)
		}

		var plain struct {
			Groups map[string][]struct{ Data []any }
		}
		s.Get(steps+"/grouped?start_date=2026-03-02", &plain)
		if n := len(plain.Groups["apple_health_kit"]); n != 2 || len(plain.Groups["health_connect"][0].Data) != 12 {
			t.Errorf("a plain read was merged: %+v", plain.Groups)
		}
		var resources struct {
			Data []struct {
				Provider map[string]map[string]struct {
					Sent int `json:"sent_count"`
				}
			}
		}
		s.Get("/v2/introspect/resources?user_id="+user.ID, &resources)
		if got := resources.Data[0].Provider; got["apple_health_kit"]["steps"].Sent != 2 || got["health_connect"]["steps"].Sent != 1 {
			t.Errorf("resources %+v", got)
		}
	})
}
