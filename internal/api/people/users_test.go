package people

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hale/internal/api/calltest"
)

// Whichever of two members the form was held against, the handler took the last.
func TestDuplicateFieldsAreRefused(t *testing.T) {
	c := newCaller(t)
	id := c.User("a")
	c.Want(200, "PATCH", "/v2/user/"+id+"/info", calltest.GoodInfo)
	for _, body := range []string{
		`{"context":"launch","Context":"nothing we know"}`, `{"Context":"nothing we know","context":"launch"}`, `{"context":"launch","context":"launch"}`,
	} {
		c.Want(422, "POST", "/v2/user/"+id+"/create_portal_url", body, `"type":"value_error"`, `duplicate field`, `"loc":["body","`)
	}
	c.Want(422, "POST", "/v2/user", `{"client_user_id":"b","CLIENT_USER_ID":null}`, `"loc":["body","CLIENT_USER_ID"]`)
	c.Want(200, "GET", "/v2/user/", "", `"total":1`)
}

func TestUserShapes(t *testing.T) {
	c := newCaller(t)
	calltest.Golden(t, "user_bare", c.Want(200, "POST", "/v2/user/", `{"client_user_id":"bare"}`))
	full := c.Want(200, "POST", "/v2/user", `{"client_user_id":"full","fallback_time_zone":"Europe/Helsinki","fallback_birth_date":"1984-12-10","ingestion_start":"2026-01-01","ingestion_end":"2026-12-31"}`)
	var user struct {
		UserID string `json:"user_id"`
	}
	calltest.Decode(t, full, &user)
	c.Connect(user.UserID, "apple_health_kit", "heartrate")
	for _, path := range []string{"/v2/user/" + user.UserID, "/v2/user/" + user.UserID + "/", "/v2/user/resolve/full"} {
		calltest.Golden(t, "user_full", c.Want(200, "GET", path, ""))
	}
	list := c.Want(200, "GET", "/v2/user/?limit=1&offset=0", "")
	var page struct {
		Next string `json:"next_cursor"`
	}
	calltest.Decode(t, list, &page)
	calltest.Golden(t, "user_list", strings.Replace(list, page.Next, "CURSOR", 1))
	c.Want(200, "GET", "/v2/user?limit=1&next_cursor="+page.Next, "", `"client_user_id":"bare"`, `"next_cursor":null`)
	c.Want(422, "GET", "/v2/user?limit=1&next_cursor=x", "", `["query","next_cursor"]`)
	c.Want(422, "GET", "/v2/user?offset=1&next_cursor="+page.Next, "", `["query","offset"]`)
	calltest.Golden(t, "user_conflict", c.Want(400, "POST", "/v2/user/", `{"client_user_id":"full"}`))
	calltest.Golden(t, "user_patched", c.Want(200, "PATCH", "/v2/user/"+user.UserID, `{"ingestion_end":null}`))
	calltest.Golden(t, "user_search", c.Want(200, "GET", "/v2/team/users/search?query_id=ba", ""))
	calltest.Golden(t, "user_deleted", c.Want(200, "DELETE", "/v2/user/"+user.UserID, ""))
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
		c.Want(422, "POST", "/v2/user/", x.body, `"type":"`+x.code+`"`, `"loc":`+x.loc)
	}
	if got := c.Want(422, "POST", "/v2/user/", `{"client_user_id":"a","fallback_birth_date":"1984-13-10"}`); strings.Contains(got, "1984") {
		t.Errorf("the answer repeats a birth date: %s", got)
	}
	c.Want(200, "GET", "/v2/user/", "", `"total":0`)
	c.Want(200, "POST", "/v2/user/", `{"client_user_id":"a","fallback_time_zone":null,"fallback_birth_date":null,"ingestion_start":null,"unknown":1}`)
}

func TestListBounds(t *testing.T) {
	c := newCaller(t)
	for i := range 3 {
		c.User(fmt.Sprint("u", i))
	}
	for query, code := range map[string]string{"limit=0": "greater_than_equal", "limit=501": "less_than_equal", "offset=-1": "greater_than_equal", "limit=x": "int_parsing"} {
		c.Want(422, "GET", "/v2/user/?"+query, "", code)
	}
	c.Want(200, "GET", "/v2/user", "", `"total":3,"offset":0,"limit":100`)
	c.Want(200, "GET", "/v2/user?limit=500&offset=2", "", `"client_user_id":"u0"`, `"total":3,"offset":2,"limit":500`)
	c.Want(200, "GET", "/v2/user?offset=3", "", `"users":[]`)
}

func TestPatchUser(t *testing.T) {
	c := newCaller(t)
	id := c.User("a")
	c.User("held")
	path := "/v2/user/" + id
	for _, nothing := range []string{`{}`, `{"nickname":"x"}`, `{"client_user_id":null}`} {
		c.Want(200, "PATCH", path, nothing, `"detail"`)
		c.Want(200, "GET", path, "", `"client_user_id":"a"`)
	}
	c.Want(409, "PATCH", path, `{"client_user_id":"held"}`, "Client user id already exists")
	c.Want(422, "PATCH", path, `{"ingestion_start":"2026-99-01"}`, "ingestion_start")
	c.Want(422, "PATCH", path, `{"fallback_time_zone":5}`, "fallback_time_zone")
	c.Want(404, "PATCH", "/v2/user/00000000-0000-4000-8000-000000000000", `{"ingestion_start":null}`)
	c.Want(200, "PATCH", path, `{"fallback_time_zone":"Asia/Tokyo","fallback_birth_date":"1984-12-10","ingestion_start":"2026-01-01"}`, `"detail"`)
	c.Want(200, "GET", path, "", "Asia/Tokyo", "1984-12-10", "2026-01-01")
	c.Want(200, "PATCH", path, `{"fallback_time_zone":null}`)
	c.Want(200, "GET", path, "", `"fallback_time_zone":null`, "1984-12-10", "2026-01-01")
}

