package aggregate

import (
	"context"
	"time"

	"hale/internal/aggregate/query"
	"hale/internal/fault"
	"hale/internal/store"
	"hale/internal/users"
)

// How much one query may read, and how many rows it may give. A year of a
// value a minute is half a million.
const (
	MostRows    = 2_000_000
	MostResults = 500_000
)

var (
	errTooMuch = fault.New(fault.Unprocessable, "the query reads too many rows; ask for a shorter time")
	errTooWide = fault.New(fault.Unprocessable, "the query has too many rows in its result; group by longer periods or ask for a shorter time")
)

// Request is a plan and whose data it is about.
type Request struct {
	User users.User
	Plan *query.Plan
	// From and To bound the index, floating microseconds, [From, To).
	From, To int64
	// Overrides are providers in order of preference, above the team's own.
	Overrides []string
	Now       time.Time // no aligned row is later
	Most      int       // rows to read; 0 means MostRows

	wall wall
}

func (r *Request) mostRows() int {
	if r.Most > 0 {
		return r.Most
	}
	return MostRows
}

// Run answers a query in the caller's transaction, whose snapshot all of it
// sees.
func Run(ctx context.Context, tx *store.Tx, r Request) (*Table, error) {
	r.wall = wallOf(r.User)
	load := r.loadSummaries
	if r.Plan.Table.Series != "" {
		load = r.loadSeries
	}
	f, err := load(ctx, tx)
	if err != nil {
		return nil, err
	}
	f.sortByIndex()
	if r.Plan.Where != nil {
		f.keep(matching(r.Plan.Where, f.inputs, len(f.index)))
	}
	if !r.Plan.Aggregated {
		if len(f.index) > MostResults {
			return nil, errTooWide
		}
		return r.plain(f), nil
	}
	g := group(r.Plan, f)
	lists := g.rows()
	if err := r.bestSources(ctx, tx, f, lists); err != nil {
		return nil, err
	}
	if len(lists) > MostResults {
		return nil, errTooWide
	}
	t := r.reduce(f, g, lists)
	if r.Plan.Align == nil {
		return t, nil
	}
	return r.align(t)
}

// plain is the result of a query without aggregates: a row for each row.
func (r *Request) plain(f *frame) *Table {
	t := Empty(r.Plan)
	for i, o := range r.Plan.Outputs {
		t.Columns[i].Vector = f.inputs[o.Input]
	}
	return t
}

// reduce is the result of a query with aggregates: a row for each group, in
// order of the keys.
func (r *Request) reduce(f *frame, g *groups, lists [][]int32) *Table {
	t := Empty(r.Plan)
	order := g.order()
	for i, o := range r.Plan.Outputs {
		column := &t.Columns[i].Vector
		for _, n := range order {
			if o.Key >= 0 {
				column.appendFrom(&g.keys[o.Key], int(n))
			} else {
				reduce(o.Func, &f.inputs[o.Input], lists[n], column)
			}
		}
	}
	return t
}
