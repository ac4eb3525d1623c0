package routes_test

import (
	"context"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/api/calltest"
	"hale/internal/api/routes"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// keyWith creates a key of the caller's team.
func keyWith(c *calltest.Caller, rights teams.Rights) string {
	var text string
	userstest.Write(c.T, c.DB, func(ctx context.Context, tx *store.Tx) error {
		team, err := teams.Get(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		_, key, err := teams.CreateKey(ctx, tx, team, teams.NewKey{Label: "limited", Rights: rights})
		text = key.Reveal()
		return err
	})
	return text
}

// operations returns all operations that need a key.
func operations() []*huma.Operation {
	var all []*huma.Operation
	api.SetUpHuma()
	for _, path := range routes.New(api.Deps{}, routes.Services{}).OpenAPI().Paths {
		for _, op := range []*huma.Operation{path.Get, path.Post, path.Put, path.Patch, path.Delete} {
			if op != nil && op.Extensions["x-scope"] != nil {
				all = append(all, op)
			}
		}
	}
	return all
}

// A key can call the operations of its scopes, and no other.
func TestKeysCallTheOperationsOfTheirScopes(t *testing.T) {
	c := newCaller(t)
	keys := map[teams.Scope]string{}
	for _, scope := range teams.Scopes {
		keys[scope] = keyWith(c, teams.Rights{Scopes: []teams.Scope{scope}, PersonalData: true})
	}
	called := map[teams.Scope]int{}
	for _, op := range operations() {
		path := strings.NewReplacer("{", "unknown-", "}", "").Replace(op.Path)
		for scope, key := range keys {
			if op.Extensions["x-scope"] == scope && op.Extensions["x-personal-data"] == true {
				called[scope]++
				continue
			}
			c.Key = key
			if op.Extensions["x-scope"] != scope {
				c.Want(403, op.Method, path, `{}`, "This API key does not have the scope")
			}
		}
	}
	for _, scope := range teams.Scopes {
		if called[scope] == 0 {
			t.Errorf("no operation needs the scope %s", scope)
		}
	}
	for path, scope := range map[string]teams.Scope{
		"/v2/user": teams.Read, "/v3/orders": teams.Read, "/v2/webhooks": teams.Webhooks, "/v2/events": teams.Webhooks, "/v2/team/practice": teams.Admin, "/v2/audit": teams.Admin,
	} {
		c.Key = keys[scope]
		c.Want(200, "GET", path, "")
	}
	c.Key = keys[teams.Write]
	user := c.User("created by a key that writes")
	c.Want(403, "GET", "/v2/user/"+user, "", "the scope read")
}

// A key without personal data reads wearable data, and no names.
func TestAKeyWithoutPersonalData(t *testing.T) {
	c := newCaller(t)
	user := c.User("a user")
	c.Key = keyWith(c, teams.Rights{})
	c.Want(200, "GET", "/v2/timeseries/"+user+"/heartrate/grouped?start_date=2026-01-01&end_date=2026-01-02", "")
	c.Want(200, "GET", "/v2/summary/sleep/"+user+"?start_date=2026-01-01&end_date=2026-01-02", "")
	c.Want(200, "GET", "/v3/lab_tests", "")
	for _, path := range []string{
		"/v2/user", "/v2/user/" + user, "/v2/user/" + user + "/info/latest", "/v2/summary/profile/" + user, "/v3/orders", "/v2/events",
		"/v2/timeseries/" + user + "/note/grouped?start_date=2026-01-01", "/v2/team/users/search?query_id=ada", "/v2/audit", "/v2/webhooks",
	} {
		c.Want(403, "GET", path, "", "no access to personal data")
	}
	c.Want(403, "POST", "/v2/user", `{"client_user_id":"another"}`, "no access to personal data")
}

// Operations that need more than the scopes read, write and orders. The list does not come
// from the table of scopes, so that a new path cannot get a weaker scope unnoticed.
func TestOperationsThatNeedASpecialScope(t *testing.T) {
	const path = "/v2/user/{user_id}/"
	want := map[string]teams.Scope{
		"GET /v2/events": teams.Webhooks,

		"POST " + path + "create_portal_url":       teams.Portal,
		"GET " + path + "portal_access":            teams.Portal,
		"DELETE " + path + "portal_access":         teams.Portal,
		"POST " + path + "sign_in_token":           teams.Portal,
		"DELETE " + path + "sign_in_token":         teams.Portal,
		"POST /v2/link/code/create":                teams.Portal,
		"POST /v2/link/connect/demo":               teams.Portal,
		"POST /v2/link/provider/manual/{provider}": teams.Portal,

		"GET /v2/audit":                       teams.Admin,
		"GET /v2/jobs":                        teams.Admin,
		"GET /v2/jobs/{job_id}":               teams.Admin,
		"POST /v2/jobs/{job_id}/cancel":       teams.Admin,
		"GET /v2/team/appointment_settings":   teams.Admin,
		"PATCH /v2/team/appointment_settings": teams.Admin,
		"GET /v2/team/message_settings":       teams.Admin,
		"PATCH /v2/team/message_settings":     teams.Admin,
		"GET /v2/team/outbox":                 teams.Admin,
		"GET /v2/team/practice":               teams.Admin,
		"PUT /v2/team/practice":               teams.Admin,
		"DELETE /v2/team/practice":            teams.Admin,
		"GET /v2/team/renormalise":            teams.Admin,
		"POST /v2/team/renormalise":           teams.Admin,
		"GET /v2/team/renormalise/{run_id}":   teams.Admin,
		"GET /v2/team/settings":               teams.Admin,
		"PATCH /v2/team/settings":             teams.Admin,
		"GET /v2/team/source/priorities":      teams.Admin,
		"PATCH /v2/team/source/priorities":    teams.Admin,
		"GET /v2/team/{team_id}":              teams.Admin,
		"GET /v2/team/{team_id}/physicians":   teams.Admin,
	}
	seen := 0
	for _, op := range operations() {
		name, scope := op.Method+" "+op.Path, op.Extensions["x-scope"]
		if strings.Contains(op.Path, "webhook") {
			if scope != teams.Webhooks {
				t.Errorf("%s needs the scope %s instead of %s", name, scope, teams.Webhooks)
			}
			continue
		}
		special := scope == teams.Webhooks || scope == teams.Portal || scope == teams.Admin
		needed, listed := want[name]
		if listed {
			seen++
		}
		if listed && scope != needed || special && !listed {
			t.Errorf("%s needs the scope %s; the list has %q", name, scope, needed)
		}
	}
	if seen != len(want) {
		t.Errorf("%d of the %d operations of the list exist", seen, len(want))
	}
}

// A key cannot use the webhooks at the paths of an organization without the scope webhooks.
func TestOrganizationWebhooksNeedTheirScope(t *testing.T) {
	c := newCaller(t)
	base := "/v1/org/" + c.Team.String() + "/team/" + c.Team.String() + "/sandbox/webhook"
	c.Key = keyWith(c, teams.Rights{Scopes: []teams.Scope{teams.Read, teams.Write, teams.Orders, teams.Portal, teams.Admin}, PersonalData: true})
	for _, call := range []string{"GET ", "POST ", "GET /unknown/secret", "POST /unknown/secret/rotate", "PUT /unknown/headers", "PATCH /unknown", "DELETE /unknown"} {
		method, rest, _ := strings.Cut(call, " ")
		c.Want(403, method, base+rest, `{}`, "the scope webhooks")
	}
}

func TestAKeyFromAnotherAddress(t *testing.T) {
	c := newCaller(t)
	key := keyWith(c, teams.Rights{PersonalData: true, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}})
	for address, want := range map[string]int{
		"10.1.2.3:99": 200, "[::ffff:10.1.2.3]:99": 200, "[2001:db8::1]:99": 200, "192.0.2.1:99": 403, "[2001:db9::1]:99": 403, "": 403,
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/v2/user", nil)
		r.Header.Set("x-service-api-key", key)
		r.RemoteAddr = address
		w := httptest.NewRecorder()
		c.API.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d, want %d: %s", address, w.Code, want, w.Body)
		}
	}
}
