package routes_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// No answer of any operation may be stored in a cache or be taken for another type,
// with and without a key.
func TestAnswersOfAllOperationsStayOutOfCaches(t *testing.T) {
	c := newCaller(t)
	n := 0
	for _, op := range operations() {
		path := strings.NewReplacer("{", "unknown-", "}", "").Replace(op.Path)
		for _, key := range []string{c.Key, "sk_a_wrong_key_of_a_client", ""} {
			r := httptest.NewRequestWithContext(t.Context(), op.Method, path, http.NoBody)
			r.Header.Set("X-Service-Api-Key", key)
			w := httptest.NewRecorder()
			c.API.ServeHTTP(w, r)
			if h := w.Header(); !strings.Contains(h.Get("Cache-Control"), "no-store") || h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s: %d, Cache-Control %q, X-Content-Type-Options %q", op.Method, path, w.Code, h.Get("Cache-Control"), h.Get("X-Content-Type-Options"))
			}
			n++
		}
	}
	if n < 300 {
		t.Errorf("only %d requests", n)
	}
}
