package ops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func ask(h http.HandlerFunc, target string) (int, string) {
	w := httptest.NewRecorder()
	h(w, httptest.NewRequest(http.MethodGet, target, nil))
	return w.Code, w.Body.String()
}

func TestReady(t *testing.T) {
	var log bytes.Buffer
	var broken error
	moment := time.Now()
	h := NewHealth(NewLogger(&log, "text", "info"), func() time.Time { return moment },
		Check{"database", func(context.Context) error { return broken }},
		Check{"disk", func(context.Context) error { return nil }})

	if code, body := ask(h.Ready, "/readyz"); code != 200 || body != "ok\n" {
		t.Errorf("well: %d %q", code, body)
	}
	if _, body := ask(h.Ready, "/readyz?verbose"); body != "[+] database\n[+] disk\nok\n" {
		t.Errorf("verbose: %q", body)
	}
	broken = errors.New("reason-canary")
	moment = moment.Add(reuseTime)
	code, body := ask(h.Ready, "/readyz")
	if code != 503 || body != "[-] database\n[+] disk\nnot ready\n" {
		t.Errorf("broken: %d %q", code, body)
	}
	if !strings.Contains(log.String(), "reason-canary") {
		t.Errorf("the reason belongs in the log: %s", log.String())
	}
	if code, _ := ask(h.Ready, "/readyz?exclude=database"); code != 200 {
		t.Errorf("excluded: %d", code)
	}
	broken = nil
	moment = moment.Add(reuseTime)
	h.Drain()
	if code, body := ask(h.Ready, "/readyz"); code != 503 || !strings.Contains(body, "stopping") {
		t.Errorf("draining: %d %q", code, body)
	}
	if code, _ := ask(h.Live, "/livez"); code != 200 {
		t.Errorf("live while draining: %d", code)
	}
}

func TestReadyDoesNotWaitForAHangingCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := make(chan struct{})
		for name, run := range map[string]func(context.Context) error{
			"heeds its time": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			"does not":       func(context.Context) error { <-disk; return nil },
		} {
			var log bytes.Buffer
			h := NewHealth(NewLogger(&log, "text", "info"), time.Now, Check{name, run})
			for range 2 { // the second request shares the run of the first
				began := time.Now()
				if code, _ := ask(h.Ready, "/readyz"); code != 503 || time.Since(began) > checkTimeout+checkGrace {
					t.Errorf("a check that %s: status %d after %v", name, code, time.Since(began))
				}
			}
			if !strings.Contains(log.String(), "no answer within 2s: a lock or a disk that hangs") {
				t.Errorf("a check that %s: the log says %q", name, log.String())
			}
		}
		close(disk)
	})
}

// Concurrent requests share one run of a check. Requests within a second reuse its
// outcome.
func TestConcurrentRequestsShareOneCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		h := NewHealth(Discard(), time.Now, Check{"database", func(ctx context.Context) error {
			runs.Add(1)
			select {
			case <-time.After(reuseTime / 2):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}})
		probes := func(n int64) {
			t.Helper()
			var wait sync.WaitGroup
			for i := range 50 {
				wait.Go(func() {
					request := httptest.NewRequest(http.MethodGet, "/readyz", nil)
					ctx, hangUp := context.WithCancel(request.Context())
					defer hangUp()
					if i%2 == 0 {
						hangUp() // the caller that starts a run may disconnect
					}
					w := httptest.NewRecorder()
					h.Ready(w, request.WithContext(ctx))
					if i%2 != 0 && w.Code != http.StatusOK {
						t.Errorf("status %d", w.Code)
					}
				})
			}
			wait.Wait()
			if got := runs.Load(); got != n {
				t.Errorf("%d runs, want %d", got, n)
			}
		}
		probes(1)
		time.Sleep(reuseTime - time.Nanosecond)
		probes(1)
		time.Sleep(time.Nanosecond)
		probes(2)
	})
}

func TestMachineServer(t *testing.T) {
	m := NewMetrics("v1", "sqlite")
	m.Gauge("webhook_oldest_pending_seconds", "Age of the oldest due delivery.", func() float64 { return 4.5 })
	disk := NewDisk(t.TempDir())
	server := MachineServer(m, NewHealth(Discard(), time.Now, disk.Check()))
	for path, want := range map[string]string{
		"/metrics": "webhook_oldest_pending_seconds 4.5",
		"/livez":   "ok",
		"/readyz":  "ok",
	} {
		w := httptest.NewRecorder()
		server.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d, want %q in it", path, w.Code, want)
		}
	}
}

func TestDiskSpace(t *testing.T) {
	if free, size, err := DiskSpace(t.TempDir()); err != nil || free == 0 || size < free {
		t.Errorf("DiskSpace = %d, %d, %v", free, size, err)
	}
	if _, _, err := DiskSpace(t.TempDir() + "/absent"); err == nil {
		t.Error("an absent folder has no free space")
	}
}

// The log has a line when a check starts to fail and when it passes again, but not for
// each run in between.
func TestLogHasChangesOnly(t *testing.T) {
	var log bytes.Buffer
	var broken error
	moment := time.Now()
	h := NewHealth(NewLogger(&log, "text", "info"), func() time.Time { return moment },
		Check{"database", func(context.Context) error { return broken }})
	look := func(times, failures, recoveries int) {
		t.Helper()
		for range times {
			ask(h.Ready, "/readyz")
			moment = moment.Add(reuseTime)
		}
		said := log.String()
		if f, r := strings.Count(said, `msg="not ready"`), strings.Count(said, `msg="ready again"`); f != failures || r != recoveries {
			t.Errorf("not ready %d times, want %d; ready again %d times, want %d\n%s", f, failures, r, recoveries, said)
		}
	}
	look(3, 0, 0)
	broken = errors.New("locked")
	look(3, 1, 0)
	broken = errors.New("another reason")
	look(3, 1, 0)
	broken = nil
	look(3, 1, 1)
	if !strings.Contains(log.String(), "after=6s") {
		t.Errorf("the log does not say how long it took: %s", log.String())
	}
	broken = errors.New("locked")
	look(1, 2, 1)
}

// A detail is shown while it has a text, and never makes a node unready.
func TestDetails(t *testing.T) {
	waiting := "results wait"
	h := NewHealth(Discard(), time.Now, Check{"database", func(context.Context) error { return nil }})
	h.Describe(Detail{"inbox", func() string { return waiting }})
	for _, want := range []string{"[+] database\n[!] inbox: results wait\nok\n", "[+] database\nok\n"} {
		if status, text := ask(h.Ready, "/readyz?verbose"); status != http.StatusOK || text != want {
			t.Errorf("%d %q, want %q", status, text, want)
		}
		waiting = ""
	}
}

// fixedReason is an error with a reason in fixed words.
type fixedReason struct{ error }

func (fixedReason) Reason() string { return "the database is read-only" }

// The answer has the reason of a failure only if that is a fixed text.
func TestTheAnswerHasFixedReasons(t *testing.T) {
	for want, err := range map[string]error{
		"[-] database: the database is read-only\nnot ready\n": fmt.Errorf("writing: %w", fixedReason{errors.New("reason-canary")}),
		"[-] database: no answer within 2s\nnot ready\n":       context.DeadlineExceeded,
		"[-] database\nnot ready\n":                            errors.New("reason-canary"),
	} {
		h := NewHealth(NewLogger(io.Discard, "text", "info"), time.Now, Check{"database", func(context.Context) error { return err }})
		if _, body := ask(h.Ready, "/readyz"); body != want {
			t.Errorf("%q, want %q", body, want)
		}
	}
}
