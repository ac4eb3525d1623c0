package aggregate_test

import (
	"fmt"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
)

// Every function, over values whose results can be checked by hand: 60, 64 and
// 80 on one morning, 70 on the next.
func TestFunctions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		r.samples("heartrate", watch, 0,
			[]string{"2026-03-01T08:00:00Z", "2026-03-01T08:01:00Z", "2026-03-01T09:00:00Z", "2026-03-02T08:00:00Z"}, []float64{64, 60, 80, 70})
		v := value("heartrate")
		for function, want := range map[string]string{
			"mean": `68,70`, "min": `60,70`, "max": `80,70`, "sum": `204,70`, "count": `3,1`,
			"median": `64,70`, "stddev": `10.583005244258363,null`, "oldest": `64,70`, "newest": `80,70`,
		} {
			r.expect("2026-03-02", 2, groupRows([]string{trunc(1, "day", "timeseries")}, aggregateOf(function, v)),
				`{"group_key.0":["2026-03-01T00:00:00","2026-03-02T00:00:00"],"`+function+`.value":[`+want+`]}`)
		}
		r.expect("2026-03-02", 2, choose(aggregateOf("median", v)), `{"median.value":[67]}`)
		r.expect("2026-03-02", 2, choose(aggregateOf("stddev", v), aggregateOf("sum", v)), `{"stddev.value":[8.698658900466592],"sum.value":[274]}`)
		r.expect("2026-03-02", 2, choose(aggregateOf("min", `{"index":"timeseries"}`), aggregateOf("max", `{"index":"timeseries"}`), aggregateOf("count", v)),
			`{"min.timestamp":["2026-03-01T08:00:00"],"max.timestamp":["2026-03-02T08:00:00"],"count.value":[4]}`)
		// A query over no data has one group if it has no group keys, and none if it has.
		r.expect("2025-03-02", 2, choose(aggregateOf("sum", v), aggregateOf("count", v)), `{"sum.value":[null],"count.value":[0]}`)
		r.expect("2025-03-02", 2, groupRows([]string{trunc(1, "day", "timeseries")}, aggregateOf("sum", v)), `{"group_key.0":[],"sum.value":[]}`)
		r.expect("2026-03-01", 1, choose(`{"index":"timeseries"}`, v, `{"source":"source_type"}`, `{"timeseries":"heartrate","field":"timezone_offset"}`), `{
			"timestamp":["2026-03-01T08:00:00","2026-03-01T08:01:00","2026-03-01T09:00:00"],"value":[64,60,80],
			"source_type":["watch","watch","watch"],"timezone_offset":[0,0,0]}`)
	})
}

// The timeframe is in floating time and ends with the anchor's last moment.
func TestTimeframe(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		// Tokyo: the evening of the 1st in UTC is the morning of the 2nd there.
		r.samples("heartrate", watch, 9*3600,
			[]string{"2026-03-01T14:59:59Z", "2026-03-01T15:00:00Z", "2026-03-02T14:59:59Z", "2026-03-02T15:00:00Z"}, []float64{61, 62, 63, 64})
		r.expect("2026-03-02", 1, choose(`{"index":"timeseries"}`, value("heartrate")),
			`{"timestamp":["2026-03-02T00:00:00","2026-03-02T23:59:59"],"value":[62,63]}`)
	})
}

// Conditions run before grouping. A missing value is neither true nor false.
func TestWhereConditions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
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

