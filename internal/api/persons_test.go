package api

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/providers"
)

const goodInfo = `{"first_name":"Ada","last_name":"Byron","email":"Ada@Example.org","phone_number":"(415) 555-0132","gender":"Female","dob":"1984-12-10",` +
	`"address":{"first_line":"1 Main Street","second_line":null,"zip_code":"62704","state":"il","city":"Springfield"}}`

const goodInsurance = `{"payor_code":"UHC","member_id":"M-1","relationship":"Self","insured":{"first_name":"Ada","last_name":"Byron","gender":"Female","dob":"1984-12-10",` +
	`"email":"ada@example.org","phone_number":"+14155550132","address":{"first_line":"1 Main Street","zip":"78701","state":"TX","city":"Austin","country":"US"}}}`

func TestInfoShapes(t *testing.T) {
	c := newCaller(t)
	id := c.user("a")
	path := "/v2/user/" + id + "/info"
	c.want(404, "GET", path+"/latest", "", `{"detail":"User demographics data not found"}`)
	c.want(404, "GET", "/v2/user/00000000-0000-4000-8000-000000000000/info/latest", "", `{"detail":"User not found"}`)
	golden(t, "info_bare", c.want(200, "PATCH", path, goodInfo))
	golden(t, "info_bare", c.want(200, "GET", path+"/latest", ""))
	full := strings.Replace(goodInfo, `"address":`, `"race":"asian","ethnicity":null,"gender_identity":"female","medical_proxy":{"first_name":"Anne","last_name":"Byron",`+
		`"phone_number":"+14155550133","household_income":48000,"address":{"first_line":"2 Side Street","second_line":"Flat 3","zip":"62704-1234","state":"IL","city":"Springfield","country":"US","access_notes":"Ring twice"}},"address":`, 1)
	c.want(200, "PATCH", path, full)
	golden(t, "info_full", c.want(200, "GET", path+"/latest", ""))
}

func TestInfoRefusals(t *testing.T) {
	c := newCaller(t)
	id := c.user("a")
	for _, x := range []struct{ old, new, loc string }{
		{`"first_name":"Ada",`, ``, `["body","first_name"]`},
		{`"Byron"`, `"Byron  Lovelace"`, `["body","last_name"]`},
		{`Ada@Example.org`, `not-an-address`, `["body","email"]`},
		{`(415) 555-0132`, `12`, `["body","phone_number"]`},
		{`1984-12-10`, `1984-12-40`, `["body","dob"]`},
		{`1984-12-10`, `2026-03-03`, `["body","dob"]`},
		{`"zip_code":"62704",`, ``, `["body","address","zip"]`},
		{`"zip_code":"62704"`, `"zip_code":"627"`, `["body","address","zip"]`},
		{`"state":"il"`, `"state":"zz"`, `["body","address","state"]`},
		{`"gender":`, `"race":"purple","gender":`, `["body","race"]`},
		{`"gender":`, `"medical_proxy":{"first_name":"A"},"gender":`, `["body","medical_proxy","last_name"]`},
		{`"gender":`, `"medical_proxy":7,"gender":`, `["body","medical_proxy"]`},
	} {
		body := strings.Replace(goodInfo, x.old, x.new, 1)
		got := c.want(422, "PATCH", "/v2/user/"+id+"/info", body, `"loc":`+x.loc)
		for _, personal := range []string{"Ada", "Byron", "not-an-address", "1984", "627", "Main Street"} {
			if strings.Contains(got, personal) {
				t.Errorf("the answer repeats %q: %s", personal, got)
			}
		}
	}
	c.want(200, "PATCH", "/v2/user/"+id+"/info", strings.Replace(goodInfo, `"gender":`, `"medical_proxy":null,"race":null,"gender":`, 1))
}

func TestInsuranceShapes(t *testing.T) {
	c := newCaller(t)
	id := c.user("a")
	path := "/v2/user/" + id + "/insurance"
	c.want(422, "POST", path, goodInsurance, "demographics")
	c.want(200, "PATCH", "/v2/user/"+id+"/info", goodInfo)
	c.want(404, "GET", path+"/latest", "", "Insurance not found")
	golden(t, "insurance_self", c.want(200, "POST", path, goodInsurance))
	golden(t, "insurance_self", c.want(200, "GET", path+"/latest", ""))
	c.want(422, "POST", path, strings.Replace(goodInsurance, "Self", "Spouse", 1), `["body","guarantor"]`)
	c.want(422, "POST", path, strings.Replace(goodInsurance, "Self", "Cousin", 1), `["body","relationship"]`, `"enum"`)
	c.want(422, "POST", path, strings.Replace(goodInsurance, "UHC", "NO SUCH PAYOR!", 1), `["body","payor_code"]`)
	spouse := strings.Replace(goodInsurance, `"relationship":"Self"`, `"relationship":"Spouse","group_id":"G-7","is_primary":false,"guarantor":{"first_name":"Anne","last_name":"Byron",`+
		`"phone_number":"+14155550133","email":"anne@example.org","household_income":48000,"household_size":2,"address":{"first_line":"1 Main Street","zip":"78701","state":"TX","city":"Austin","country":"US"}}`, 1)
	spouse = strings.Replace(spouse, "UHC", "MAIDFED", 1)
	golden(t, "insurance_spouse", c.want(200, "POST", path, spouse))
	golden(t, "insurance_spouse", c.want(200, "GET", path+"/latest?is_primary=false", ""))
	golden(t, "insurance_self", c.want(200, "GET", path+"/latest?is_primary=true", ""))
}

