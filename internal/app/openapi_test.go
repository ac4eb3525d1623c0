package app_test

import (
	"bytes"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"hale/internal/app/apptest"
	"hale/internal/platform/config"
	"hale/internal/platform/store/storetest"
)

//go:generate go test ./ -run TestTheOpenAPIDocument -update

var update = flag.Bool("update", false, "rewrite docs/openapi.json")

// The description is kept in the repository, so that a change of the wire
// shows in a review: go generate ./internal/app.
func TestTheOpenAPIDocumentIsTheOneInDocs(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t), func(c *config.Config) { c.BaseURL = "http://127.0.0.1:8080" })
	answer := httptest.NewRecorder()
	a.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("%d: %s", answer.Code, answer.Body)
	}
	got := bytes.Replace(append(answer.Body.Bytes(), '\n'), []byte(`"version": "test"`), []byte(`"version": "0"`), 1)
	path := filepath.Join("..", "..", "docs", "openapi.json")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/openapi.json is not what is served: go generate ./internal/app, and look at the change")
	}
}
