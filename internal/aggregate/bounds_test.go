package aggregate_test

import (
	"strings"
	"testing"

	"hale/internal/aggregate"
	"hale/internal/aggregate/query"
	"hale/internal/fault"
	"hale/internal/store"
	"hale/internal/store/storetest"
)

// The results of a batch are bounded together, by their rows and columns.
func TestCellsOfABatch(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, "")
		r.samples("steps", watch, 0, []string{"2026-03-01T08:00:00Z", "2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z"}, []float64{10, 20, 30})
		pairs := choose(`{"index":"timeseries"}`, value("steps"))
		one := choose(of("sum", value("steps")))
		hours := grouped([]string{trunc(1, "hour", "timeseries")}, of("sum", value("steps")), `"align":{"carry":{"mode":"carry_forward"}}`)
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
			tables, err := r.all(c.cells, c.queries...)
			if refused := fault.Is(err, fault.Unprocessable); refused != c.refused || !refused && err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if err == nil && len(tables) != len(c.queries) {
				t.Errorf("%s: %d tables", c.name, len(tables))
			}
		}
	})
}

// all answers a batch that may have some cells.
func (r *rig) all(cells int, queries ...string) (tables []*aggregate.Table, err error) {
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
		tables, err = aggregate.RunAll(r.ctx, tx, aggregate.Request{User: r.user, From: from, To: to, Now: r.db.Now(), MostCells: cells}, plans)
		return err
	})
	return tables, err
}
