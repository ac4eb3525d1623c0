package aggregate_test

import (
	"strings"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// The data has weights of the 1st, the 4th and the 8th. The query runs on the 10th.
func TestAlign(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) }
	storetest.EachAt(t, now, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		r.day("body", "2026-03-01", watch, `{"weight":80}`)
		r.day("body", "2026-03-04", watch, `{"weight":82}`)
		r.day("body", "2026-03-08", watch, `{"fat":20}`)
		for _, c := range []struct{ carry, first, weight, fat string }{
			{`{"mode":"carry_forward"}`, "01", `80,80,80,82,82,82,82,82`, `null,null,null,null,null,null,null,20`},
			{`{"mode":"carry_forward","max_age":{"unit":"day"}}`, "01", `80,80,null,82,82,null,null,null,null`, `null,null,null,null,null,null,null,20,20`},
			{`{"mode":"carry_forward","max_age":{"unit":"week"}}`, "01", `80,80,80,82,82,82,82,82,82,82`, `null,null,null,null,null,null,null,20,20,20`}, // never past now
			{`{"mode":"carry_backward"}`, "01", `80,82,82,82,null,null,null,null`, `20,20,20,20,20,20,20,20`},
			{`{"mode":"carry_nearest","span":null}`, "01", `80,80,82,82,82,82,82,82`, `20,20,20,20,20,20,20,20`},
			{`{"mode":"carry_nearest","span":{"unit":"day"}}`, "28", `80,80,80,82,82,82,null,null,null,null`, `null,null,null,null,null,null,null,20,20,20`},
		} {
			weight, fat := aggregateOf("mean", `{"body":"weight_kilogram"}`), aggregateOf("mean", `{"body":"fat_mass_percentage"}`)
			got := r.ask("2026-03-31", 31, groupRows([]string{trunc(1, "day", "body")}, weight+","+fat, `"align":{"carry":`+c.carry+`}`))
			if c.first == "28" { // the day before the first one, which it reaches
				c.fat = `null,null,null,null,null,null,null,20,20,20`
			}
			for _, want := range []string{`"mean.weight_kilogram":[` + c.weight + `]`, `"mean.fat_mass_percentage":[` + c.fat + `]`} {
				if !strings.Contains(got, want) {
					t.Errorf("%s gave %s, wanted %s", c.carry, got, want)
				}
			}
			if month := map[string]string{"01": "03", "28": "02"}[c.first]; !strings.HasPrefix(got, `{"group_key.0":["2026-`+month+"-"+c.first) {
				t.Errorf("%s begins otherwise than on the %sth: %s", c.carry, c.first, got)
			}
		}
	})
}

// Every combination of the other keys has a line of its own.
func TestAlignByPartition(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		r.day("activity", "2026-03-01", watch, `{"steps":1}`)
		r.day("activity", "2026-03-03", watch, `{"steps":3}`)
		r.day("activity", "2026-03-02", phone, `{"steps":20}`)
		keys := []string{trunc(1, "day", "activity"), `{"source":"source_type"}`}
		r.expect("2026-03-03", 3, groupRows(keys, aggregateOf("sum", `{"activity":"steps"}`), `"align":{"carry":{"mode":"carry_forward"}}`), `{
			"group_key.0":["2026-03-01T00:00:00","2026-03-02T00:00:00","2026-03-02T00:00:00","2026-03-03T00:00:00"],
			"group_key.1":["watch","phone","watch","watch"],"sum.steps":[1,20,1,3]}`)
		if _, err := r.try("2026-03-03", 3650, `{"select":[{"group_key":"*"},`+aggregateOf("sum", value("steps"))+`],"group_by":[`+trunc(1, "minute", "timeseries")+
			`],"align":{"carry":{"mode":"carry_backward","max_age":{"value":50,"unit":"year"}}}}`); err != nil {
			t.Errorf("no data at all makes no rows: %v", err)
		}
		r.samples("steps", watch, 0, []string{"2026-03-01T08:00:00Z"}, []float64{10})
		if _, err := r.try("2026-03-03", 3650, `{"select":[{"group_key":"*"},`+aggregateOf("sum", value("steps"))+`],"group_by":[`+trunc(1, "minute", "timeseries")+
			`],"align":{"carry":{"mode":"carry_backward","max_age":{"value":50,"unit":"year"}}}}`); err == nil || !strings.Contains(err.Error(), "too many result rows") {
			t.Errorf("fifty years of minutes: %v", err)
		}
	})
}
