package load_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/harness/load"
	"hale/internal/harness/rawhttp"
)

func TestRun(t *testing.T) {
	var served atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	head := rawhttp.Head("GET", "/", address)
	get := func(w *load.Worker, _ int) error {
		_, err := w.Do(head, nil)
		return err
	}

	got, err := load.Run(context.Background(), load.Plan{Address: address, Conns: 3, For: 200 * time.Millisecond}, get)
	if err != nil {
		t.Fatal(err)
	}
	if got.Requests == 0 || int64(got.Requests) > served.Load() {
		t.Errorf("counted %d requests, the server %d", got.Requests, served.Load())
	}
	if got.Quantile(0.5) <= 0 || got.Quantile(0.5) > got.Quantile(1) {
		t.Errorf("half were answered in %v, all in %v", got.Quantile(0.5), got.Quantile(1))
	}

	served.Store(0)
	plan := load.Plan{Address: address, Conns: 4, For: 200 * time.Millisecond, Rate: 100}
	if _, err := load.Run(context.Background(), plan, get); err != nil {
		t.Fatal(err)
	}
	if n := served.Load(); n > 21 {
		t.Errorf("asked for 20 requests, the server saw %d", n)
	}

	wrong := errors.New("not the answer we wanted")
	_, err = load.Run(context.Background(), plan, func(*load.Worker, int) error { return wrong })
	if !errors.Is(err, wrong) {
		t.Errorf("a failing request ended the run with %v", err)
	}
}

// A machine so busy that nothing is answered in time still has a rate.
func TestRunWaitsForOneAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(100 * time.Millisecond) }))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	plan := load.Plan{Address: address, Conns: 1, For: 10 * time.Millisecond}
	got, err := load.Run(context.Background(), plan, func(w *load.Worker, _ int) error {
		_, err := w.Do(rawhttp.Head("GET", "/", address), nil)
		return err
	})
	if err != nil || got.Requests != 1 || got.Took < 90*time.Millisecond || got.PerSecond() > 12 {
		t.Errorf("one answer after 100 ms is %d requests, %.0f a second (%v)", got.Requests, got.PerSecond(), err)
	}
}

func TestQuantile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 51, 0.99: 100, 1: 100} {
		if got := load.Quantile(hundred, q); got != want {
			t.Errorf("Quantile(%v) = %d, want %d", q, got, want)
		}
	}
	if got := load.Quantile(nil, 0.5); got != 0 {
		t.Errorf("of nothing: %d", got)
	}
}
