package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A slug finds a lab test only if it means one: the active one, or the only one.
func TestSlugOfLabTest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":[{"id":"old","slug":"check","status":"inactive"},{"id":"new","slug":"check","status":"active"},
			{"id":"one","slug":"twice","status":"active"},{"id":"two","slug":"twice","status":"active"},
			{"id":"wait","slug":"draft","status":"pending_approval"}],"next_cursor":null}`)
	}))
	defer server.Close()
	term := newTerminal("HALE_URL="+server.URL, "HALE_API_KEY="+testKey)
	for slug, want := range map[string]string{"check": "new", "draft": "wait"} {
		if id, err := term.findLabTest(t.Context(), slug); err != nil || id != want {
			t.Errorf("%s is %q, %v", slug, id, err)
		}
	}
	if _, err := term.findLabTest(t.Context(), "twice"); err == nil || !strings.Contains(err.Error(), "2 lab tests have the slug twice") {
		t.Errorf("a slug of two tests: %v", err)
	}
	if _, err := term.findLabTest(t.Context(), "nope"); err == nil || !strings.Contains(err.Error(), "no lab test has this id or slug") {
		t.Errorf("an unknown slug: %v", err)
	}
}
