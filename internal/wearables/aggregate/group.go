package aggregate

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"hale/internal/wearables/aggregate/query"
)

// groups parts the rows of a frame by the plan's keys.
type groups struct {
	keys []Vector // one row for each group
	of   []int32  // group of each row
}

// group finds the groups of all rows, of which there may be so many. Without
// keys there is one group, even of no rows.
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
		if row > 0 && slices.Equal(code, before) { // most rows stand beside their like
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
	if g.len() > most { // the one group of no rows
		return nil, errTooWide
	}
	return g, nil
}

// len is the number of groups.
func (g *groups) len() int {
	if len(g.keys) == 0 {
		return 1
	}
	return g.keys[0].Len()
}

// keyValues is what a key makes of its input.
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

// appendCode writes a value so that different ones differ, beside others too.
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
