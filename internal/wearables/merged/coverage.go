package merged

import (
	"cmp"
	"slices"
	"sort"
)

// Span is a stretch of time, [Start, End) in UTC microseconds. One without
// length is a moment.
type Span struct{ Start, End int64 }

func (v Span) length() int64 { return v.End - v.Start }

// Coverage is time that is taken, and by whom. The zero Coverage is empty.
type Coverage struct {
	spans   []claim // in order, without overlap
	moments map[int64]int
}

type claim struct {
	Span
	owner int
}

// Share is the share of a span that nobody has taken, 0 to 1. A moment is in
// or out as a whole.
func (c *Coverage) Share(v Span) float64 {
	free := int64(0)
	moment := 0.0
	c.Split(v, func(part Span, owner int) {
		if owner < 0 {
			free += part.length()
			moment = 1
		}
	})
	if v.End <= v.Start {
		return moment
	}
	return float64(free) / float64(v.length())
}

// Split cuts a span where its owner changes and gives the parts in order;
// owner is -1 for a part that is free.
func (c *Coverage) Split(v Span, part func(v Span, owner int)) {
	i := c.from(v.Start)
	if v.End <= v.Start {
		owner := -1
		if i < len(c.spans) && c.spans[i].Start <= v.Start {
			owner = c.spans[i].owner
		} else if by, ok := c.moments[v.Start]; ok {
			owner = by
		}
		part(v, owner)
		return
	}
	at := v.Start
	for ; i < len(c.spans) && c.spans[i].Start < v.End; i++ {
		taken := Span{max(v.Start, c.spans[i].Start), min(v.End, c.spans[i].End)}
		if at < taken.Start {
			part(Span{at, taken.Start}, -1)
		}
		part(taken, c.spans[i].owner)
		at = taken.End
	}
	if at < v.End {
		part(Span{at, v.End}, -1)
	}
}

// from is the position of the first claim that ends behind an instant.
func (c *Coverage) from(at int64) int {
	return sort.Search(len(c.spans), func(i int) bool { return c.spans[i].End > at })
}

// Add takes what is still free of the spans for an owner. A moment takes
// nothing but itself.
func (c *Coverage) Add(all []Span, owner int) {
	var fresh []claim
	for _, v := range Union(all) {
		c.Split(v, func(part Span, by int) {
			switch {
			case by >= 0:
			case part.End > part.Start:
				fresh = append(fresh, claim{part, owner})
			default:
				if c.moments == nil {
					c.moments = map[int64]int{}
				}
				c.moments[part.Start] = owner
			}
		})
	}
	c.insert(fresh)
}

// insert puts claims, which are in order too, among those that there are. A
// line of a thousand workouts does it a thousand times, so nothing that stands
// before them is touched.
func (c *Coverage) insert(fresh []claim) {
	old := len(c.spans) - 1
	c.spans = append(c.spans, fresh...)
	for at, left := len(c.spans)-1, len(fresh); left > 0; at-- {
		if old >= 0 && c.spans[old].Start > fresh[left-1].Start {
			c.spans[at] = c.spans[old]
			old--
		} else {
			left--
			c.spans[at] = fresh[left]
		}
	}
}

// Union sorts spans and joins those that overlap or touch. Moments outside of
// all others remain.
func Union(all []Span) []Span {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	out := all[:0]
	for _, v := range all {
		last := len(out) - 1
		switch {
		case last < 0 || v.Start > out[last].End:
		case v.Start < out[last].End, v.End > v.Start && out[last].End > out[last].Start, v == out[last]:
			out[last].End = max(out[last].End, v.End)
			continue
		}
		out = append(out, v)
	}
	return out
}
