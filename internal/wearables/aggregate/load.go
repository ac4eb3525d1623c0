package aggregate

import (
	"cmp"
	"slices"

	"hale/internal/wearables/aggregate/query"
)

// frame holds the rows of a table: what the plan's inputs ask for, and where
// each row comes from.
type frame struct {
	index   []int64 // floating microseconds
	origin  []int32 // position in origins
	origins []origin
	inputs  []Vector

	width int // bytes of a row, without its texts
	texts int // bytes of all texts that the rows do not share
}

// origin is what sources are chosen by.
type origin struct{ provider, sourceType string }

func newFrame(p *query.Plan) *frame {
	f := &frame{inputs: make([]Vector, len(p.Inputs)), width: 8 + 4} // index and origin
	for i, in := range p.Inputs {
		f.inputs[i].Kind = in.Kind
		f.width += width(in.Kind)
	}
	for _, k := range p.Keys {
		if k.Trunc != nil || k.Part != "" { // a column that groups are found by
			f.width += width(k.Kind)
		}
	}
	return f
}

// bytes is what the frame holds with so many rows more.
func (f *frame) bytes(more int) int { return (len(f.index)+more)*f.width + f.texts }

func (f *frame) originOf(o origin) int32 {
	at := slices.Index(f.origins, o)
	if at < 0 {
		at = len(f.origins)
		f.origins = append(f.origins, o)
	}
	return int32(at)
}

// keep leaves only the given rows.
func (f *frame) keep(rows []int32) {
	index, origin := make([]int64, len(rows)), make([]int32, len(rows))
	for k, i := range rows {
		index[k], origin[k] = f.index[i], f.origin[i]
	}
	f.index, f.origin = index, origin
	for i := range f.inputs {
		f.inputs[i] = f.inputs[i].pick(rows)
	}
}

// sortByIndex puts the rows in order of time; those of one moment stay as they
// were loaded, which is by source.
func (f *frame) sortByIndex() {
	if slices.IsSorted(f.index) {
		return
	}
	rows := make([]int32, len(f.index))
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(f.index[a], f.index[b]) })
	f.keep(rows)
}