// The extra words of samples, such as the place of a sensor, are columns. Samples with
// the same time and different words are different samples. A sample that is also stored
// without its words counts once.
func TestWordsAreColumns(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		at := []int64{instant(t, "2026-03-01T10:00:00Z")}
		of1 := func(resource, kind, extra string, value float64) wearables.Samples {
			return wearables.Samples{Resource: resource, Type: kind, Extra: extra, Source: watch, Time: at, End: at, Value: []float64{value}}
		}
		r.put(wearables.Batch{Samples: []wearables.Samples{
			of1("body_temperature", "", "", 37), of1("body_temperature", "", "ear", 37), of1("body_temperature", "", "wrist", 33),
			of1("insulin_injection", "rapid_acting", "bolus,standard,meal", 3), of1("insulin_injection", "rapid_acting", "bolus,extended,meal", 2),
			of1("workout_duration", "", "", 5),
		}})
		field := func(resource, name string) string { return `{"timeseries":"` + resource + `","field":"` + name + `"}` }
		r.expect("2026-03-01", 1, `{"select":[`+value("body_temperature")+`],"where":"sensor_location = 'ear'"}`, `{"value":[37]}`)
		r.expect("2026-03-01", 1, choose(aggregateOf("count", value("body_temperature"))), `{"count.value":[2]}`)
		r.expect("2026-03-01", 1, choose(aggregateOf("sum", value("insulin_injection"))), `{"sum.value":[5]}`)
		r.expect("2026-03-01", 1, groupRows([]string{field("insulin_injection", "delivery_form")}, aggregateOf("sum", value("insulin_injection"))),
			`{"group_key.0":["extended","standard"],"sum.value":[2,3]}`)
		r.expect("2026-03-01", 1, choose(field("insulin_injection", "delivery_mode"), field("insulin_injection", "bolus_purpose")),
			`{"delivery_mode":["bolus","bolus"],"bolus_purpose":["meal","meal"]}`)
		r.expect("2026-03-01", 1, choose(field("workout_duration", "intensity"), value("workout_duration")), `{"intensity":[null],"value":[5]}`)
	})
}

// Two apps on one watch wrote the same minute, and one of them wrote another minute. In
// reads those are two samples and one group. A query that selects the app sees the
// samples of each.
func TestSamplesWithOneExternalKeyCountOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		other := watch
		other.AppID = "com.example.mirror"
		r.samples("steps", watch, 0, []string{"2026-03-01T10:00:00Z"}, []float64{100})
		r.samples("steps", other, 0, []string{"2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"}, []float64{100, 7})
		r.expect("2026-03-01", 1, choose(aggregateOf("sum", value("steps"))), `{"sum.value":[107]}`)
		keys := []string{trunc(1, "day", "timeseries"), `{"source":"source_provider"}`, `{"source":"source_type"}`}
		r.expect("2026-03-01", 1, groupRows(keys, aggregateOf("count", value("steps"))),
			`{"group_key.0":["2026-03-01T00:00:00"],"group_key.1":["apple_health_kit"],"group_key.2":["watch"],"count.value":[2]}`)
		r.expect("2026-03-01", 1, groupRows([]string{`{"source":"source_app_id"}`}, aggregateOf("sum", value("steps"))),
			`{"group_key.0":["com.example.mirror","com.example.watch"],"sum.value":[107,100]}`)
		// Different words mean different samples.
		for _, word := range []string{"cholesterol/ldl", "cholesterol/hdl"} {
			s := wearables.Samples{Resource: "cholesterol", Type: word, Source: watch, Time: []int64{instant(t, "2026-03-01T10:00:00Z")}, Value: []float64{2}}
			r.put(wearables.Batch{Samples: []wearables.Samples{s}})
		}
		r.expect("2026-03-01", 1, choose(aggregateOf("count", value("cholesterol"))), `{"count.value":[2]}`)
	})
}

// hours returns n times of a UTC day in RFC 3339 format, one in each hour from first on,
// and as many ones.
func hours(day string, first, n int) (all []string, ones []float64) {
	for i := range n {
		all = append(all, fmt.Sprintf("%sT%02d:30:00Z", day, first+i))
		ones = append(ones, 1)
	}
	return all, ones
}

