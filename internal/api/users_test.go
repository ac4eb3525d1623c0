package api

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestUserShapes(t *testing.T) {
	c := newCaller(t)
	golden(t, "user_bare", c.want(200, "POST", "/v2/user/", `{"client_user_id":"bare"}`))
	full := c.want(200, "POST", "/v2/user", `{"client_user_id":"full","fallback_time_zone":"Europe/Helsinki","fallback_birth_date":"1984-12-10","ingestion_start":"2026-01-01","ingestion_end":"2026-12-31"}`)
	var user struct {
		UserID string `json:"user_id"`
	}
	decode(t, full, &user)
	c.connect(user.UserID, "apple_health_kit", "heartrate")
	for _, path := range []string{"/v2/user/" + user.UserID, "/v2/user/" + user.UserID + "/", "/v2/user/resolve/full"} {
		golden(t, "user_full", c.want(200, "GET", path, ""))
	}
	golden(t, "user_list", c.want(200, "GET", "/v2/user/?limit=1&offset=0", ""))
	golden(t, "user_conflict", c.want(400, "POST", "/v2/user/", `{"client_user_id":"full"}`))
	golden(t, "user_patched", c.want(200, "PATCH", "/v2/user/"+user.UserID, `{"ingestion_end":null}`))
	golden(t, "user_search", c.want(200, "GET", "/v2/team/users/search?query_id=ba", ""))
	golden(t, "user_deleted", c.want(200, "DELETE", "/v2/user/"+user.UserID, ""))
}

func TestCreateUserRefusals(t *testing.T) {
	c := newCaller(t)
	for _, x := range []struct{ body, code, loc string }{
		{`{}`, "missing", `["body","client_user_id"]`},
		{``, "missing", `["body"]`},
		{`[]`, "model_attributes_type", `["body"]`},
		{`{`, "json_invalid", `["body"]`},
		{`{"client_user_id":7}`, "string_type", `["body","client_user_id"]`},
		{`{"client_user_id":null}`, "string_type", `["body","client_user_id"]`},
		{`{"client_user_id":""}`, "string_too_short", `["body","client_user_id"]`},
		{`{"client_user_id":"` + strings.Repeat("x", 257) + `"}`, "string_too_long", `["body","client_user_id"]`},
		{`{"client_user_id":"a","fallback_time_zone":"Nowhere"}`, "value_error", `["body","fallback_time_zone"]`},
		{`{"client_user_id":"a","fallback_birth_date":"10.12.1984"}`, "date_from_datetime_parsing", `["body","fallback_birth_date"]`},
		{`{"client_user_id":"a","fallback_birth_date":"2025-02-29"}`, "date_from_datetime_parsing", `["body","fallback_birth_date"]`},
		{`{"client_user_id":"a","ingestion_start":"2026-02-01","ingestion_end":"2026-01-31"}`, "value_error", `["body","ingestion_end"]`},
	} {
		c.want(422, "POST", "/v2/user/", x.body, `"type":"`+x.code+`"`, `"loc":`+x.loc)
	}
	if got := c.want(422, "POST", "/v2/user/", `{"client_user_id":"a","fallback_birth_date":"1984-13-10"}`); strings.Contains(got, "1984") {
		t.Errorf("the answer repeats a birth date: %s", got)
	}
	c.want(200, "GET", "/v2/user/", "", `"total":0`)
	c.want(200, "POST", "/v2/user/", `{"client_user_id":"a","fallback_time_zone":null,"fallback_birth_date":null,"ingestion_start":null,"unknown":1}`)
}

func TestListBounds(t *testing.T) {
	c := newCaller(t)
	for i := range 3 {
		c.user(fmt.Sprint("u", i))
	}
	for query, code := range map[string]string{"limit=0": "greater_than_equal", "limit=501": "less_than_equal", "offset=-1": "greater_than_equal", "limit=x": "int_parsing"} {
		c.want(422, "GET", "/v2/user/?"+query, "", code)
	}
	c.want(200, "GET", "/v2/user", "", `"total":3,"offset":0,"limit":100`)
	c.want(200, "GET", "/v2/user?limit=500&offset=2", "", `"client_user_id":"u0"`, `"total":3,"offset":2,"limit":500`)
	c.want(200, "GET", "/v2/user?offset=3", "", `"users":[]`)
}

