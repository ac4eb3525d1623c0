package aggregate

import (
	"context"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/storage"
)

// Limits of one query. A value for every minute of a year makes half a million rows.
// MostCells limits rows times columns, over all results that are in memory at once.
// MostBytes limits the rows that one query holds while it works, and all results that
// are in memory at once. Sorting and filtering copy the rows, which needs the same
// space again.
const (
	MostRows    = 2_000_000
	MostResults = 500_000
	MostCells   = 10_000_000
	MostBytes   = 256 << 20
)

var (
	errTooMuch  = fault.New(fault.Unprocessable, "the query reads too many rows; ask for a shorter time")
	errTooHeavy = fault.New(fault.Unprocessable, "the query or the results of the batch would hold more than 256 MiB at once; use fewer columns, shorter texts or a shorter time")
	errTooWide  = fault.New(fault.Unprocessable, "the query has too many result rows, or the batch too many values; group by longer periods, or ask for less or a shorter time")
)

// Request is a compiled query and the user whose data it reads.
type Request struct {
	User users.User
	Plan *query.Plan
	// From and To bound the index, floating microseconds, [From, To).
	From, To int64
	// Overrides are providers in order of preference, above the team's own.
	Overrides []string
	Now       time.Time // no aligned row is later
	Most      int       // rows to read; 0 means MostRows
	MostCells int       // of the results of a batch; 0 means MostCells
	MostBytes int       // to hold at once; 0 means MostBytes

	wall wallClock
	used int // cells of the results before this one
	held int // bytes of the results before this one
}

func (r *Request) mostRows() int {
	if r.Most > 0 {
		return r.Most
	}
	return MostRows
}

// holds reports whether so many bytes may be held in addition to the earlier results.
func (r *Request) holds(bytes int) bool {
	most := r.MostBytes
	if most == 0 {
		most = MostBytes
	}
	return bytes <= most-r.held
}

// mostResults returns the largest number of rows of the result.
func (r *Request) mostResults() int {
	cells := r.MostCells
	if cells == 0 {
		cells = MostCells
	}
	return min(MostResults, max(0, cells-r.used)/len(r.Plan.Outputs))
}

// RowLimit returns the largest number of rows of one plan's result.
func RowLimit(p *query.Plan) int { return (&Request{Plan: p}).mostResults() }

// RunAll answers a batch of queries that differ only in their plans. All results are in
// memory before the first is used, so the limits apply to their total.
func RunAll(ctx context.Context, tx *store.Tx, r Request, plans []*query.Plan) ([]*Table, error) {
	tables := make([]*Table, len(plans))
	for i, plan := range plans {
		r.Plan = plan
		var err error
		if tables[i], err = Run(ctx, tx, r); err != nil {
			return nil, err
		}
		r.used += tables[i].Len() * len(plan.Outputs)
		r.held += tables[i].Bytes()
	}
	return tables, nil
}

// stride is the number of rows between two checks of the context.
const stride = 1 << 16

// Run answers a query. It reads everything in the caller's transaction, so the whole
// result comes from one snapshot.
func Run(ctx context.Context, tx *store.Tx, r Request) (*Table, error) {
	t, err := r.run(ctx, tx)
	if err == nil && !r.holds(t.Bytes()) {
		return nil, errTooHeavy
	}
	return t, err
}

func (r *Request) run(ctx context.Context, tx *store.Tx) (*Table, error) {
	r.wall = wallClockOf(r.User)
	load := r.loadSeries
	if r.Plan.Table.Document != "" {
		load = r.loadSummaries
	}
	f, err := load(ctx, tx)
	if err != nil {
		return nil, err
	}
	f.sortByIndex()
	if r.Plan.Where != nil {
		if err := f.filter(ctx, r.Plan.Where); err != nil {
			return nil, err
		}
	}
	if !r.Plan.Aggregated {
		if len(f.index) > r.mostResults() {
			return nil, errTooWide
		}
		return r.plain(f), nil
	}
	g, err := group(ctx, r.Plan, f, r.mostResults())
	if err != nil {
		return nil, err
	}
	lists := g.rows()
	if err := r.bestSources(ctx, tx, f, lists); err != nil {
		return nil, err
	}
	t, err := r.reduce(ctx, f, g, lists)
	if err != nil || r.Plan.Align == nil {
		return t, err
	}
	return r.align(ctx, t)
}

// plain returns the result of a query without aggregates: one row for each row of the
// frame.
func (r *Request) plain(f *frame) *Table {
	t := NewEmptyTable(r.Plan)
	for i, o := range r.Plan.Outputs {
		t.Columns[i].Vector = f.inputs[o.Input]
	}
	return t
}

// reduce returns the result of a query with aggregates: one row for each group, in the
// order of the keys.
func (r *Request) reduce(ctx context.Context, f *frame, g *groups, lists [][]int32) (*Table, error) {
	t := NewEmptyTable(r.Plan)
	order := g.order()
	for i, o := range r.Plan.Outputs {
		column := &t.Columns[i].Vector
		for at, n := range order {
			if at%stride == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if o.Key >= 0 {
				column.appendFrom(&g.keys[o.Key], int(n))
			} else {
				reduce(o.Func, &f.inputs[o.Input], lists[n], column)
			}
		}
	}
	return t, nil
}

// Extent returns the floating time in which a plan may find data of a user. For series
// it follows from their samples. For documents it is all time.
func Extent(ctx context.Context, tx *store.Tx, user users.User, p *query.Plan) (from, to int64, err error) {
	if p.Table.Document != "" {
		return query.FirstMoment, query.EndOfTime, nil
	}
	all, err := storage.SeriesOf(ctx, tx, user.Team.UUID(), user.ID.UUID(), p.Table.Series)
	if err != nil {
		return 0, 0, err
	}
	from, to = query.EndOfTime, query.FirstMoment
	for i := range all {
		from, to = min(from, all[i].Oldest-LargestOffset), max(to, all[i].Newest+LargestOffset+1)
	}
	return from, to, nil
}
