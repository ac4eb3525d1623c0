package ops

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
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
	m.ExpectJobs([]string{"events.forget"})
	m.Records("mapped", 310_000)
	m.Replay()
	m.RateLimited()
	m.WrongKey(true)
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
		`job_duration_seconds_count{kind="events.forget",outcome="failed"} 0`, `webhook_attempt_duration_seconds_count{outcome="failed"} 0`,
		`import_records_total{outcome="mapped"} 310000`,
		`idempotency_replays_total 1`, `http_server_rate_limited_total 1`, `http_server_wrong_keys_total{status="429"} 1`,
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

func TestNilMetrics(t *testing.T) {
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
	m.WrongKey(true)
	m.Gauge("g", "", nil)
	w := httptest.NewRecorder()
	m.InFlight(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
}

func TestGaugeBy(t *testing.T) {
	m := NewMetrics("v1", "sqlite")
	waiting := map[string]float64{"orders.place": 3, "users.erase": 0}
	m.GaugeBy("kind", "jobs_due", "Jobs that wait.", func() map[string]float64 { return waiting })
	for _, want := range []string{`jobs_due{kind="orders.place"} 3`, `jobs_due{kind="users.erase"} 0`} {
		if !strings.Contains(scrape(m), want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	var none *Metrics
	none.GaugeBy("kind", "jobs_due", "", nil)
	none.Node(nil, nil)
}

// Each scrape checks readiness, whether or not a probe does.
func TestNodeMetrics(t *testing.T) {
	var broken error
	moment := time.Now()
	disk := NewDisk(t.TempDir())
	h := NewHealth(Discard(), func() time.Time { return moment },
		Check{"database", func(context.Context) error { return broken }}, disk.Check())
	m := NewMetrics("v1", "sqlite")
	m.Node(h, disk)
	says := func(want string) {
		t.Helper()
		if got := scrape(m); !strings.Contains(got, want+"\n") {
			t.Errorf("metrics lack %q", want)
		}
		moment = moment.Add(reuseTime)
	}
	says("hale_ready 1")
	broken = errors.New("locked")
	says("hale_ready 0")
	broken = nil
	says("hale_ready 1")
	h.Drain()
	says("hale_ready 0")
	got := scrape(m)
	for _, name := range []string{"data_disk_free_bytes", "data_disk_size_bytes"} {
		if !strings.Contains(got, "\n"+name+" ") || strings.Contains(got, "\n"+name+" 0\n") {
			t.Errorf("metrics lack %s", name)
		}
	}
}

// A disk that hangs does not affect the other metrics.
func TestScrapeDoesNotWaitForAHangingDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		m := NewMetrics("v1", "sqlite")
		disk := NewDisk(t.TempDir())
		m.Node(NewHealth(Discard(), time.Now, Check{"disk", func(context.Context) error { <-hangs; return nil }}), disk)
		began := time.Now()
		got := scrape(m)
		if took := time.Since(began); took > checkTimeout+checkGrace {
			t.Errorf("the scrape took %v", took)
		}
		if !strings.Contains(got, "hale_ready 0\n") || strings.Contains(got, "data_disk_size_bytes") {
			t.Error("a disk that was not measured has no size, and the node is not ready")
		}
		close(hangs)
	})
}