func TestPatchUser(t *testing.T) {
	c := newCaller(t)
	id := c.user("a")
	c.user("held")
	path := "/v2/user/" + id
	c.want(400, "PATCH", path, `{}`, "Nothing to patch")
	c.want(400, "PATCH", path, `{"nickname":"x"}`, "Nothing to patch")
	c.want(422, "PATCH", path, `{"client_user_id":null}`, `"value_error"`, `"loc":["body"]`)
	c.want(409, "PATCH", path, `{"client_user_id":"held"}`, "Client user id already exists")
	c.want(422, "PATCH", path, `{"ingestion_start":"2026-99-01"}`, "ingestion_start")
	c.want(422, "PATCH", path, `{"fallback_time_zone":5}`, "fallback_time_zone")
	c.want(404, "PATCH", "/v2/user/00000000-0000-4000-8000-000000000000", `{"ingestion_start":null}`)
	c.want(200, "PATCH", path, `{"fallback_time_zone":"Asia/Tokyo","fallback_birth_date":"1984-12-10","ingestion_start":"2026-01-01"}`, `"detail"`)
	c.want(200, "GET", path, "", "Asia/Tokyo", "1984-12-10", "2026-01-01")
	c.want(200, "PATCH", path, `{"fallback_time_zone":null}`)
	c.want(200, "GET", path, "", `"fallback_time_zone":null`, "1984-12-10", "2026-01-01")
}

func TestUndoDelete(t *testing.T) {
	c := newCaller(t)
	id := c.user("a")
	for _, call := range [][2]string{
		{"/v2/user/undo_delete?user_id=" + id, ""},
		{"/v2/user/undo_delete?client_user_id=a", ""},
		{"/v2/user/undo_delete", `{"user_id":"` + id + `"}`},
		{"/v2/user/undo_delete/", `{"client_user_id":"a"}`},
		{"/v2/user/undo_delete", `{"client_user_id":"a","user_id":null}`},
	} {
		c.want(200, "DELETE", "/v2/user/"+id, "", `{"success":true}`)
		c.want(404, "GET", "/v2/user/"+id, "")
		c.want(200, "POST", call[0], call[1], `{"success":true}`)
		c.want(200, "GET", "/v2/user/"+id, "")
	}
	c.want(422, "POST", "/v2/user/undo_delete", "", "exactly one")
	c.want(422, "POST", "/v2/user/undo_delete?user_id="+id+"&client_user_id=a", "", "exactly one")
	c.want(422, "POST", "/v2/user/undo_delete?user_id="+id, `{"client_user_id":"a"}`, "exactly one")
	c.want(422, "POST", "/v2/user/undo_delete?user_id=nope", "", "user_id")
	c.want(404, "POST", "/v2/user/undo_delete?user_id="+id, "")
	c.want(200, "DELETE", "/v2/user/"+id, "")
	c.user("a")
	c.want(409, "POST", "/v2/user/undo_delete?user_id="+id, "")
	*c.now = c.now.Add(7 * 24 * time.Hour)
	c.want(404, "POST", "/v2/user/undo_delete?user_id="+id, "")
}

func TestResolveTakesAnyText(t *testing.T) {
	c := newCaller(t)
	for name, path := range map[string]string{
		"a b": "a%20b", "a/b": "a%2Fb", "50%": "50%25", "q?x=1": "q%3Fx=1", "ä": "%C3%A4", "a+b": "a+b", "end/": "end%2F",
	} {
		body, err := json.Marshal(map[string]string{"client_user_id": name})
		if err != nil {
			t.Fatal(err)
		}
		c.want(200, "POST", "/v2/user/", string(body))
		c.want(200, "GET", "/v2/user/resolve/"+path, "", `"client_user_id":`)
	}
	c.want(404, "GET", "/v2/user/resolve/nobody", "", `{"detail":"User not found"}`)
}

