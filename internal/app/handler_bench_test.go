package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
)

// This benchmark measures handlers and database, without the network.
func BenchmarkHandlers(b *testing.B) {
	a := apptest.Start(b, storetest.NewSQLite(b))
	call := func(b *testing.B, method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("x-service-api-key", apptest.Key)
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		return w
	}
	var user struct {
		ID string `json:"user_id"`
	}
	if err := json.Unmarshal(call(b, "POST", "/v2/user", `{"client_user_id":"ann"}`).Body.Bytes(), &user); err != nil {
		b.Fatal(err)
	}
	b.Run("get user", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				call(b, "GET", "/v2/user/"+user.ID, "")
			}
		})
	})
	var n atomic.Int64
	b.Run("create user", func(b *testing.B) {
		b.ReportAllocs()
		b.SetParallelism(32)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				call(b, "POST", "/v2/user", fmt.Sprintf(`{"client_user_id":"user-%d"}`, n.Add(1)))
			}
		})
	})
}
