package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
)

// The address that the first screen prints answers without a key, to browsers and to
// programs, and contains nothing about the team or its users.
func TestTheFirstPage(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t))
	a.Expect(200, "POST", "/v2/user/", `{"client_user_id": "canary-user"}`, nil)
	get := func(accept string) (*http.Response, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.URL()+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", accept)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%d %v", answer.StatusCode, err)
		}
		return answer, string(body)
	}
	answer, page := get("text/html,application/xhtml+xml,*/*;q=0.8")
	if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") || !strings.Contains(page, "hale demo anna") || !strings.Contains(page, a.URL()) {
		t.Errorf("the page %s", page)
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "canary") || strings.Contains(page, a.First.Team.Name) {
		t.Error("the page has a script, or names a team or a user")
	}
	_, text := get("*/*")
	var facts struct {
		Environment string
		Ready       bool
		Docs        string
	}
	if err := json.Unmarshal([]byte(text), &facts); err != nil || facts.Environment != "sandbox" || !facts.Ready || facts.Docs != a.URL()+"/docs" {
		t.Errorf("%s %v", text, err)
	}
}