func TestBadAndForeignUserIDs(t *testing.T) {
	c := newCaller(t)
	other := another(t, c.db, c.door, c.now)
	foreign := other.user("theirs")
	unknown := "00000000-0000-4000-8000-000000000000"
	for _, x := range []struct{ method, before, after, body string }{
		{"GET", "/v2/user/", "", ""},
		{"PATCH", "/v2/user/", "", `{"ingestion_start":null}`},
		{"DELETE", "/v2/user/", "", ""},
		{"GET", "/v2/user/", "/info/latest", ""},
		{"PATCH", "/v2/user/", "/info", goodInfo},
		{"POST", "/v2/user/", "/insurance", goodInsurance},
		{"GET", "/v2/user/", "/insurance/latest", ""},
		{"POST", "/v2/user/", "/create_portal_url", `{"context":"launch"}`},
		{"GET", "/v2/user/providers/", "", ""},
		{"DELETE", "/v2/user/", "/oura", ""},
		{"POST", "/v2/user/refresh/", "", ""},
		{"GET", "/v2/user/", "/device", ""},
		{"GET", "/v2/user/", "/device/" + unknown, ""},
	} {
		name := x.method + " " + x.before + "…" + x.after
		c.want(422, x.method, x.before+"not-a-uuid"+x.after, x.body, `"uuid_parsing"`, `["path","user_id"]`)
		foreignCode, foreignBody := c.do(x.method, x.before+foreign+x.after, x.body)
		code, body := c.do(x.method, x.before+unknown+x.after, x.body)
		foreignBody = strings.ReplaceAll(foreignBody, foreign, unknown)
		if foreignCode != 404 || code != 404 || foreignBody != body {
			t.Errorf("%s: foreign %d %s, unknown %d %s", name, foreignCode, foreignBody, code, body)
		}
	}
	other.want(200, "GET", "/v2/user/"+foreign, "")
}

func TestSearchUsers(t *testing.T) {
	c := newCaller(t)
	id := c.user("abc")
	c.want(200, "PATCH", "/v2/user/"+id+"/info", goodInfo)
	for _, query := range []string{"ab", id, id[:20], "byr", "ADA"} {
		c.want(200, "GET", "/v2/team/users/search?query_id="+query, "", id)
	}
	c.want(200, "GET", "/v2/team/users/search?query_id=zz", "", "[]")
	c.want(200, "GET", "/v2/team/users/search", "", "[]")
	c.want(422, "GET", "/v2/team/users/search?query_id=a", "", "string_too_short")
}

// Any JSON object is answered in time and in kind: a change, or a refusal with
// a detail.
func FuzzPatchUser(f *testing.F) {
	for _, body := range []string{
		`{"client_user_id":"x"}`, `{"fallback_time_zone":null}`, `{"ingestion_start":"2026-01-01","ingestion_end":"2025-01-01"}`,
		`{"fallback_birth_date":"0001-01-01"}`, `{"client_user_id":{"a":[1]}}`, `{}`, `[]`, `null`, `{"ingestion_end":1e400}`, "{\"client_user_id\":\"\\u0000\"}",
	} {
		f.Add(body)
	}
	c := newCaller(f)
	id := c.user("fuzz")
	f.Fuzz(func(t *testing.T, body string) {
		c := *c
		c.t = t
		code, got := c.do("PATCH", "/v2/user/"+id, body)
		switch code {
		case 200, 400, 409, 422:
		default:
			t.Fatalf("%d %s for %s", code, got, body)
		}
		var answer struct{ Detail any }
		if err := json.Unmarshal([]byte(got), &answer); err != nil || answer.Detail == nil {
			t.Fatalf("%s for %s", got, body)
		}
		if code, got := c.do("GET", "/v2/user/"+id, ""); code != 200 {
			t.Fatalf("after %s the user cannot be read: %d %s", body, code, got)
		}
	})
}

// HEAD is GET without a body, wherever there is a GET (RFC 9110, 9.1).
func TestHead(t *testing.T) {
	c := newCaller(t)
	id := c.user("ann")
	for path, want := range map[string]int{"/v2/user/" + id: 200, "/v2/user/" + id + "/": 200, "/docs": 200, "/openapi.json": 200, "/v2/link/exchange": 405} {
		r := httptest.NewRequestWithContext(t.Context(), "HEAD", path, nil)
		r.Header.Set("X-Service-Api-Key", c.key)
		w := httptest.NewRecorder()
		c.door.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("HEAD %s: %d, want %d", path, w.Code, want)
		}
	}
}

func TestAllowNamesTheMethods(t *testing.T) {
	c := newCaller(t)
	id := c.user("ann")
	for path, want := range map[string]string{
		"/v2/user/":            "GET,HEAD,POST",
		"/v2/user/" + id:       "GET,HEAD,PATCH,DELETE",
		"/v2/user/metrics":     "GET,HEAD,PATCH,DELETE", // the id's methods fit it too
		"/v2/user/undo_delete": "GET,HEAD,POST,PATCH,DELETE",
	} {
		r := httptest.NewRequestWithContext(t.Context(), "PUT", path, nil)
		w := httptest.NewRecorder()
		c.door.ServeHTTP(w, r)
		if got := strings.Join(w.Header()["Allow"], ","); w.Code != 405 || got != want {
			t.Errorf("PUT %s: %d, Allow %q, want %q", path, w.Code, got, want)
		}
	}
}
