package aggregate_test

import (
	"fmt"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
)

// hours are n RFC 3339 hours from the beginning of a UTC day.
func hours(day string, first, n int) (all []string, ones []float64) {
	for i := range n {
		all = append(all, fmt.Sprintf("%sT%02d:30:00Z", day, first+i))
		ones = append(ones, 1)
	}
	return all, ones
}

// A day on which clocks change has 23 or 25 hours of data, and still is one
// day; the hour that comes twice has twice as much.
func TestDaysOnWhichClocksChange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, "Europe/Berlin")
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
			r.samples("heartrate", watch, wearables.NoOffset, append(at, more...), twentyfold(append(values, ones...)))
			day := grouped([]string{trunc(1, "day", "timeseries")}, of("count", value("heartrate")))
			r.expect(c.day, 1, day, fmt.Sprintf(`{"group_key.0":["%sT00:00:00"],"count.value":[%d]}`, c.day, c.count))
			at2 := fmt.Sprintf(`"where":"timestamp >= '%sT02:00:00' AND timestamp < '%[1]sT03:00:00'"`, c.day)
			hour := `{"select":[` + of("count", value("heartrate")) + `],` + at2 + `}`
			r.expect(c.day, 1, hour, fmt.Sprintf(`{"count.value":[%d]}`, c.twice))
		}
	})
}

// twentyfold makes believable heart rates of ones.
func twentyfold(values []float64) []float64 {
	for i := range values {
		values[i] *= 60
	}
	return values
}

// Buckets of every unit, and every part of a moment.
func TestBucketsAndParts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, "")
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
			r.expect("2026-03-31", 365, grouped([]string{trunc(c.n, c.unit, "timeseries")}, of("sum", value("heartrate"))), want)
		}
		for part, want := range map[string]string{
			"minute": `7,59`, "hour": `0,23`, "day": `1,2`, "week": `1,10`, "month": `1,3`, "weekday": `1,4`, "week_of_year": `1,10`, "day_of_year": `1,61`,
		} {
			sums := `60,70`
			if part == "weekday" { // Thursday is 4, Monday 1
				sums = `70,60`
			}
			r.expect("2026-03-31", 365, grouped([]string{`{"date_part":"` + part + `","arg":{"index":"timeseries"}}`}, of("sum", value("heartrate"))),
				`{"group_key.0":[`+want+`],"sum.value":[`+sums+`]}`)
		}
	})
}

// What a clock showed is floating time already: no zone moves it.
func TestFloatingTimeIsReadAsItStands(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, "America/New_York")
		for _, c := range []struct{ provider, want string }{{"abbott_libreview", "08"}, {"dexcom_v3", "03"}} {
			r.samples("glucose", wearables.Source{Provider: c.provider}, wearables.NoOffset, []string{"2026-03-02T08:00:00Z"}, []float64{5})
			hourly := grouped([]string{trunc(1, "hour", "timeseries")}, of("mean", value("glucose")), `"where":"source_provider = '`+c.provider+`'"`)
			r.expect("2026-03-02", 1, hourly, `{"group_key.0":["2026-03-02T`+c.want+`:00:00"],"mean.value":[5]}`)
		}
	})
}
