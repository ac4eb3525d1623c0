package wearables

import (
	"context"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/api/calltest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/providers"
)

// An app that asks the person first connects the user before any data is there.
func TestAPhoneConnectsItsUser(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		const path = "/v2/link/provider/manual/health_connect"
		body := `{"user_id":"` + d.User.ID.String() + `"}`
		phone := d.SignedIn().AccessToken
		for range 2 {
			w := d.SendWithToken(phone, http.MethodPost, path, body)
			if d.Status(http.StatusOK, w); strings.TrimSpace(w.Body.String()) != `{"success":true}` {
				t.Error(w.Body)
			}
		}
		d.Status(http.StatusOK, d.Do(http.MethodPost, path, body))
		if got := d.EventTypes(); !slices.Equal(got, []string{"provider.connection.created"}) {
			t.Errorf("announced %v", got)
		}
		d.Status(http.StatusOK, d.Do(http.MethodPost, "/v2/link/provider/manual/manual", `{"user_id":"`+d.User.ID.String()+`","provider_id":null}`))
		var all connectionsBody
		d.Get(d.Path("/v2/user/providers/{user_id}"), &all)
		if len(all.Providers) != 2 || all.Providers[0].Slug != "health_connect" || all.Providers[0].Status != string(connections.Connected) {
			t.Errorf("%+v", all)
		}
	})
}

// With reference_compat, events have the fields that the reference's client
// libraries require: source beside provider, and is_final.
func TestEventsOfATeamWithReferenceCompat(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		data := func(provider string) (all map[string]map[string]any) {
			var pushed pushBody
			body := strings.Replace(historicalPush(calltest.Heartbeats(3), `,"is_final_chunk":true`), "apple_health_kit", provider, 1)
			d.Post(d.Path("/v2/timeseries/{user_id}/heartrate"), body, &pushed)
			d.EventTypes() // numbers the events
			all = map[string]map[string]any{}
			userstest.Read(t, d.DB, func(ctx context.Context, tx *store.Tx) error {
				page, err := events.ReadFeed(ctx, tx, d.Team.ID.UUID(), 0, 100, nil)
				for _, e := range page.Events {
					var event struct {
						Type string         `json:"event_type"`
						Data map[string]any `json:"data"`
					}
					calltest.Decode(t, string(e.Body), &event)
					all[event.Type] = event.Data
				}
				return err
			})
			return all
		}
		const created, done = "provider.connection.created", "historical.data.heartrate.created"
		plain := data("apple_health_kit")
		if _, has := plain[created]["source"]; has || plain[created]["provider"] == nil {
			t.Errorf("without the setting: %v", plain[created])
		}
		if _, has := plain[done]["is_final"]; has || plain[done]["provider"] != "apple_health_kit" {
			t.Errorf("without the setting: %v", plain[done])
		}
		team := d.Team
		team.Settings.ReferenceCompat = true
		userstest.Write(t, d.DB, func(ctx context.Context, tx *store.Tx) error { return teams.Update(ctx, tx, team) })
		compat := data("health_connect")
		if source := compat[created]["source"]; source == nil || !reflect.DeepEqual(source, compat[created]["provider"]) {
			t.Errorf("with the setting: %v", compat[created])
		}
		if compat[done]["is_final"] != true || compat[done]["provider"] != "health_connect" {
			t.Errorf("with the setting: %v", compat[done])
		}
	})
}

func TestRefusalsOfConnecting(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		phone := d.SignedIn().AccessToken
		id, unknownID := d.User.ID.String(), "019f0000-0000-7000-8000-000000000000"
		for _, c := range []struct {
			provider, body   string
			byPhone, byATeam int
		}{
			{"health_connect", `{"user_id":"` + unknownID + `"}`, 403, 404},
			{"health_connect", `{"user_id":"x"}`, 422, 422},
			{"health_connect", `{}`, 422, 422},
			{"oura", `{"user_id":"` + id + `"}`, 422, 422},
			{"nobody", `{"user_id":"` + id + `"}`, 422, 422},
			{"oura", `{"user_id":"` + unknownID + `"}`, 403, 422},
		} {
			d.Status(c.byPhone, d.SendWithToken(phone, http.MethodPost, "/v2/link/provider/manual/"+c.provider, c.body))
			d.Status(c.byATeam, d.Do(http.MethodPost, "/v2/link/provider/manual/"+c.provider, c.body))
		}
		if got := d.EventTypes(); len(got) != 0 {
			t.Errorf("announced %v", got)
		}
	})
}

