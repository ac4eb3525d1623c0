package app_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A clock that is years ahead makes all events look old. None of them is deleted.
func TestAWrongClockDeletesNothing(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		var ahead atomic.Int64
		start := func() *apptest.Service {
			return apptest.StartWith(t, d, func(o *app.Options) {
				o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
			})
		}
		events := func(s *apptest.Service) (n int) {
			t.Helper()
			err := s.DB.Read(store.AsSystem(t.Context()), func(tx *store.Tx) error {
				return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM events`).Scan(&n)
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		s := start()
		createPerson(s, "one")
		createPerson(s, "two")
		before := events(s)
		if before == 0 {
			t.Fatal("there are no events: the test shows nothing")
		}
		waitForClock(t, s)
		s.End()

		ahead.Store(int64(3 * 365 * 24 * time.Hour))
		s = start()
		waitForLog(t, s, "a job that deletes data by age waits")
		if n := events(s); n < before { // pushed samples become an activity later
			t.Errorf("%d events of %d are left", n, before)
		}
		status, text := s.Call("GET", "/readyz?verbose", "")
		if d.URL != "" && (status != 503 || !strings.Contains(string(text), "[-] clock")) {
			t.Errorf("readiness: %d %s", status, text)
		}
	})
}

func waitForLog(t *testing.T, s *apptest.Service, text string) {
	t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !strings.Contains(s.Log.String(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the log never says %q:\n%s", text, s.Log)
		}
	}
}

// waitForClock waits until the hourly jobs of the start have recorded the clock, which
// only SQLite needs.
func waitForClock(t *testing.T, s *apptest.Service) {
	t.Helper()
	for deadline := time.Now().Add(90 * time.Second); s.DB.Engine() == store.SQLite; time.Sleep(20 * time.Millisecond) {
		var at int64
		err := s.DB.Read(store.AsSystem(t.Context()), func(tx *store.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT clock_at FROM instance`).Scan(&at)
		})
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the clock is not recorded: %v", err)
		}
		if at > 0 {
			return
		}
	}
}
