package routes_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hale/internal/api/calltest"
)

// call sends a request with a key and with other headers.
func call(c *calltest.Caller, method, path, body string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(c.T.Context(), method, path, strings.NewReader(body))
	r.Header = header
	r.Header.Set("X-Service-Api-Key", c.Key)
	w := httptest.NewRecorder()
	c.API.ServeHTTP(w, r)
	return w
}

// Every operation that changes something refuses different idempotency keys.
func TestDifferentIdempotencyKeys(t *testing.T) {
	c := newCaller(t)
	for _, op := range operations() {
		if op.Method == http.MethodGet || len(op.Security) == 0 {
			continue
		}
		path := strings.NewReplacer("{", "unknown-", "}", "").Replace(op.Path)
		for _, keys := range []http.Header{
			{"Idempotency-Key": {"one"}, "X-Idempotency-Key": {"two"}},
			{"Idempotency-Key": {"one", "two"}},
		} {
			if w := call(c, op.Method, path, "{}", keys); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "idempotency_key_conflict") {
				t.Errorf("%s %s: %d %s", op.Method, op.Path, w.Code, w.Body)
			}
		}
	}
}

// A change of one version that is repeated with its key returns the first answer. It does
// not fail because its own first request has changed the version.
func TestRepeatedConditionalChanges(t *testing.T) {
	c := newCaller(t)
	made := call(c, http.MethodPost, "/v2/user", `{"client_user_id":"one"}`, http.Header{})
	var user struct {
		ID string `json:"user_id"`
	}
	if err := json.Unmarshal(made.Body.Bytes(), &user); err != nil {
		t.Fatal(err)
	}
	path := "/v2/user/" + user.ID
	for _, x := range []struct{ method, body string }{
		{http.MethodPatch, `{"fallback_time_zone":"Europe/Berlin"}`},
		{http.MethodDelete, ""},
	} {
		tag := call(c, http.MethodGet, path, "", http.Header{}).Header().Get("ETag")
		send := func(key string) *httptest.ResponseRecorder {
			return call(c, x.method, path, x.body, http.Header{"If-Match": {tag}, "Idempotency-Key": {key}})
		}
		first, again := send(x.method), send(x.method)
		if first.Code != http.StatusOK || again.Code != http.StatusOK || again.Body.String() != first.Body.String() || again.Header().Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: %d %s, again %d %s", x.method, first.Code, first.Body, again.Code, again.Body)
		}
		if x.method == http.MethodPatch {
			if other := send("another"); other.Code != http.StatusPreconditionFailed {
				t.Errorf("with another key: %d %s", other.Code, other.Body)
			}
		}
	}
	const move = "/v3/order/019f0000-0000-7000-8000-000000000000/psc/appointment/reschedule"
	if w := call(c, http.MethodPatch, move, `{"booking_key":"x"}`, http.Header{"If-Match": {`"x"`}, "Idempotency-Key": {"1"}}); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("an operation without keys: %d %s", w.Code, w.Body)
	}
}

// Operations that only read have the number of the last event, also with the method POST.
func TestReadsHaveTheNumberOfTheLastEvent(t *testing.T) {
	c := newCaller(t)
	const user = "/aggregate/v1/user/019f0000-0000-7000-8000-000000000000/query"
	for path, want := range map[string]bool{
		user: true, "/v3/order/psc/appointment/availability": true, "/v3/order/phlebotomy/appointment/availability": true,
		"/v3/compendium/search": true, "/v3/insurance/search/payor": true, "/v3/lab_tests/list_order_set_markers": true, "/v2/user": false,
	} {
		if w := call(c, http.MethodPost, path, "{}", http.Header{}); (w.Header().Get("X-Hale-Event-Seq") != "") != want {
			t.Errorf("%s: %d, number %q", path, w.Code, w.Header().Get("X-Hale-Event-Seq"))
		}
	}
	for path, status := range map[string]int{"/v2/user?offset=0": 200, "/v2/user?next_cursor=x&offset=0": 422, "/v2/user?limit=1&limit=2": 422, "/v2/user?page_token=x": 422} {
		if w := call(c, http.MethodGet, path, "", http.Header{}); w.Code != status {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
