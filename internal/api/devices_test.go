package api

import (
	"net/http"
	"testing"

	"hale/internal/connections"
)

func TestAPhoneTellsOfItsDevice(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		path := d.path("/v2/user/{user_id}/device")
		for body, want := range map[string]int{
			`{"provider":"oura","device_model":"Ring"}`:             422,
			`{"provider":"nobody","device_model":"Ring"}`:           422,
			`{"provider":"health_connect","source_type":"watch"}`:   422,
			`{"provider":"health_connect","device_model":7}`:        422,
			`{"device_model":"One"}`:                                422,
			`{"provider":"health_connect","device_id":"a-serial"}`:  200,
			`{"provider":"apple_health_kit","device_id":"another"}`: 200,
		} {
			d.status(want, d.do("POST", path, body))
		}
		phone := d.signedIn()
		tell := func(version string) (told connections.DeviceData) {
			t.Helper()
			d.decode(d.as(phone.AccessToken, "POST", path,
				`{"provider":"health_connect","source_type":"watch","device_manufacturer":"Example","device_model":"One","device_version":"`+version+`"}`), &told)
			return told
		}
		first, again, newer := tell("1.2"), tell("1.2"), tell("1.10")
		if first.ID != again.ID || again.ID != newer.ID || *newer.Version != "1.10" || first.SourceType != "watch" || *first.Model != "One" {
			t.Errorf("%+v, %+v, %+v", first, again, newer)
		}
		d.status(http.StatusOK, d.as(phone.AccessToken, "POST", d.path("/v2/timeseries/{user_id}/heartrate"),
			`{"stage":"daily","provider":"health_connect","data":[{"timestamp":"2026-02-01T00:00:00Z","value":60,"source_device_id":"`+first.ID.String()+`"}]}`))
		var groups struct {
			Groups map[string][]struct {
				Source struct {
					DeviceID string `json:"device_id"`
				}
			}
		}
		d.get(d.path("/v2/timeseries/{user_id}/heartrate/grouped?start_date=2026-02-01"), &groups)
		if all := groups.Groups["health_connect"]; len(all) != 1 || all[0].Source.DeviceID != first.ID.String() {
			t.Errorf("%+v", groups)
		}
		n := map[string]int{}
		for _, kind := range d.eventTypes() {
			n[kind]++
		}
		if n["provider.device.created"] != 3 || n["provider.device.updated"] != 1 || n["provider.connection.created"] != 2 {
			t.Errorf("%v", n)
		}
	})
}
