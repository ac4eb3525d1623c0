package demo_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
)

// The test uses the HTTP API. A demo is connected at once, its history follows,
// and the answer of a refresh names the refreshed resources.
func TestADemoOverHTTP(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.Start(t, d)
		var user struct {
			ID string `json:"user_id"`
		}
		s.Expect(http.StatusOK, "POST", "/v2/user", `{"client_user_id":"ann"}`, &user)
		connect := func(status int, body string) string {
			t.Helper()
			got, text := s.Call("POST", "/v2/link/connect/demo", body)
			if got != status {
				t.Errorf("%s: %d %s", body, got, text)
			}
			return strings.TrimSpace(string(text))
		}
		body := fmt.Sprintf(`{"user_id":%q,"provider":"freestyle_libre"}`, user.ID)
		if got, want := connect(http.StatusOK, body), fmt.Sprintf(`{"success":true,"detail":"Connected user %s to provider freestyle_libre"}`, user.ID); got != want {
			t.Errorf("answered %s, not %s", got, want)
		}
		connect(http.StatusUnprocessableEntity, strings.Replace(body, "freestyle_libre", "garmin", 1))
		connect(http.StatusUnprocessableEntity, `{"provider":"oura"}`)
		connect(http.StatusNotFound, `{"user_id":"019f0000-0000-7000-8000-000000000000","provider":"oura"}`)

		today := time.Now().UTC()
		read := fmt.Sprintf("/v2/timeseries/%s/glucose/grouped?start_date=%s&end_date=%s", user.ID,
			today.AddDate(0, 0, -30).Format(time.DateOnly), today.Format(time.DateOnly))
		var found struct {
			Groups map[string][]struct {
				Data []struct{ Value float64 }
			}
		}
		for range 500 {
			if s.Get(read, &found); len(found.Groups["freestyle_libre"]) == 2 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		groups := found.Groups["freestyle_libre"]
		if len(groups) != 2 || max(len(groups[0].Data), len(groups[1].Data)) < 29*96 {
			t.Fatalf("%d groups of glucose", len(groups))
		}
		var refreshed struct {
			Success   bool
			Refreshed []string `json:"refreshed_sources"`
			Failed    []string `json:"failed_sources"`
		}
		s.Expect(http.StatusOK, "POST", "/v2/user/refresh/"+user.ID, "", &refreshed)
		if !refreshed.Success || len(refreshed.Refreshed) != 1 || refreshed.Refreshed[0] != "freestyle_libre/glucose" || len(refreshed.Failed) != 0 {
			t.Errorf("refreshed %+v", refreshed)
		}
	})
}
