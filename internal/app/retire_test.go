package app_test

import (
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/platform/config"
	"hale/internal/platform/store/storetest"
)

// A node that is about to stop says so before it refuses requests.
func TestRetiringNodeStillAnswers(t *testing.T) {
	s := apptest.Start(t, storetest.NewSQLite(t), func(cfg *config.Config) { cfg.LameDuck = 5 * time.Second })
	retired := make(chan struct{})
	go func() {
		defer close(retired)
		s.Retire(t.Context())
	}()
	for status := 200; status != 503; time.Sleep(10 * time.Millisecond) {
		status, _ = s.Call("GET", "/readyz", "")
		select {
		case <-retired:
			t.Fatal("the node was ready until it stopped")
		default:
		}
	}
	s.Expect(200, "POST", "/v2/user", `{"client_user_id":"late"}`, nil)
	<-retired
}
