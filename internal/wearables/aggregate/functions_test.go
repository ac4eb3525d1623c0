package aggregate_test

import (
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
)

// Every function, over values whose results can be checked by hand: 60, 64 and
// 80 on one morning, 70 on the next.
func TestFunctions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, "")
		r.samples("heartrate", watch, 0,
			[]string{"2026-03-01T08:00:00Z", "2026-03-01T08:01:00Z", "2026-03-01T09:00:00Z", "2026-03-02T08:00:00Z"}, []float64{64, 60, 80, 70})
		v := value("heartrate")
		for function, want := range map[string]string{
			"mean": `68,70`, "min": `60,70`, "max": `80,70`, "sum": `204,70`, "count": `3,1`,
			"median": `64,70`, "stddev": `10.583005244258363,null`, "oldest": `64,70`, "newest": `80,70`,
		} {
			r.expect("2026-03-02", 2, grouped([]string{trunc(1, "day", "timeseries")}, of(function, v)),
				`{"group_key.0":["2026-03-01T00:00:00","2026-03-02T00:00:00"],"`+function+`.value":[`+want+`]}`)
		}
		r.expect("2026-03-02", 2, choose(of("median", v)), `{"median.value":[67]}`)
		r.expect("2026-03-02", 2, choose(of("stddev", v), of("sum", v)), `{"stddev.value":[8.698658900466592],"sum.value":[274]}`)
		r.expect("2026-03-02", 2, choose(of("min", `{"index":"timeseries"}`), of("max", `{"index":"timeseries"}`), of("count", v)),
			`{"min.timestamp":["2026-03-01T08:00:00"],"max.timestamp":["2026-03-02T08:00:00"],"count.value":[4]}`)
		// Nothing there is one group of nothing without keys, and no group with them.
		r.expect("2025-03-02", 2, choose(of("sum", v), of("count", v)), `{"sum.value":[null],"count.value":[0]}`)
		r.expect("2025-03-02", 2, grouped([]string{trunc(1, "day", "timeseries")}, of("sum", v)), `{"group_key.0":[],"sum.value":[]}`)
		r.expect("2026-03-01", 1, choose(`{"index":"timeseries"}`, v, `{"source":"source_type"}`, `{"timeseries":"heartrate","field":"timezone_offset"}`), `{
			"timestamp":["2026-03-01T08:00:00","2026-03-01T08:01:00","2026-03-01T09:00:00"],"value":[64,60,80],
			"source_type":["watch","watch","watch"],"timezone_offset":[0,0,0]}`)
	})
}

// The timeframe is in floating time and ends with the anchor's last moment.
func TestTimeframe(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, "")
		// Tokyo: the evening of the 1st in UTC is the morning of the 2nd there.
		r.samples("heartrate", watch, 9*3600,
			[]string{"2026-03-01T14:59:59Z", "2026-03-01T15:00:00Z", "2026-03-02T14:59:59Z", "2026-03-02T15:00:00Z"}, []float64{61, 62, 63, 64})
		r.expect("2026-03-02", 1, choose(`{"index":"timeseries"}`, value("heartrate")),
			`{"timestamp":["2026-03-02T00:00:00","2026-03-02T23:59:59"],"value":[62,63]}`)
	})
}

// Conditions run before grouping; what is missing is neither true nor false.
func TestWhere(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, "")
		r.samples("heartrate", watch, wearables.NoOffset, []string{"2026-03-01T08:00:00Z", "2026-03-01T09:00:00Z"}, []float64{60, 80})
		r.samples("heartrate", phone, 3600, []string{"2026-03-01T10:00:00Z"}, []float64{100})
		for where, want := range map[string]string{
			`value >= 80`:                                      `80,100`,
			`value != 80 AND source_type = 'watch'`:            `60`,
			`NOT (value < 100 or source_type='watch')`:         `100`,
			`60 = value`:                                       `60`,
			`timezone_offset = 3600`:                           `100`,
			`timezone_offset != 3600`:                          ``, // missing is not different
			`NOT timezone_offset = 3600`:                       ``,
			`timezone_offset > 0 OR value = 60`:                `60,100`,
			`timestamp >= '2026-03-01T09:00:00'`:               `80,100`,
			`timestamp < '2026-03-01 09:00' OR value > 1e2`:    `60`,
			`source_app_id = 'it''s not'`:                      ``,
			`value = -1 OR ((value) > 60)`:                     ``,
			`value > 60 AND NOT NOT source_provider > 'apple'`: `80,100`,
		} {
			got, err := r.try("2026-03-01", 1, `{"select":[`+value("heartrate")+`],"where":"`+where+`"}`)
			if where == `value = -1 OR ((value) > 60)` { // parentheses are for conditions
				if err == nil {
					t.Errorf("%s was taken", where)
				}
				continue
			}
			if err != nil || got != `{"value":[`+want+`]}` {
				t.Errorf("%s gave %s, %v; wanted %s", where, got, err, want)
			}
		}
	})
}
