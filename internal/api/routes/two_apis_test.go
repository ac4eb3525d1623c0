package routes_test

import (
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"hale/internal/api"
	"hale/internal/api/routes"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// Two APIs in one process are created at the same time. Each has its own settings and
// database, and both have the same error shapes.
func TestTwoAPIsInOneProcess(t *testing.T) {
	var all [2]*api.API
	dbs := [2]*store.DB{storetest.SQLite(t), storetest.SQLite(t)}
	var building sync.WaitGroup
	for i, header := range []string{"x-first-key", "x-second-key"} {
		building.Go(func() {
			api.SetUpHuma()
			all[i] = routes.New(api.Deps{DB: dbs[i], BaseURL: "https://" + header + ".example", KeyHeaders: []string{header}}, routes.Services{})
		})
	}
	building.Wait()
	for i, header := range []string{"x-first-key", "x-second-key"} {
		ask := func(path string) string {
			w := httptest.NewRecorder()
			all[i].ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
			return w.Body.String()
		}
		if got := ask("/v2/user"); !strings.Contains(got, `"Missing `+header+`"`) {
			t.Errorf("%s: %s", header, got)
		}
		if got := ask("/openapi.json"); !strings.Contains(got, "https://"+header+".example") {
			t.Errorf("the document of %s does not name its address", header)
		}
	}
}