// A day on which clocks change has 23 or 25 hours of data and is still one day.
// The hour that occurs twice has twice as much data.
func TestDaysOnWhichClocksChange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "Europe/Berlin")
		for _, c := range []struct {
			day, before  string
			count, twice int
		}{
			{"2026-03-29", "2026-03-28", 23, 0}, // 02:00 becomes 03:00
			{"2025-10-26", "2025-10-25", 25, 2}, // 03:00 becomes 02:00
			{"2026-03-10", "2026-03-09", 24, 1},
		} {
			// Berlin's day begins at 22:00 or 23:00 UTC of the day before.
			first := 23
			if c.day == "2025-10-26" {
				first = 22
			}
			at, values := hours(c.before, first, 24-first)
			more, ones := hours(c.day, 0, c.count-(24-first))
			r.samples("heartrate", watch, wearables.NoOffset, append(at, more...), asHeartRates(append(values, ones...)))
			day := groupRows([]string{trunc(1, "day", "timeseries")}, aggregateOf("count", value("heartrate")))
			r.expect(c.day, 1, day, fmt.Sprintf(`{"group_key.0":["%sT00:00:00"],"count.value":[%d]}`, c.day, c.count))
			at2 := fmt.Sprintf(`"where":"timestamp >= '%sT02:00:00' AND timestamp < '%[1]sT03:00:00'"`, c.day)
			hour := `{"select":[` + aggregateOf("count", value("heartrate")) + `],` + at2 + `}`
			r.expect(c.day, 1, hour, fmt.Sprintf(`{"count.value":[%d]}`, c.twice))
		}
	})
}

// asHeartRates makes believable heart rates of ones.
func asHeartRates(values []float64) []float64 {
	for i := range values {
		values[i] *= 60
	}
	return values
}

// Queries truncate to buckets of every unit, and extract every part of a moment.
func TestBucketsAndParts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		r.samples("heartrate", watch, 0, []string{"2026-01-01T00:07:30Z", "2026-03-02T23:59:59Z"}, []float64{60, 70})
		for _, c := range []struct {
			n          int
			unit, want string
		}{
			{15, "minute", `"2026-01-01T00:00:00","2026-03-02T23:45:00"`},
			{6, "hour", `"2026-01-01T00:00:00","2026-03-02T18:00:00"`},
			{1, "day", `"2026-01-01T00:00:00","2026-03-02T00:00:00"`},
			{1, "week", `"2025-12-29T00:00:00","2026-03-02T00:00:00"`}, // a Thursday and a Monday
			{1, "month", `"2026-01-01T00:00:00","2026-03-01T00:00:00"`},
			{3, "month", `"2026-01-01T00:00:00"`},
			{1, "year", `"2026-01-01T00:00:00"`},
		} {
			want := `{"group_key.0":[` + c.want + `],"sum.value":[60,70]}`
			if c.n == 3 || c.unit == "year" {
				want = `{"group_key.0":[` + c.want + `],"sum.value":[130]}`
			}
			r.expect("2026-03-31", 365, groupRows([]string{trunc(c.n, c.unit, "timeseries")}, aggregateOf("sum", value("heartrate"))), want)
		}
		for part, want := range map[string]string{
			"minute": `7,59`, "hour": `0,23`, "day": `1,2`, "week": `1,10`, "month": `1,3`, "weekday": `1,4`, "week_of_year": `1,10`, "day_of_year": `1,61`,
		} {
			sums := `60,70`
			if part == "weekday" { // Thursday is 4, Monday 1
				sums = `70,60`
			}
			r.expect("2026-03-31", 365, groupRows([]string{`{"date_part":"` + part + `","arg":{"index":"timeseries"}}`}, aggregateOf("sum", value("heartrate"))),
				`{"group_key.0":[`+want+`],"sum.value":[`+sums+`]}`)
		}
	})
}

// Floating time is stored as the clock showed it, so no zone moves it.
func TestFloatingTimeIsReadUnchanged(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "America/New_York")
		for _, c := range []struct{ provider, want string }{{"abbott_libreview", "08"}, {"dexcom_v3", "03"}} {
			r.samples("glucose", wearables.Source{Provider: c.provider}, wearables.NoOffset, []string{"2026-03-02T08:00:00Z"}, []float64{5})
			hourly := groupRows([]string{trunc(1, "hour", "timeseries")}, aggregateOf("mean", value("glucose")), `"where":"source_provider = '`+c.provider+`'"`)
			r.expect("2026-03-02", 1, hourly, `{"group_key.0":["2026-03-02T`+c.want+`:00:00"],"mean.value":[5]}`)
		}
	})
}
