package routes_test

import (
	"strings"
	"testing"

	"hale/internal/api/calltest"
)

func TestBadAndForeignUserIDs(t *testing.T) {
	c := newCaller(t)
	other := calltest.NewTeamCaller(t, c.DB, c.API, c.Now)
	foreign := other.User("theirs")
	unknown := "00000000-0000-4000-8000-000000000000"
	for _, x := range []struct{ method, before, after, body string }{
		{"GET", "/v2/user/", "", ""},
		{"PATCH", "/v2/user/", "", `{"ingestion_start":null}`},
		{"DELETE", "/v2/user/", "", ""},
		{"GET", "/v2/user/", "/info/latest", ""},
		{"PATCH", "/v2/user/", "/info", calltest.GoodInfo},
		{"POST", "/v2/user/", "/insurance", calltest.GoodInsurance},
		{"GET", "/v2/user/", "/insurance/latest", ""},
		{"POST", "/v2/user/", "/create_portal_url", `{"context":"launch"}`},
		{"GET", "/v2/user/providers/", "", ""},
		{"DELETE", "/v2/user/", "/oura", ""},
		{"POST", "/v2/user/refresh/", "", ""},
		{"GET", "/v2/user/", "/device", ""},
		{"GET", "/v2/user/", "/device/" + unknown, ""},
	} {
		name := x.method + " " + x.before + "…" + x.after
		c.Want(422, x.method, x.before+"not-a-uuid"+x.after, x.body, `"uuid_parsing"`, `["path","user_id"]`)
		foreignCode, foreignBody := c.Do(x.method, x.before+foreign+x.after, x.body)
		code, body := c.Do(x.method, x.before+unknown+x.after, x.body)
		foreignBody = strings.ReplaceAll(foreignBody, foreign, unknown)
		if foreignCode != 404 || code != 404 || foreignBody != body {
			t.Errorf("%s: foreign %d %s, unknown %d %s", name, foreignCode, foreignBody, code, body)
		}
	}
	other.Want(200, "GET", "/v2/user/"+foreign, "")
}
