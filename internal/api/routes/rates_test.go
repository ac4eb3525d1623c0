package routes_test

import (
	"testing"

	"hale/internal/api"
)

// Answers to requests with a known key have the headers of the rate limit. Answers
// without one have none.
func TestHeadersOfTheRateLimit(t *testing.T) {
	c := newCORSCaller(t, func(d *api.Deps) { d.RatePerSecond, d.RateBurst, d.RateSandbox = 1, 100, true })
	for _, x := range []struct {
		method, path, key string
		status            int
		limited           bool
	}{
		{"GET", "/v2/user", c.Key, 200, true},
		{"GET", "/v2/user?limit=many", c.Key, 422, true},
		{"GET", "/v2/user/019f0000-0000-7000-8000-000000000000", c.Key, 404, true},
		{"GET", "/v2/user", "", 401, false},
		{"GET", "/v2/user", "sk_a_wrong_key_of_a_client", 401, false},
		{"GET", "/nowhere", c.Key, 404, true},
		{"GET", "/nowhere", "", 404, false},
		{"GET", "/nowhere", "sk_a_wrong_key_of_a_client", 401, false},
		{"PUT", "/v2/user", c.Key, 405, true},
		{"PUT", "/v2/user", "", 405, false},
		{"GET", "/v2/user?limit=%ff", c.Key, 422, true},
		{"POST", "/v2/user", c.Key, 415, true},
		{"POST", "/v2/user", "", 415, false},
	} {
		var headers []string
		if x.status == 415 {
			headers = []string{"Content-Encoding", "br"}
		}
		w := browse(c, x.method, x.path, x.key, headers...)
		for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
			if got := w.Header().Get(name); w.Code != x.status || x.limited != (got != "") {
				t.Errorf("%s %s: %d, %s %q", x.method, x.path, w.Code, name, got)
			}
		}
	}
}
