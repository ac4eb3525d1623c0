package blocks

import (
	"cmp"
	"slices"
)

// Increasing reports whether times are in order without duplicates. Blocks require
// this, and most sources provide it.
func Increasing(t []int64) bool {
	for i := 1; i < len(t); i++ {
		if t[i] <= t[i-1] {
			return false
		}
	}
	return true
}

// Sort returns the samples of c in time order. If several samples have the same time,
// it keeps the last one in c. repeated is the number of removed samples.
func Sort(c Columns) (sorted Columns, repeated int) {
	if Increasing(c.Time) {
		return c, 0
	}
	order := make([]int32, len(c.Time))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if d := cmp.Compare(c.Time[a], c.Time[b]); d != 0 {
			return d
		}
		return cmp.Compare(a, b)
	})
	kept := order[:0]
	for i, at := range order {
		if i+1 == len(order) || c.Time[order[i+1]] != c.Time[at] {
			kept = append(kept, at)
		}
	}
	return Pick(&c, kept), len(c.Time) - len(kept)
}

// Pick copies the samples at the given positions, in that order.
func Pick(c *Columns, at []int32) Columns {
	return Columns{
		Time: take(c.Time, at), End: take(c.End, at), Offset: take(c.Offset, at),
		Value: take(c.Value, at), Value2: take(c.Value2, at), Written: take(c.Written, at),
	}
}

func take[T any](from []T, at []int32) []T {
	if len(from) == 0 {
		return nil
	}
	to := make([]T, len(at))
	for i, j := range at {
		to[i] = from[j]
	}
	return to
}
