package aggregate_test

import (
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
)

// The further words of samples are columns. Samples of one time that differ in
// them are different things, and one that came without them first is not
// counted beside itself.
func TestWordsAreColumns(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, "")
		at := []int64{instant(t, "2026-03-01T10:00:00Z")}
		of1 := func(resource, kind, extra string, value float64) wearables.Samples {
			return wearables.Samples{Resource: resource, Type: kind, Extra: extra, Source: watch, Time: at, End: at, Value: []float64{value}}
		}
		r.put(wearables.Batch{Samples: []wearables.Samples{
			of1("body_temperature", "", "ear", 37), of1("body_temperature", "", "wrist", 33), of1("body_temperature", "", "", 37),
			of1("insulin_injection", "rapid_acting", "bolus,standard,meal", 3), of1("insulin_injection", "rapid_acting", "bolus,extended,meal", 2),
			of1("workout_duration", "", "", 5),
		}})
		field := func(resource, name string) string { return `{"timeseries":"` + resource + `","field":"` + name + `"}` }
		r.expect("2026-03-01", 1, `{"select":[`+value("body_temperature")+`],"where":"sensor_location = 'ear'"}`, `{"value":[37]}`)
		r.expect("2026-03-01", 1, choose(of("count", value("body_temperature"))), `{"count.value":[2]}`)
		r.expect("2026-03-01", 1, choose(of("sum", value("insulin_injection"))), `{"sum.value":[5]}`)
		r.expect("2026-03-01", 1, grouped([]string{field("insulin_injection", "delivery_form")}, of("sum", value("insulin_injection"))),
			`{"group_key.0":["extended","standard"],"sum.value":[2,3]}`)
		r.expect("2026-03-01", 1, choose(field("insulin_injection", "delivery_mode"), field("insulin_injection", "bolus_purpose")),
			`{"delivery_mode":["bolus","bolus"],"bolus_purpose":["meal","meal"]}`)
		r.expect("2026-03-01", 1, choose(field("workout_duration", "intensity"), value("workout_duration")), `{"intensity":[null],"value":[5]}`)
	})
}
