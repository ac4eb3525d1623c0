package routes_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"hale/internal/api"
	"hale/internal/api/calltest"
	"hale/internal/api/routes"
	"hale/internal/platform/store"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
)

const page = "https://app.example.org"

// newCORSCaller returns a caller of an API for pages of one origin.
func newCORSCaller(t testing.TB, change ...func(*api.Deps)) *calltest.Caller {
	t.Helper()
	return calltest.NewCallerOf(t, func(db *store.DB) *api.API {
		d := api.Deps{DB: db, BaseURL: "https://hale.example", CORSOrigins: []string{page, "http://localhost:5173"}}
		for _, fn := range change {
			fn(&d)
		}
		api.SetUpHuma()
		return routes.New(d, routes.Services{Ingester: ingest.New(db), Ledger: &ledger.Ledger{}})
	})
}

// browse sends a request with headers, names and values in turn.
func browse(c *calltest.Caller, method, path, key string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(c.T.Context(), method, path, http.NoBody)
	if key != "" {
		r.Header.Set("X-Service-Api-Key", key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	c.API.ServeHTTP(w, r)
	return w
}

// corsHeaders returns the headers of an answer that concern origins.
func corsHeaders(h http.Header) http.Header {
	found := http.Header{}
	for name, values := range h {
		if strings.HasPrefix(name, "Access-Control-") || name == "Vary" && slices.Contains(values, "Origin") {
			found[name] = values
		}
	}
	return found
}

// A page of a listed origin can read the answer of every operation, and errors too.
// Without Origin, and for other origins, no answer names one.
func TestAnswersForPages(t *testing.T) {
	c := newCORSCaller(t)
	for _, op := range operations() {
		path := strings.NewReplacer("{", "unknown-", "}", "").Replace(op.Path)
		for _, key := range []string{c.Key, "sk_a_wrong_key_of_a_client", ""} {
			w := browse(c, op.Method, path, key, "Origin", page)
			h := w.Header()
			if h.Get("Access-Control-Allow-Origin") != page || !slices.Contains(h.Values("Vary"), "Origin") || h.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s %s: %d %v", op.Method, path, w.Code, corsHeaders(h))
			}
			for _, name := range []string{"X-Hale-Event-Seq", "ETag", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "X-Request-Id", "Sandbox-Time"} {
				if !slices.Contains(strings.Split(h.Get("Access-Control-Expose-Headers"), ", "), name) {
					t.Errorf("%s %s does not expose %s: %s", op.Method, path, name, h.Get("Access-Control-Expose-Headers"))
				}
			}
		}
		w := browse(c, "OPTIONS", path, "", "Origin", page, "Access-Control-Request-Method", op.Method, "Access-Control-Request-Headers", "x-service-api-key")
		h := w.Header()
		if w.Code != 204 || h.Get("Access-Control-Allow-Origin") != page || h.Get("Access-Control-Allow-Methods") != op.Method || w.Body.Len() > 0 {
			t.Errorf("preflight of %s %s: %d %v %s", op.Method, path, w.Code, h, w.Body)
		}
		for _, name := range []string{"x-service-api-key", "Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match"} {
			if !slices.Contains(strings.Split(h.Get("Access-Control-Allow-Headers"), ", "), name) {
				t.Errorf("the preflight of %s %s does not allow %s", op.Method, path, name)
			}
		}
	}
}

// Other origins, requests without one and routes that are no operations get no such headers.
func TestNoAnswersForOtherPages(t *testing.T) {
	on, off := newCORSCaller(t), newCORSCaller(t, func(d *api.Deps) { d.CORSOrigins = nil })
	for _, origin := range []string{"https://evil.example", "https://app.example.org.evil.example", "https://APP.example.org", "http://app.example.org", "https://app.example.org:8443", "null", "*"} {
		for _, method := range []string{"GET", "OPTIONS"} {
			w := browse(on, method, "/v2/user", on.Key, "Origin", origin, "Access-Control-Request-Method", "GET")
			got := corsHeaders(w.Header())
			if got.Get("Vary") != "Origin" || len(got) != 1 || method == "OPTIONS" && w.Code != 405 {
				t.Errorf("%s from %s: %d %v", method, origin, w.Code, got)
			}
		}
	}
	for _, c := range []*calltest.Caller{on, off} {
		for _, x := range [][]string{{"GET", "/v2/user"}, {"OPTIONS", "/v2/user"}, {"GET", "/nowhere"}} {
			if w := browse(c, x[0], x[1], c.Key); len(corsHeaders(w.Header())) > 0 {
				t.Errorf("%v without Origin: %v", x, w.Header())
			}
		}
	}
	for _, path := range []string{"/openapi.json", "/openapi.yaml"} {
		for _, method := range []string{"GET", "OPTIONS"} {
			w := browse(on, method, path, "", "Origin", page, "Access-Control-Request-Method", "GET")
			if len(corsHeaders(w.Header())) > 0 || w.Code == 204 {
				t.Errorf("%s %s: %d %v", method, path, w.Code, w.Header())
			}
		}
	}
	if w := browse(off, "OPTIONS", "/v2/user", "", "Origin", page, "Access-Control-Request-Method", "GET"); w.Code != 405 || len(corsHeaders(w.Header())) > 0 {
		t.Errorf("switched off: %d %v", w.Code, w.Header())
	}
}

// A page reads the errors of unknown addresses and methods, which it asks for with a
// preflight.
func TestUnknownAddressesForPages(t *testing.T) {
	c := newCORSCaller(t)
	for path, status := range map[string]int{"/nowhere": 404, "/v2/nowhere/": 404, "/v2/user": 405} {
		w := browse(c, "PUT", path, c.Key, "Origin", page)
		if w.Code != status || w.Header().Get("Access-Control-Allow-Origin") != page {
			t.Errorf("PUT %s: %d %v", path, w.Code, w.Header())
		}
		w = browse(c, "OPTIONS", path, "", "Origin", page, "Access-Control-Request-Method", "PUT")
		if w.Code != 204 || w.Header().Get("Access-Control-Allow-Methods") != "PUT" {
			t.Errorf("preflight of PUT %s: %d %v", path, w.Code, w.Header())
		}
	}
}

// A page reads errors before and after authentication: 429, 404, 405 and 422.
func TestErrorsForPages(t *testing.T) {
	c := newCORSCaller(t, func(d *api.Deps) { d.RatePerSecond, d.RateBurst, d.RateSandbox, d.WrongKeys = 0.001, 3, true, 2 })
	user := "/v2/user/019f0000-0000-7000-8000-000000000000"
	for _, x := range []struct {
		method, path, key string
		status            int
	}{
		{"GET", user, c.Key, 404},
		{"GET", "/v2/user?limit=0", c.Key, 422},
		{"GET", user + "/", c.Key, 404},
		{"GET", user, c.Key, 429},
		{"HEAD", user, "", 401},
		{"GET", "/v2/user?x=%00", "", 422},
		{"GET", user, "sk_a_wrong_key_of_a_client", 401},
		{"GET", user, "sk_a_wrong_key_of_a_client", 401},
		{"GET", user, "sk_a_wrong_key_of_a_client", 429},
	} {
		w := browse(c, x.method, x.path, x.key, "Origin", "http://localhost:5173")
		if w.Code != x.status || w.Header().Get("Access-Control-Allow-Origin") != "http://localhost:5173" {
			t.Errorf("%s %s: %d, not %d: %v", x.method, x.path, w.Code, x.status, w.Header())
		}
		if w.Code == 429 && w.Header().Get("Retry-After") == "" {
			t.Errorf("%s %s: no Retry-After", x.method, x.path)
		}
	}
}

// A preflight needs no key and does not count against a limit.
func TestPreflightsHaveNoLimit(t *testing.T) {
	c := newCORSCaller(t, func(d *api.Deps) { d.RatePerSecond, d.RateBurst, d.RateSandbox = 1, 1, true })
	for range 5 {
		if w := browse(c, "OPTIONS", "/v2/user", c.Key, "Origin", page, "Access-Control-Request-Method", "POST"); w.Code != 204 {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	}
}
