package aggregate

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"hale/internal/platform/store"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/merged"
)

// groups divides the rows of a frame by the plan's keys.
type groups struct {
	keys []Vector // one row for each group
	of   []int32  // group of each row
}

// group finds the groups of all rows. most limits the number of groups. Without
// keys there is one group, even if there are no rows.
func group(ctx context.Context, p *query.Plan, f *frame, most int) (*groups, error) {
	g := &groups{keys: make([]Vector, len(p.Keys)), of: make([]int32, len(f.index))}
	values := make([]Vector, len(p.Keys))
	for i, k := range p.Keys {
		values[i] = keyValues(k, &f.inputs[k.Input])
		g.keys[i].Kind = k.Kind
	}
	known := map[string]int32{}
	var code, before []byte
	for row := range f.index {
		if row%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		code = code[:0]
		for i := range values {
			code = appendCode(code, &values[i], row)
		}
		if row > 0 && slices.Equal(code, before) { // most rows follow a row of the same group
			g.of[row] = g.of[row-1]
			continue
		}
		before = append(before[:0], code...)
		n, ok := known[string(code)]
		if !ok {
			if len(known) >= most {
				return nil, errTooWide
			}
			n = int32(len(known))
			known[string(code)] = n
			for i := range values {
				g.keys[i].appendFrom(&values[i], row)
			}
		}
		g.of[row] = n
	}
	if g.len() > most { // without keys, no rows still make one group
		return nil, errTooWide
	}
	return g, nil
}

// len returns the number of groups.
func (g *groups) len() int {
	if len(g.keys) == 0 {
		return 1
	}
	return g.keys[0].Len()
}

// keyValues computes the values of a key from its input.
func keyValues(k query.Key, in *Vector) Vector {
	if k.Trunc == nil && k.Part == "" {
		return *in
	}
	out := Vector{Kind: k.Kind}
	for i := range in.Null {
		switch {
		case in.Null[i]:
			out.appendNull()
		case k.Trunc != nil:
			out.appendTime(k.Trunc.Truncate(in.Time[i]))
		default:
			out.appendNumber(float64(query.PartOf(in.Time[i], k.Part)))
		}
	}
	return out
}

// appendCode encodes a value. Different values have different codes, and a code stays
// unambiguous when it is joined with others.
func appendCode(dst []byte, v *Vector, i int) []byte {
	if v.Null[i] {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	switch v.Kind {
	case query.Moment, query.Date:
		return binary.BigEndian.AppendUint64(dst, uint64(v.Time[i]))
	case query.Text:
		return append(binary.AppendUvarint(dst, uint64(len(v.Text[i]))), v.Text[i]...)
	default:
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(v.Num[i]+0)) // -0 is 0
	}
}

// rows lists the rows of each group, in the order of the frame.
func (g *groups) rows() [][]int32 {
	sizes := make([]int, g.len())
	for _, n := range g.of {
		sizes[n]++
	}
	all := make([]int32, len(g.of))
	lists := make([][]int32, len(sizes))
	at := 0
	for n, size := range sizes {
		lists[n] = all[at : at : at+size]
		at += size
	}
	for row, n := range g.of {
		lists[n] = append(lists[n], int32(row))
	}
	return lists
}

// order lists the groups by their keys, nulls last.
func (g *groups) order() []int32 {
	order := make([]int32, g.len())
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		for k := range g.keys {
			if c := g.keys[k].order(int(a), int(b)); c != 0 {
				return c
			}
		}
		return 0
	})
	return order
}

// bestSources removes from each group all rows except those of its best source.
// The kind of source decides first, then the provider that the query or the
// team prefers. So the query does not add the same steps from two devices.
//
// Reference 7.11.
func (r *Request) bestSources(ctx context.Context, tx *store.Tx, f *frame, lists [][]int32) error {
	if !r.Plan.Prioritised || len(f.origins) < 2 {
		return nil
	}
	rank, err := r.ranking(ctx, tx, f.origins)
	if err != nil {
		return err
	}
	for n, rows := range lists {
		best := slices.MinFunc(rows, func(a, b int32) int { return cmp.Compare(rank[f.origin[a]], rank[f.origin[b]]) })
		lists[n] = slices.DeleteFunc(rows, func(row int32) bool { return f.origin[row] != f.origin[best] })
	}
	return nil
}