func TestUndoDelete(t *testing.T) {
	c := newCaller(t)
	id := c.User("a")
	for _, call := range [][2]string{
		{"/v2/user/undo_delete?user_id=" + id, ""},
		{"/v2/user/undo_delete?client_user_id=a", ""},
		{"/v2/user/undo_delete", `{"user_id":"` + id + `"}`},
		{"/v2/user/undo_delete/", `{"client_user_id":"a"}`},
		{"/v2/user/undo_delete", `{"client_user_id":"a","user_id":null}`},
	} {
		c.Want(200, "DELETE", "/v2/user/"+id, "", `{"success":true}`)
		c.Want(404, "GET", "/v2/user/"+id, "")
		c.Want(200, "POST", call[0], call[1], `{"success":true}`)
		c.Want(200, "GET", "/v2/user/"+id, "")
	}
	c.Want(422, "POST", "/v2/user/undo_delete", "", "exactly one")
	c.Want(422, "POST", "/v2/user/undo_delete?user_id="+id+"&client_user_id=a", "", "exactly one")
	c.Want(422, "POST", "/v2/user/undo_delete?user_id="+id, `{"client_user_id":"a"}`, "exactly one")
	c.Want(422, "POST", "/v2/user/undo_delete?user_id=nope", "", "user_id")
	c.Want(422, "POST", "/v2/user/undo_delete?user_id=nope", "", `"input":null`)
	c.Want(422, "POST", "/v2/user/"+id+"/create_portal_url", `{"context":"nope"}`, `"input":null`)
	c.Want(404, "POST", "/v2/user/undo_delete?user_id="+id, "")
	c.Want(200, "DELETE", "/v2/user/"+id, "")
	c.User("a")
	c.Want(409, "POST", "/v2/user/undo_delete?user_id="+id, "")
	*c.Now = c.Now.Add(7 * 24 * time.Hour)
	c.Want(404, "POST", "/v2/user/undo_delete?user_id="+id, "")
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
		c.Want(200, "POST", "/v2/user/", string(body))
		c.Want(200, "GET", "/v2/user/resolve/"+path, "", `"client_user_id":`)
	}
	c.Want(404, "GET", "/v2/user/resolve/nobody", "", `{"code":"not_found","detail":"User not found"}`)
}

func TestSearchUsers(t *testing.T) {
	c := newCaller(t)
	id := c.User("abc")
	c.Want(200, "PATCH", "/v2/user/"+id+"/info", calltest.GoodInfo)
	for _, query := range []string{"ab", id, id[:20], "byr", "ADA"} {
		c.Want(200, "GET", "/v2/team/users/search?query_id="+query, "", id)
	}
	c.Want(200, "GET", "/v2/team/users/search?query_id=zz", "", "[]")
	c.Want(200, "GET", "/v2/team/users/search", "", "[]")
	c.Want(422, "GET", "/v2/team/users/search?query_id=a", "", "string_too_short")
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
	id := c.User("fuzz")
	f.Fuzz(func(t *testing.T, body string) {
		c := *c
		c.T = t
		code, got := c.Do("PATCH", "/v2/user/"+id, body)
		switch code {
		case 200, 400, 409, 422:
		default:
			t.Fatalf("%d %s for %s", code, got, body)
		}
		var answer struct{ Detail any }
		if err := json.Unmarshal([]byte(got), &answer); err != nil || answer.Detail == nil {
			t.Fatalf("%s for %s", got, body)
		}
		if code, got := c.Do("GET", "/v2/user/"+id, ""); code != 200 {
			t.Fatalf("after %s the user cannot be read: %d %s", body, code, got)
		}
	})
}

// HEAD is GET without a body, wherever there is a GET (RFC 9110, 9.1).
func TestHead(t *testing.T) {
	c := newCaller(t)
	id := c.User("ann")
	for path, want := range map[string]int{"/v2/user/" + id: 200, "/v2/user/" + id + "/": 200, "/openapi.json": 200, "/v2/link/exchange": 405} {
		r := httptest.NewRequestWithContext(t.Context(), "HEAD", path, nil)
		r.Header.Set("X-Service-Api-Key", c.Key)
		w := httptest.NewRecorder()
		c.API.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("HEAD %s: %d, want %d", path, w.Code, want)
		}
	}
}

func TestAllowNamesTheMethods(t *testing.T) {
	c := newCaller(t)
	id := c.User("ann")
	for path, want := range map[string]string{
		"/v2/user/":            "GET,HEAD,POST",
		"/v2/user/" + id:       "GET,HEAD,PATCH,DELETE",
		"/v2/user/metrics":     "GET,HEAD,PATCH,DELETE", // the id's methods fit it too
		"/v2/user/undo_delete": "GET,HEAD,POST,PATCH,DELETE",
	} {
		r := httptest.NewRequestWithContext(t.Context(), "PUT", path, nil)
		w := httptest.NewRecorder()
		c.API.ServeHTTP(w, r)
		if got := strings.Join(w.Header()["Allow"], ","); w.Code != 405 || got != want {
			t.Errorf("PUT %s: %d, Allow %q, want %q", path, w.Code, got, want)
		}
	}
}
