package fit

import (
	"runtime"
	"testing"

	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/files/filestest"
)

// The cost of a session does not grow with the number of sessions on its day. A session
// is only compared with sessions of its own time.
func TestManySessionsOfADay(t *testing.T) {
	allocations := func(n int64) uint64 {
		t0 := stamp("2024-05-01T00:00:00Z")
		all := []message{fileID(typeActivity, garmin, 5)}
		for i := range n {
			all = append(all, message{18, []value{{253, 4, t0 + 60*i + 60}, {2, 4, t0 + 60*i}, {7, 4, 50_000}, {8, 4, 50_000}, {5, 1, 2}}})
		}
		bed := filestest.New(t, storetest.SQLite(t))
		path := filestest.Save(t, writeByHand(all...))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		o, err := bed.Import(Kind, path)
		runtime.ReadMemStats(&after)
		if err != nil || o.Workouts != n {
			t.Fatalf("%d workouts, %v", o.Workouts, err)
		}
		return (after.Mallocs - before.Mallocs) / uint64(n)
	}
	if few, many := allocations(100), allocations(400); many > 2*few {
		t.Errorf("%d allocations a session, and %d where there are four times as many", few, many)
	}
}
