package aggregate_test

import (
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
)

// Two apps on one watch wrote the same minute, and one of them another: to the
// outside those are two samples, not three, and one group. Whoever asks about
// the apps sees what each has.
func TestWhatIsOneToTheOutsideCountsOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, "")
		other := watch
		other.AppID = "com.example.mirror"
		r.samples("steps", watch, 0, []string{"2026-03-01T10:00:00Z"}, []float64{100})
		r.samples("steps", other, 0, []string{"2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"}, []float64{100, 7})
		r.expect("2026-03-01", 1, choose(of("sum", value("steps"))), `{"sum.value":[107]}`)
		keys := []string{trunc(1, "day", "timeseries"), `{"source":"source_provider"}`, `{"source":"source_type"}`}
		r.expect("2026-03-01", 1, grouped(keys, of("count", value("steps"))),
			`{"group_key.0":["2026-03-01T00:00:00"],"group_key.1":["apple_health_kit"],"group_key.2":["watch"],"count.value":[2]}`)
		r.expect("2026-03-01", 1, grouped([]string{`{"source":"source_app_id"}`}, of("sum", value("steps"))),
			`{"group_key.0":["com.example.mirror","com.example.watch"],"sum.value":[107,100]}`)
		// Different words are different things.
		for _, word := range []string{"cholesterol/ldl", "cholesterol/hdl"} {
			s := wearables.Samples{Resource: "cholesterol", Type: word, Source: watch, Time: []int64{instant(t, "2026-03-01T10:00:00Z")}, Value: []float64{2}}
			r.put(wearables.Batch{Samples: []wearables.Samples{s}})
		}
		r.expect("2026-03-01", 1, choose(of("count", value("cholesterol"))), `{"count.value":[2]}`)
	})
}