func TestPortalURL(t *testing.T) {
	c := newCaller(t)
	id := c.user("a")
	path := "/v2/user/" + id + "/create_portal_url"
	c.want(422, "POST", path, `{"context":"launch"}`, "demographics")
	c.want(200, "PATCH", "/v2/user/"+id+"/info", goodInfo)
	golden(t, "portal_launch", c.want(200, "POST", path, `{"context":"launch"}`))
	golden(t, "portal_communications", c.want(200, "POST", path, `{"context":"communications","order_id":null}`))
	c.want(404, "POST", path, `{"context":"launch","order_id":"00000000-0000-4000-8000-000000000005"}`, "Order not found")
	c.want(422, "POST", path, `{"context":"launch","order_id":"x"}`, "order_id")
	c.want(422, "POST", path, `{"context":"carrier pigeon"}`, `"enum"`)
	c.want(422, "POST", path, `{}`, `"missing"`)
}

func TestConnectionShapes(t *testing.T) {
	c := newCaller(t)
	id := c.user("a")
	path := "/v2/user/providers/" + id
	c.want(200, "GET", path, "", `{"providers":[]}`)
	c.connect(id, "apple_health_kit", "heartrate", "sleep")
	golden(t, "connections", c.want(200, "GET", path, ""))
	c.want(404, "DELETE", "/v2/user/"+id+"/nope", "", "Provider not found")
	c.want(404, "DELETE", "/v2/user/"+id+"/oura", "", "not connected")
	c.want(200, "DELETE", "/v2/user/"+id+"/apple_health_kit/", "", `{"success":true}`)
	c.want(200, "GET", path, "", `{"providers":[]}`)
}

func TestRefreshUser(t *testing.T) {
	c := newCaller(t)
	id := c.user("a")
	path := "/v2/user/refresh/" + id
	golden(t, "refresh_nothing", c.want(400, "POST", path, ""))
	c.connect(id, "apple_health_kit", "heartrate")
	golden(t, "refresh_phone", c.want(200, "POST", path+"?timeout=5", ""))
	c.want(422, "POST", path+"?timeout=61", "", "less_than_equal")
	for range 7 {
		c.want(200, "POST", path, "")
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", path, nil)
	r.Header.Set("x-service-api-key", c.key)
	w := httptest.NewRecorder()
	c.door.ServeHTTP(w, r)
	if w.Code != 429 || w.Header().Get("Retry-After") != "3600" {
		t.Errorf("ninth refresh: %d, Retry-After %q: %s", w.Code, w.Header().Get("Retry-After"), w.Body)
	}
	*c.now = c.now.Add(time.Hour)
	c.connect(id, "oura", "sleep")
	golden(t, "refresh_failed", c.want(400, "POST", path, ""))
}

func TestDeviceShapes(t *testing.T) {
	c := newCaller(t)
	id := c.user("a")
	c.want(200, "GET", "/v2/user/"+id+"/device", "", "[]")
	var device connections.DeviceID
	userstest.Write(t, c.db, func(ctx context.Context, tx *store.Tx) error {
		user, err := users.Get(ctx, tx, c.team, users.ID(uuid.MustParse(id)))
		if err != nil {
			return err
		}
		device, err = connections.EnsureDevice(ctx, tx, user, connections.Device{
			Provider: "apple_health_kit", SourceType: "watch", Manufacturer: "Apple Inc.", Model: "Watch6,2", Version: "10.3",
		})
		return err
	})
	golden(t, "devices", c.want(200, "GET", "/v2/user/"+id+"/device", ""))
	c.want(200, "GET", "/v2/user/"+id+"/device/"+device.String(), "", `"device_model":"Watch6,2"`)
	c.want(404, "GET", "/v2/user/"+id+"/device/"+id, "", "Device not found")
	c.want(422, "GET", "/v2/user/"+id+"/device/x", "", "device_id")
}

func TestMetricsAndTeam(t *testing.T) {
	c := newCaller(t)
	c.connect(c.user("a"), "apple_health_kit", "heartrate")
	c.user("b")
	golden(t, "metrics", c.want(200, "GET", "/v2/user/metrics", ""))
	team := c.want(200, "GET", "/v2/team/"+c.team.String(), "")
	golden(t, "team", team)
	if strings.Contains(team, c.key) || strings.Contains(team, "secret") {
		t.Errorf("the team object holds a secret: %s", team)
	}
	c.want(404, "GET", "/v2/team/"+another(t, c.db, c.door, c.now).team.String(), "", "Team not found")
}

func TestProviders(t *testing.T) {
	c := newCaller(t)
	golden(t, "providers_ble", c.want(200, "GET", "/v2/providers/?source_type=ble", ""))
	c.want(200, "GET", "/v2/providers?source_type=telepathy", "", "[]")
	var all []struct {
		Slug     string
		AuthType *string `json:"auth_type"`
	}
	decode(t, c.want(200, "GET", "/v2/providers", ""), &all)
	if len(all) != len(providers.All()) {
		t.Errorf("%d providers served, %d in the catalogue", len(all), len(providers.All()))
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
