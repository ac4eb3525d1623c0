package ops

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func scrape(m *Metrics) string {
	return get(m.Handler(), "/metrics").Body.String()
}

func TestMetrics(t *testing.T) {
	m := NewMetrics("v1.2.3", "sqlite")
	m.Request("/v2/user/{user_id}", "GET", 200, 3*time.Millisecond)
	m.Request("/v2/user/{user_id}/", "GET", 200, 3*time.Millisecond)
	m.Request("", "CANARY", 404, time.Millisecond)
	m.Commit(2*time.Millisecond, 40)
	m.Attempt("timeout", 15*time.Second)
	m.Delivered(20 * time.Millisecond)
	m.Stranded(2)
	m.Job("users.erase", "ok", time.Second)
	m.Records("mapped", 310_000)
	m.Replay()
	m.RateLimited()
	m.Gauge("webhook_oldest_pending_seconds", "Age of the oldest due delivery.", func() float64 { return 4.5 })

	got := scrape(m)
	for _, want := range []string{
		`hale_build_info{engine="sqlite",version="v1.2.3"} 1`,
		`http_server_request_duration_seconds_count{method="GET",route="/v2/user/{user_id}",status="200"} 2`,
		`http_server_request_duration_seconds_count{method="OTHER",route="unmatched",status="404"} 1`,
		`db_commit_seconds_count 1`, `db_transactions_total 40`,
		`webhook_attempt_duration_seconds_count{outcome="timeout"} 1`,
		`webhook_delivery_delay_seconds_count 1`, `webhook_deliveries_stranded_total 2`,
		`job_duration_seconds_count{kind="users.erase",outcome="ok"} 1`,
		`import_records_total{outcome="mapped"} 310000`,
		`idempotency_replays_total 1`, `http_server_rate_limited_total 1`,
		`webhook_oldest_pending_seconds 4.5`,
		`go_goroutines `, `process_resident_memory_bytes `,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if strings.Contains(strings.ToLower(got), "canary") {
		t.Error("a caller made up a label value")
	}
}

func TestInFlight(t *testing.T) {
	m := NewMetrics("v1", "sqlite")
	var during string
	get(m.InFlight(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { during = scrape(m) })), "/")
	if !strings.Contains(during, "http_server_active_requests 1") || !strings.Contains(scrape(m), "http_server_active_requests 0") {
		t.Error("requests in flight are not counted up and down")
	}
}

func TestNoMetricsCountNothing(t *testing.T) {
	var m *Metrics
	m.Request("/", "GET", 200, 0)
	m.Commit(0, 1)
	m.Attempt("ok", 0)
	m.Delivered(0)
	m.Stranded(1)
	m.Job("k", "ok", 0)
	m.Records("created", 1)
	m.Replay()
	m.RateLimited()
	m.Gauge("g", "", nil)
	w := httptest.NewRecorder()
	m.InFlight(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
}