// ranking returns the rank of each origin, in the order of all; 0 is the best. The kind
// of source decides first, then the request's overrides, then the team's priorities.
func (r *Request) ranking(ctx context.Context, tx *store.Tx, all []origin) ([]int, error) {
	preferred := map[string]int64{}
	if dataType := r.Plan.Table.Priorities; dataType != "" {
		stated, err := merged.Priorities(ctx, tx, r.User.Team.UUID(), dataType)
		if err != nil {
			return nil, err
		}
		for _, p := range stated {
			preferred[p.Provider] = p.Priority
		}
	}
	override := func(provider string) int {
		if at := slices.Index(r.Overrides, provider); at >= 0 {
			return at
		}
		return len(r.Overrides)
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := all[i], all[j]
		return cmp.Or(
			cmp.Compare(merged.Rank(a.sourceType), merged.Rank(b.sourceType)),
			cmp.Compare(override(a.provider), override(b.provider)),
			cmp.Compare(preferred[b.provider], preferred[a.provider]),
			cmp.Compare(a.provider, b.provider),
			cmp.Compare(a.sourceType, b.sourceType),
		)
	})
	rank := make([]int, len(all))
	for place, i := range order {
		rank[i] = place
	}
	return rank, nil
}

// reduce appends the value of an aggregate function over some rows, which are in order of
// time. It ignores nulls.
func reduce(f query.Func, v *Vector, rows []int32, dst *Vector) {
	switch f {
	case query.Count:
		dst.appendNumber(float64(countOf(v, rows)))
	case query.Oldest, query.Newest, query.Min, query.Max:
		if at := chooseRow(f, v, rows); at >= 0 {
			dst.appendFrom(v, at)
			return
		}
		dst.appendNull()
	default:
		if result, ok := calculate(f, numbers(v, rows)); ok {
			dst.appendNumber(result)
			return
		}
		dst.appendNull()
	}
}

func countOf(v *Vector, rows []int32) (n int) {
	for _, i := range rows {
		if !v.Null[i] {
			n++
		}
	}
	return n
}

// chooseRow returns the row with the value that Oldest, Newest, Min or Max selects, or -1
// if all values are null. Of equal values the earlier row counts.
func chooseRow(f query.Func, v *Vector, rows []int32) int {
	best := -1
	for _, row := range rows {
		i := int(row)
		switch {
		case v.Null[i]:
		case best < 0, f == query.Newest,
			f == query.Min && v.compare(i, best) < 0,
			f == query.Max && v.compare(i, best) > 0:
			best = i
		}
		if f == query.Oldest && best >= 0 {
			break
		}
	}
	return best
}

// numbers returns the values of some rows, without nulls.
func numbers(v *Vector, rows []int32) []float64 {
	all := make([]float64, 0, len(rows))
	for _, i := range rows {
		if !v.Null[i] {
			all = append(all, v.Num[i])
		}
	}
	return all
}

// calculate applies an aggregate function to numbers. It returns false if the function
// has no value or no finite one. It may reorder and overwrite the slice.
func calculate(f query.Func, all []float64) (result float64, ok bool) {
	n := float64(len(all))
	if len(all) == 0 {
		return 0, false
	}
	switch f {
	case query.Sum:
		result = sum(all)
	case query.Mean:
		result = sum(all) / n
	case query.Median:
		slices.Sort(all)
		half := len(all) / 2
		result = all[half]
		if len(all)%2 == 0 {
			result = all[half-1] + (all[half]-all[half-1])/2
		}
	case query.Stddev:
		if len(all) < 2 {
			return 0, false
		}
		mean := sum(all) / n
		for i, x := range all {
			all[i] = (x - mean) * (x - mean)
		}
		result = math.Sqrt(sum(all) / (n - 1))
	default:
		return 0, false
	}
	return result, !math.IsInf(result, 0) && !math.IsNaN(result)
}

// sum adds with compensation for rounding errors (Neumaier), so that a year of small
// steps has the exact sum.
func sum(all []float64) float64 {
	total, lost := 0.0, 0.0
	for _, x := range all {
		next := total + x
		if math.Abs(total) >= math.Abs(x) {
			lost += (total - next) + x
		} else {
			lost += (x - next) + total
		}
		total = next
	}
	return total + lost
}
