package app_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
)

// The result of a health check ages by the clock of the App.
func TestHealthUsesTheClockOfTheService(t *testing.T) {
	var passed atomic.Int64 // nanoseconds
	began := time.Now()
	d := storetest.NewSQLite(t)
	a := apptest.StartAt(t, d, func() time.Time { return began.Add(time.Duration(passed.Load())) })
	ready := func(when string, want int) {
		t.Helper()
		if status, _ := a.Call(http.MethodGet, "/readyz", ""); status != want {
			t.Errorf("%s: status %d, want %d", when, status, want)
		}
	}
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	ready("at first", http.StatusOK)
	away := d.Dir + ".away"
	rename(d.Dir, away) // the check of its disk fails
	ready("in the same moment", http.StatusOK)
	for range 3 {
		passed.Add(int64(time.Second))
		ready("a second later", http.StatusServiceUnavailable)
	}
	rename(away, d.Dir)
	passed.Add(int64(time.Second))
	ready("when it is back", http.StatusOK)

	log := a.Log.String()
	for line, want := range map[string]int{`msg="not ready"`: 1, `msg="ready again"`: 1, "route=/readyz": 0, "level=ERROR": 0} {
		if n := strings.Count(log, line); n != want {
			t.Errorf("the log says %s %d times, want %d:\n%s", line, n, want, log)
		}
	}
}

// A monitor sees whether the node is ready, the room on its disk and the waiting jobs
// of each kind.
func TestFiguresOfANode(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		a := apptest.Start(t, d)
		waitFor(t, a, "hale_ready 1")
		waitFor(t, a, `jobs_due{kind="users.erase"} 0`)
		waitFor(t, a, `job_oldest_due_seconds{kind="users.erase"} 0`)
		waitFor(t, a, `job_duration_seconds_count{kind="events.forget",outcome="failed"} 0`)
		w := httptest.NewRecorder()
		a.Metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		for _, name := range []string{"data_disk_free_bytes", "data_disk_size_bytes"} {
			if !strings.Contains(w.Body.String(), "\n"+name+" ") {
				t.Errorf("the metrics lack %s", name)
			}
		}
		a.End()
		waitFor(t, a, "hale_ready 0")
	})
}

// The pages name every figure of ours, and no other.
func TestFiguresAreDescribed(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t))
	a.Get("/v2/user", nil)
	w := httptest.NewRecorder()
	a.Metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	operations, playbook := docsPage(t, "operations.md"), docsPage(t, "playbook.md")
	for _, line := range regexp.MustCompile(`(?m)^# TYPE (\S+)`).FindAllStringSubmatch(w.Body.String(), -1) {
		if name := line[1]; !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") && !strings.HasPrefix(name, "promhttp_") && !strings.Contains(operations, "`"+name) {
			t.Errorf("docs/operations.md does not describe %s", name)
		}
	}
	figures := regexp.MustCompile(`\b(?:hale|http_server|db|webhook|jobs?|data_disk)_[a-z_]+\b`)
	named := figures.FindAllString(playbook, -1)
	if len(named) < 5 {
		t.Errorf("only %d figures were found in the playbook", len(named))
	}
	for _, name := range named {
		name = strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")
		if !strings.Contains(operations, "`"+name) {
			t.Errorf("docs/playbook.md names %s, which docs/operations.md does not describe", name)
		}
	}
}

func docsPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
