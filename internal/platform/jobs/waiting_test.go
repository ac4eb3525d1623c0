package jobs_test

import (
	"context"
	"testing"
	"time"

	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// What is due and has not begun is counted by kind, with the age of the oldest;
// what is for later is not, nor what runs.
func TestWhatWaitsIsCounted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		busy := kind("test.busy", func(ctx context.Context, _ *jobs.Run) error { <-ctx.Done(); return ctx.Err() })
		idle := kind("test.idle", func(context.Context, *jobs.Run) error { return nil })
		for range 5 {
			enqueue(t, db, busy, jobs.Options{At: db.Now().Add(-time.Hour)})
		}
		enqueue(t, db, busy, jobs.Options{At: db.Now().Add(-time.Minute)})
		enqueue(t, db, busy, jobs.Options{At: db.Now().Add(time.Hour)})
		n := start(t, db, busy, idle)
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
			waiting := n.Waiting()
			if w := waiting["test.busy"]; w.Jobs == 6 && w.Oldest >= time.Hour && w.Oldest < 2*time.Hour {
				if _, known := waiting["test.idle"]; !known || waiting["test.idle"] != (jobs.Waiting{}) {
					t.Errorf("of a kind that nobody waits for: %+v", waiting)
				}
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("waiting: %+v", waiting)
			}
		}
		for deadline := time.Now().Add(time.Minute); n.Waiting()["test.busy"].Jobs != 4; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("two run, and waiting are %+v", n.Waiting())
			}
		}
	})
}
