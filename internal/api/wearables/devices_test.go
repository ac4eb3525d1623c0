package wearables

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/api/calltest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/connections"
)

func TestAPhoneAddsItsDevice(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		path := d.Path("/v2/user/{user_id}/device")
		for body, want := range map[string]int{
			`{"provider":"oura","device_model":"Ring"}`:             422,
			`{"provider":"nobody","device_model":"Ring"}`:           422,
			`{"provider":"health_connect","source_type":"watch"}`:   422,
			`{"provider":"health_connect","device_model":7}`:        422,
			`{"device_model":"One"}`:                                422,
			`{"provider":"health_connect","device_model":"  "}`:     422,
			`{"provider":"health_connect","device_id":"a-serial"}`:  200,
			`{"provider":"apple_health_kit","device_id":"another"}`: 200,
		} {
			d.Status(want, d.Do("POST", path, body))
		}
		phone := d.SignedIn()
		register := func(version string) (registered connections.DeviceData) {
			t.Helper()
			d.Decode(d.SendWithToken(phone.AccessToken, "POST", path,
				`{"provider":"health_connect","source_type":"watch","device_manufacturer":"Example","device_model":"One","device_version":"`+version+`"}`), &registered)
			return registered
		}
		first, again, newer := register("1.2"), register("1.2"), register("1.10")
		if first.ID != again.ID || again.ID != newer.ID || *newer.Version != "1.10" || first.SourceType != "watch" || *first.Model != "One" {
			t.Errorf("%+v, %+v, %+v", first, again, newer)
		}
		d.Status(http.StatusOK, d.SendWithToken(phone.AccessToken, "POST", d.Path("/v2/timeseries/{user_id}/heartrate"),
			`{"stage":"daily","provider":"health_connect","data":[{"timestamp":"2026-02-01T00:00:00Z","value":60,"source_device_id":"`+first.ID.String()+`"}]}`))
		var groups struct {
			Groups map[string][]struct {
				Source struct {
					DeviceID string `json:"device_id"`
				}
			}
		}
		d.Get(d.Path("/v2/timeseries/{user_id}/heartrate/grouped?start_date=2026-02-01"), &groups)
		if all := groups.Groups["health_connect"]; len(all) != 1 || all[0].Source.DeviceID != first.ID.String() {
			t.Errorf("%+v", groups)
		}
		n := map[string]int{}
		for _, kind := range d.EventTypes() {
			n[kind]++
		}
		if n["provider.device.created"] != 3 || n["provider.device.updated"] != 1 || n["provider.connection.created"] != 2 {
			t.Errorf("%v", n)
		}
	})
}

// The facts that a device states are stored unchanged, or refused with the name of the
// field.
func TestDevicesAreStoredUnchanged(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		path := d.Path("/v2/user/{user_id}/device")
		serial := strings.Repeat("語", 69)
		var one, other connections.DeviceData
		d.Post(path, `{"provider":"health_connect","device_id":"`+serial+`甲"}`, &one)
		d.Post(path, `{"provider":"health_connect","device_id":"`+serial+`乙"}`, &other)
		if one.ID == other.ID || *one.ExternalID != serial+"甲" || one.SourceType != "unknown" {
			t.Errorf("%+v\n%+v", one, other)
		}
		for body, field := range map[string]string{
			`"device_model":"One","source_type":"toaster"`:                        "source_type",
			`"device_model":"  "`:                                                 "device_model",
			`"device_model":"One\u0007"`:                                          "device_model",
			`"device_model":"One","app_id":"a\nb"`:                                "app_id",
			`"device_id":"` + strings.Repeat("x", 201) + `"`:                      "device_id",
			`"device_manufacturer":"` + strings.Repeat("😀", 151) + `"`:            "device_manufacturer",
			`"device_id":"7","device_version":"` + strings.Repeat("語", 201) + `"`: "device_version",
		} {
			w := d.Do("POST", path, `{"provider":"health_connect",`+body+`}`)
			if d.Status(422, w); !strings.Contains(w.Body.String(), `"loc":["body","`+field+`"]`) {
				t.Errorf("%s: %s", body, w.Body)
			}
		}
	})
}

