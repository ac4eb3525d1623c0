package app_test

import (
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/store/storetest"
)

// What a health check found ages by the clock that everything else goes by.
func TestHealthGoesByTheOneClock(t *testing.T) {
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
	defer rename(away, d.Dir)
	ready("in the same moment", http.StatusOK)
	passed.Add(int64(time.Second))
	ready("a second later", http.StatusServiceUnavailable)
}
