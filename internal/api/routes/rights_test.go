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
		_, key, err := teams.CreateKeyWith(ctx, tx, team, teams.NewKey{Label: "limited", Rights: rights})
		text = key.Reveal()
		return err
	})
	return text
}

// operations are all operations that need a key.
func operations() []*huma.Operation {
	var all []*huma.Operation
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