// After the end of collection a device connects no user and is not stored. The same
// holds for pushed data.
func TestDevicesAfterTheEndOfCollection(t *testing.T) {
	eachCallerAt(t, storetest.NewClock(calltest.March).Now, func(d userCaller) {
		path, body := d.Path("/v2/user/{user_id}/device"), `{"provider":"apple_health_kit","device_model":"Watch6,2"}`
		refused := func(when string) {
			t.Helper()
			events := d.EventCount()
			for _, w := range []*httptest.ResponseRecorder{
				d.Do("POST", path, body), d.Do("POST", "/v2/link/provider/manual/apple_health_kit", `{"user_id":"`+d.User.ID.String()+`"}`),
			} {
				if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"error_type":"connection_paused"`) {
					t.Errorf("%s: %d %s", when, w.Code, w.Body)
				}
			}
			var all []connections.DeviceData
			if d.Get(path, &all); len(all) != 0 || d.EventCount() != events {
				t.Errorf("%s: %d devices, %d events", when, len(all), d.EventCount()-events)
			}
		}
		d.Status(http.StatusOK, d.Do("PATCH", d.Path("/v2/user/{user_id}"), `{"ingestion_end":"2026-03-01"}`))
		refused("the end has passed")
		var connected connectionsBody
		if d.Get(d.Path("/v2/user/providers/{user_id}"), &connected); len(connected.Providers) != 0 {
			t.Errorf("%+v", connected)
		}
		userstest.Write(t, d.DB, func(ctx context.Context, tx *store.Tx) error {
			if err := connections.Ensure(ctx, tx, d.User, "apple_health_kit", nil); err != nil {
				return err
			}
			_, err := connections.PauseEnded(ctx, tx)
			return err
		})
		d.Status(http.StatusOK, d.Do("PATCH", d.Path("/v2/user/{user_id}"), `{"ingestion_end":"2026-12-31"}`))
		refused("the connection is paused")
		d.Status(http.StatusOK, d.Do("DELETE", d.Path("/v2/user/{user_id}/apple_health_kit"), ""))
		d.Status(http.StatusOK, d.Do("POST", path, body))
	})
}

// A value that names another user's device is rejected and counted, on every route. The
// other values are stored.
func TestValuesOfUnknownDevices(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		register := func() string {
			var registered connections.DeviceData
			d.Post(d.Path("/v2/user/{user_id}/device"), `{"provider":"apple_health_kit","device_model":"Watch6,2"}`, &registered)
			return registered.ID.String()
		}
		strangers := register()
		d.User = userstest.New(t, d.DB, d.Team.ID, users.NewUser{})
		own := register()
		for path, c := range map[string]struct{ head, first, second string }{
			"/v2/timeseries/{user_id}/heartrate": {`"stage":"daily","provider":"apple_health_kit","data":[`, `{"timestamp":"2026-03-01T10:00:00Z","value":61,DEVICE}`, `{"timestamp":"2026-03-01T11:00:00Z","value":62,DEVICE}]`},
			"/v2/timeseries/{user_id}": {
				`"stage":"daily","provider":"apple_health_kit","series":{"steps":[`, `{"timestamp":"2026-03-01T10:00:00Z","end":"2026-03-01T10:05:00Z","value":61,"source":{DEVICE}}`,
				`{"timestamp":"2026-03-01T11:00:00Z","end":"2026-03-01T11:05:00Z","value":62,DEVICE}]}`,
			},
			"/v2/summary/activity/{user_id}": {`"stage":"daily","provider":"apple_health_kit","data":[`, `{"calendar_date":"2026-03-01","steps":7,"source":{DEVICE}}`, `{"calendar_date":"2026-03-02","steps":8,DEVICE}]`},
			"/v2/user/{user_id}/entries":     {`"data":[`, `{"resource":"glucose","timestamp":"2026-03-01T10:00:00Z","value":5,DEVICE}`, `{"resource":"meal","timestamp":"2026-03-01T10:00:00Z","name":"Porridge",DEVICE}]`},
		} {
			for _, unknown := range []string{strangers, uuid.NewString()} {
				for _, from := range [][2]string{{own, unknown}, {unknown, own}, {unknown, unknown}} {
					item := func(text, device string) string {
						name := `"source_device_id"`
						if strings.Contains(text, `"source":`) {
							name = `"device_id"`
						}
						return strings.Replace(text, "DEVICE", name+`:"`+device+`"`, 1)
					}
					var pushed pushBody
					d.Post(d.Path(path), "{"+c.head+item(c.first, from[0])+","+item(c.second, from[1])+"}", &pushed)
					taken, first := 0, 0
					for i, device := range from {
						if device == own {
							taken, first = 1, 1-i
						}
					}
					rejected := 0
					for _, r := range pushed.Rejected {
						rejected += r.Count
						if r.Reason != "unknown_device" || taken == 1 && r.First != first {
							t.Errorf("%s: %+v", path, pushed)
						}
					}
					if pushed.Created+pushed.Unchanged != taken || rejected != 2-taken {
						t.Errorf("%s: %+v, want %d", path, pushed, taken)
					}
				}
			}
		}
	})
}