// Connecting a paused connection again requires removing it first.
func TestConnectingAPausedConnection(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		const path = "/v2/link/provider/manual/health_connect"
		body := `{"user_id":"` + d.User.ID.String() + `"}`
		d.Status(http.StatusOK, d.Do(http.MethodPost, path, body))
		err := d.DB.Write(store.AsSystem(t.Context()), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE connections SET status = $1 WHERE user_id = $2`, string(connections.Paused), d.User.ID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		d.Status(http.StatusBadRequest, d.Do(http.MethodPost, path, body))
		d.Status(http.StatusOK, d.Do(http.MethodDelete, d.Path("/v2/user/{user_id}/health_connect"), ""))
		d.Status(http.StatusOK, d.Do(http.MethodPost, path, body))
	})
}

func TestConnectionShapes(t *testing.T) {
	c := newCaller(t)
	id := c.User("a")
	path := "/v2/user/providers/" + id
	c.Want(200, "GET", path, "", `{"providers":[]}`)
	c.Connect(id, "apple_health_kit", "heartrate", "sleep")
	calltest.Golden(t, "connections", c.Want(200, "GET", path, ""))
	c.Want(404, "DELETE", "/v2/user/"+id+"/nope", "", "Provider not found")
	c.Want(404, "DELETE", "/v2/user/"+id+"/oura", "", "not connected")
	c.Want(200, "DELETE", "/v2/user/"+id+"/apple_health_kit/", "", `{"success":true}`)
	c.Want(200, "GET", path, "", `{"providers":[]}`)
}

func TestRefreshUser(t *testing.T) {
	c := newCaller(t)
	id := c.User("a")
	path := "/v2/user/refresh/" + id
	calltest.Golden(t, "refresh_nothing", c.Want(400, "POST", path, ""))
	c.Connect(id, "apple_health_kit", "heartrate")
	calltest.Golden(t, "refresh_phone", c.Want(200, "POST", path+"?timeout=5", ""))
	c.Want(422, "POST", path+"?timeout=61", "", "less_than_equal")
	for range 7 {
		c.Want(200, "POST", path, "")
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", path, nil)
	r.Header.Set("x-service-api-key", c.Key)
	w := httptest.NewRecorder()
	c.API.ServeHTTP(w, r)
	if w.Code != 429 || w.Header().Get("Retry-After") != "3600" {
		t.Errorf("ninth refresh: %d, Retry-After %q: %s", w.Code, w.Header().Get("Retry-After"), w.Body)
	}
	*c.Now = c.Now.Add(time.Hour)
	c.Connect(id, "oura", "sleep")
	calltest.Golden(t, "refresh_failed", c.Want(400, "POST", path, ""))
}

func TestDeviceShapes(t *testing.T) {
	c := newCaller(t)
	id := c.User("a")
	c.Want(200, "GET", "/v2/user/"+id+"/device", "", "[]")
	var device connections.DeviceID
	userstest.Write(t, c.DB, func(ctx context.Context, tx *store.Tx) error {
		user, err := users.Get(ctx, tx, c.Team, users.ID(uuid.MustParse(id)))
		if err != nil {
			return err
		}
		device, err = connections.EnsureDevice(ctx, tx, user, connections.Device{
			Provider: "apple_health_kit", SourceType: "watch", Manufacturer: "Apple Inc.", Model: "Watch6,2", Version: "10.3",
		})
		return err
	})
	calltest.Golden(t, "devices", c.Want(200, "GET", "/v2/user/"+id+"/device", ""))
	c.Want(200, "GET", "/v2/user/"+id+"/device/"+device.String(), "", `"device_model":"Watch6,2"`)
	c.Want(404, "GET", "/v2/user/"+id+"/device/"+id, "", "Device not found")
	c.Want(422, "GET", "/v2/user/"+id+"/device/x", "", "device_id")
}

func TestProviders(t *testing.T) {
	c := newCaller(t)
	calltest.Golden(t, "providers_ble", c.Want(200, "GET", "/v2/providers/?source_type=ble", ""))
	c.Want(200, "GET", "/v2/providers?source_type=telepathy", "", "[]")
	var all []struct {
		Slug     string
		AuthType *string `json:"auth_type"`
	}
	calltest.Decode(t, c.Want(200, "GET", "/v2/providers", ""), &all)
	if len(all) != len(providers.List()) {
		t.Errorf("%d providers served, %d in the catalogue", len(all), len(providers.List()))
	}
	for _, p := range all {
		if (p.AuthType == nil) != (p.Slug == "manual") {
			t.Errorf("auth_type of %s", p.Slug)
		}
	}
}

func TestProviderLogos(t *testing.T) {
	for path, want := range map[string]int{"oura.svg": 200, "nope.svg": 404, "oura": 404, "": 404, "../oura.svg": 404} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.URL.Path = providers.LogoPath + path
		ProviderLogos().ServeHTTP(w, r)
		if w.Code != want || want == 200 && (w.Header().Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(w.Body.String(), "<svg ")) {
			t.Errorf("%q: %d %s", path, w.Code, w.Header())
		}
	}
}
