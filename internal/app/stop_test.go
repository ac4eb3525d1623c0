package app_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/platform/config"
	"hale/internal/platform/store/storetest"
)

// A caller that waits for events, such as hale listen, gets the present ones at a stop.
// The stop does not wait for it.
func TestAStopDoesNotWaitForReadersOfTheFeed(t *testing.T) {
	a, stop := apptest.StartStoppable(t, storetest.NewSQLite(t))
	answered := make(chan int, 1)
	go func() {
		res := a.Do("GET", "/v2/events?after=0&wait=30", "")
		_ = res.Body.Close()
		answered <- res.StatusCode
	}()
	waitFor(t, a, `http_server_active_requests 1`)
	waitFor(t, a, `webhook_claimed 0`)
	waitFor(t, a, `webhook_oldest_due_seconds 0`)
	began := time.Now()
	stop()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the stop took %s", took)
	}
	if status := <-answered; status != http.StatusOK {
		t.Errorf("the reader got %d", status)
	}
}

// During a stop, a request that does not end takes no time from the delivery of
// webhooks. Deliveries in progress end and are recorded. So no message is sent again
// after the next start. The stop itself succeeds.
func TestALongRequestDoesNotTakeTheWholeDrain(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		a := apptest.Start(t, d, func(cfg *config.Config) { cfg.ShutdownDrain = 4 * time.Second })
		box, slow := newEventCounter(t), atomic.Bool{}
		slow.Store(true)
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			box.Config.Handler.ServeHTTP(w, r)
			if slow.Load() {
				time.Sleep(400 * time.Millisecond)
			}
		}))
		defer receiver.Close()
		a.Expect(200, "POST", "/v2/webhooks", fmt.Sprintf(`{"url": %q}`, receiver.URL), nil)
		for i := range 100 {
			pushHeartRate(t, a, fmt.Sprint("user-", i))
		}
		sendEndlessRequest(t, a)
		waitFor(t, a, `http_server_active_requests 1`)
		a.End()
		slow.Store(false)
		apptest.Start(t, d)
		box.await(t, 200)
		for id, times := range box.got {
			if times != 1 {
				t.Errorf("%s came %d times", id, times)
			}
		}
	})
}

// sendEndlessRequest sends a request whose body does not come.
func sendEndlessRequest(t *testing.T, a *apptest.Service) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(a.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST /v2/user HTTP/1.1\r\nHost: hale\r\nx-service-api-key: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", a.Key)
	if err != nil {
		t.Fatal(err)
	}
}

// waitFor waits until the metrics hold a line.
func waitFor(t *testing.T, a *apptest.Service, line string) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		w := httptest.NewRecorder()
		a.Metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if text, err := io.ReadAll(w.Body); err == nil && strings.Contains(string(text), line+"\n") {
			return
		}
	}
	t.Fatalf("the metrics never say %s", line)
}
