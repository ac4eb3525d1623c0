package aggregate

import (
	"context"
	"slices"

	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/query"
)

// align adds a row for every bucket of each partition and fills its nulls from the
// nearest bucket that the mode allows. A partition has the rows with equal other group
// keys. Its buckets reach from its first to its last row, and as far beyond as values
// are carried, but not past now.
//
// Reference 7.12, ALIGN.
func (r *Request) align(ctx context.Context, t *Table) (*Table, error) {
	p := r.Plan
	trunc := p.TruncKey()
	bucket, others := -1, []int(nil)
	for i, o := range p.Outputs {
		switch {
		case o.Key == trunc:
			bucket = i
		case o.Key >= 0:
			others = append(others, i)
		}
	}
	period := *p.Keys[trunc].Trunc
	now := period.Truncate(r.wall.floatingTime(r.Now.UnixMicro(), wearables.NoOffset))

	var order []string
	parts := map[string][]int32{}
	for row := range t.Len() {
		code := t.Code(row, others)
		if parts[code] == nil {
			order = append(order, code)
		}
		parts[code] = append(parts[code], int32(row))
	}
	var all []alignedPartition
	total := 0
	for _, code := range order {
		rows := parts[code]
		slices.SortFunc(rows, func(a, b int32) int { return t.Columns[bucket].compare(int(a), int(b)) })
		first, last := t.Columns[bucket].Time[rows[0]], t.Columns[bucket].Time[rows[len(rows)-1]]
		line, ok := timeBuckets(p.Align, period, first, last, now, r.mostResults()-total)
		if !ok {
			return nil, errTooWide
		}
		total += len(line)
		all = append(all, alignedPartition{line, rows})
	}
	out := NewEmptyTable(p)
	for i, o := range p.Outputs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, a := range all {
			a.column(p, t, i, o, i == bucket, &out.Columns[i].Vector, bucket)
		}
	}
	return out.Sorted(append([]int{bucket}, others...)), nil
}

// timeBuckets lists the buckets of a partition.
func timeBuckets(a *query.Align, period query.Period, first, last, now int64, most int) (line []int64, ok bool) {
	if a.Window != nil && a.Mode != query.CarryForward {
		first = period.Truncate(max(a.Window.Add(first, -1), query.FirstMoment))
	}
	if a.Window != nil && a.Mode != query.CarryBackward {
		last = max(last, min(period.Truncate(a.Window.Add(last, 1)), now))
	}
	for at := first; at <= last; at = period.Add(at, 1) {
		if len(line) == most {
			return nil, false
		}
		line = append(line, at)
	}
	return line, true
}

// alignedPartition is one partition of the result: the start times of its buckets, and the numbers
// of its rows, in time order.
type alignedPartition struct {
	line []int64
	rows []int32
}

// column appends one output of the partition.
func (a alignedPartition) column(p *query.Plan, t *Table, i int, o query.Output, isBucket bool, dst *Vector, bucket int) {
	src := &t.Columns[i].Vector
	times := t.Columns[bucket].Time
	known := make([]int, len(a.line)) // row of each bucket, or -1
	next := 0
	for k, at := range a.line {
		known[k] = -1
		if next < len(a.rows) && times[a.rows[next]] == at {
			known[k] = int(a.rows[next])
			next++
		}
	}
	var from []int // for each bucket the one that fills it, or -1
	if o.Key < 0 {
		from = carry(p.Align, a.line, func(k int) bool { return known[k] >= 0 && !src.Null[known[k]] })
	}
	for k, at := range a.line {
		switch {
		case isBucket:
			dst.appendTime(at)
		case o.Key >= 0:
			dst.appendFrom(src, int(a.rows[0]))
		case from[k] >= 0:
			dst.appendFrom(src, known[from[k]])
		default:
			dst.appendNull()
		}
	}
}

// carry finds the bucket that provides the value of each bucket: itself, or the nearest
// one within the window in the direction of the mode.
func carry(a *query.Align, line []int64, has func(k int) bool) []int {
	past, future := make([]int, len(line)), make([]int, len(line))
	last := -1
	for k := range line {
		if has(k) {
			last = k
		}
		past[k] = last
		if last >= 0 && a.Window != nil && a.Window.Add(line[last], 1) < line[k] {
			past[k] = -1
		}
	}
	last = -1
	for k := len(line) - 1; k >= 0; k-- {
		if has(k) {
			last = k
		}
		future[k] = last
		if last >= 0 && a.Window != nil && a.Window.Add(line[k], 1) < line[last] {
			future[k] = -1
		}
	}
	switch a.Mode {
	case query.CarryForward:
		return past
	case query.CarryBackward:
		return future
	case query.CarryNearest:
	}
	for k := range line {
		if past[k] < 0 || future[k] >= 0 && line[future[k]]-line[k] < line[k]-line[past[k]] {
			past[k] = future[k]
		}
	}
	return past
}

// Sorted returns the table in the order of some columns, given by their positions. Nulls
// come last, and rows with equal values keep their order.
func (t *Table) Sorted(by []int) *Table {
	rows := make([]int32, t.Len())
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortStableFunc(rows, func(a, b int32) int {
		for _, c := range by {
			if order := t.Columns[c].order(int(a), int(b)); order != 0 {
				return order
			}
		}
		return 0
	})
	return t.Pick(rows)
}
