package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/wearables/connections"
)

// An app that asks the person first connects the user before any data is there.
func TestAPhoneConnectsItsUser(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		const path = "/v2/link/provider/manual/health_connect"
		body := `{"user_id":"` + d.user.ID.String() + `"}`
		phone := d.signedIn().AccessToken
		for range 2 {
			w := d.as(phone, http.MethodPost, path, body)
			if d.status(http.StatusOK, w); strings.TrimSpace(w.Body.String()) != `{"success":true}` {
				t.Error(w.Body)
			}
		}
		d.status(http.StatusOK, d.do(http.MethodPost, path, body))
		if got := d.eventTypes(); !slices.Equal(got, []string{"provider.connection.created"}) {
			t.Errorf("told %v", got)
		}
		d.status(http.StatusOK, d.do(http.MethodPost, "/v2/link/provider/manual/manual", `{"user_id":"`+d.user.ID.String()+`","provider_id":null}`))
		var all connectionsBody
		d.get(d.path("/v2/user/providers/{user_id}"), &all)
		if len(all.Providers) != 2 || all.Providers[0].Slug != "health_connect" || all.Providers[0].Status != string(connections.Connected) {
			t.Errorf("%+v", all)
		}
	})
}

func TestWhatConnectingRefuses(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		phone := d.signedIn().AccessToken
		id, nobody := d.user.ID.String(), "019f0000-0000-7000-8000-000000000000"
		for _, c := range []struct {
			provider, body   string
			byPhone, byATeam int
		}{
			{"health_connect", `{"user_id":"` + nobody + `"}`, 403, 404},
			{"health_connect", `{"user_id":"x"}`, 422, 422},
			{"health_connect", `{}`, 422, 422},
			{"oura", `{"user_id":"` + id + `"}`, 422, 422},
			{"nobody", `{"user_id":"` + id + `"}`, 422, 422},
			{"oura", `{"user_id":"` + nobody + `"}`, 403, 422},
		} {
			d.status(c.byPhone, d.as(phone, http.MethodPost, "/v2/link/provider/manual/"+c.provider, c.body))
			d.status(c.byATeam, d.do(http.MethodPost, "/v2/link/provider/manual/"+c.provider, c.body))
		}
		if got := d.eventTypes(); len(got) != 0 {
			t.Errorf("told %v", got)
		}
	})
}

// A paused connection is connected anew by removing it first.
func TestConnectingWhatIsPaused(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		const path = "/v2/link/provider/manual/health_connect"
		body := `{"user_id":"` + d.user.ID.String() + `"}`
		d.status(http.StatusOK, d.do(http.MethodPost, path, body))
		err := d.db.Write(store.AsSystem(t.Context()), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE connections SET status = $1 WHERE user_id = $2`, string(connections.Paused), d.user.ID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		d.status(http.StatusBadRequest, d.do(http.MethodPost, path, body))
		d.status(http.StatusOK, d.do(http.MethodDelete, d.path("/v2/user/{user_id}/health_connect"), ""))
		d.status(http.StatusOK, d.do(http.MethodPost, path, body))
	})
}
