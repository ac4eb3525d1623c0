package aggregate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate"
	"hale/internal/wearables/aggregate/query"
)

// The results of a batch are bounded together, by their rows and columns.
func TestCellsOfABatch(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		r.samples("steps", watch, 0, []string{"2026-03-01T08:00:00Z", "2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z"}, []float64{10, 20, 30})
		pairs := choose(`{"index":"timeseries"}`, value("steps"))
		one := choose(aggregateOf("sum", value("steps")))
		hours := groupRows([]string{trunc(1, "hour", "timeseries")}, aggregateOf("sum", value("steps")), `"align":{"carry":{"mode":"carry_forward"}}`)
		for _, c := range []struct {
			name    string
			cells   int
			queries []string
			refused bool
		}{
			{"as many as there may be", 6, []string{pairs}, false},
			{"a column too many", 6, []string{choose(`{"index":"timeseries"}`, value("steps"), `{"source":"source_type"}`)}, true},
			{"one query more", 7, []string{pairs, one}, false},
			{"one query too many", 6, []string{pairs, one}, true},
			{"aligned", 6, []string{hours}, false},
			{"aligned, after another", 6, []string{one, hours}, true},
			{"none left for one without rows", 6, []string{pairs, strings.ReplaceAll(pairs, "steps", "heartrate")}, false},
		} {
			tables, err := r.all(aggregate.Request{MostCells: c.cells}, c.queries...)
			if refused := fault.Is(err, fault.Unprocessable); refused != c.refused || !refused && err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if err == nil && len(tables) != len(c.queries) {
				t.Errorf("%s: %d tables", c.name, len(tables))
			}
		}
	})
}

// The limit on bytes covers the rows of a query before they are grouped, its texts, and
// the results of a batch together.
func TestBytesOfABatch(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		r.samples("steps", watch, 0, []string{"2026-03-01T08:00:00Z", "2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z"}, []float64{10, 20, 30})
		r.day("activity", "2026-03-01", watch, `{"steps":9000,"time_zone":"Europe/Berlin"}`)
		r.day("activity", "2026-03-02", watch, `{"steps":100,"time_zone":"Europe/Berlin"}`)
		one := choose(aggregateOf("sum", value("steps"))) // 3 rows of 12 + 9 bytes
		both := choose(aggregateOf("sum", value("steps")), aggregateOf("count", `{"timeseries":"steps","field":"source_type"}`))
		zones := choose(`{"activity":"time_zone"}`) // 2 rows of 12 + 17 + 13 bytes
		for _, c := range []struct {
			name    string
			bytes   int
			queries []string
			refused bool
		}{
			{"as much as there may be", 63, []string{one}, false},
			{"a byte too many", 62, []string{one}, true},
			{"a column more", 63, []string{both}, true},
			{"what is held already", 71, []string{one, one}, true},
			{"and fits", 72, []string{one, one}, false},
			{"texts", 84, []string{zones}, false},
			{"texts that are too long", 83, []string{zones}, true},
			{"results of a batch", 144, []string{zones, zones}, false},
			{"results of a batch, a byte too many", 143, []string{zones, zones}, true},
			{"a key of its own", 63, []string{groupRows([]string{trunc(1, "day", "timeseries")}, aggregateOf("count", value("steps")))}, true},
			{"filled buckets", 150, []string{groupRows([]string{trunc(1, "minute", "timeseries")}, aggregateOf("sum", value("steps")), `"align":{"carry":{"mode":"carry_forward"}}`)}, true},
		} {
			_, err := r.all(aggregate.Request{MostBytes: c.bytes}, c.queries...)
			if refused := fault.Is(err, fault.Unprocessable); refused != c.refused || !refused && err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

// Summaries are read some at a time, and all of them count.
func TestManySummaries(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		const n = 2*200 + 50 // two whole pages, and one that is not
		var b wearables.Batch
		for i := range n {
			day := civil.MustParse("2024-01-01").AddDays(i / 3) // pages end in the middle of a day
			b.Summaries = append(b.Summaries, wearables.Summary{
				Resource: "body", Key: fmt.Sprint(i), Date: day, Source: watch, Body: json.RawMessage(`{"weight":70}`),
			})
		}
		r.put(b)
		r.expect("2026-01-01", 3650, choose(aggregateOf("count", `{"body":"weight_kilogram"}`)), fmt.Sprintf(`{"count.weight_kilogram":[%d]}`, n))
	})
}

// all answers a batch within bounds.
func (r *fixture) all(bounds aggregate.Request, queries ...string) (tables []*aggregate.Table, err error) {
	r.t.Helper()
	b, err := query.DecodeBatch(batch("2026-03-02", 7, strings.Join(queries, ",")))
	if err != nil {
		r.t.Fatal(err)
	}
	plans := make([]*query.Plan, len(b.Queries))
	for i, q := range b.Queries {
		if plans[i], err = query.Compile(q); err != nil {
			r.t.Fatal(err)
		}
	}
	from, to := b.Timeframe.Bounds()
	err = r.db.Read(r.ctx, func(tx *store.Tx) error {
		bounds.User, bounds.From, bounds.To, bounds.Now = r.user, from, to, r.db.Now()
		tables, err = aggregate.RunAll(r.ctx, tx, bounds, plans)
		return err
	})
	return tables, err
}
