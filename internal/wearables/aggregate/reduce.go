package aggregate

import (
	"math"
	"slices"

	"hale/internal/wearables/aggregate/query"
)

// reduce appends the value of an aggregate function over some rows, which are
// in order of time. Nulls are passed over.
func reduce(f query.Func, v *Vector, rows []int32, dst *Vector) {
	switch f {
	case query.Count:
		dst.appendNumber(float64(countOf(v, rows)))
	case query.Oldest, query.Newest, query.Min, query.Max:
		if at := chosen(f, v, rows); at >= 0 {
			dst.appendFrom(v, at)
			return
		}
		dst.appendNull()
	default:
		if result, ok := calculated(f, numbers(v, rows)); ok {
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

// chosen is the row that has the wanted value; -1 when all are null. Of equal
// values the earlier row counts.
func chosen(f query.Func, v *Vector, rows []int32) int {
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

// numbers are the values that are not null.
func numbers(v *Vector, rows []int32) []float64 {
	all := make([]float64, 0, len(rows))
	for _, i := range rows {
		if !v.Null[i] {
			all = append(all, v.Num[i])
		}
	}
	return all
}

// calculated is a function of numbers; ok is false where it has no value. The
// slice may be sorted on the way.
func calculated(f query.Func, all []float64) (result float64, ok bool) {
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

// sum adds with the error of each step carried along (Neumaier), so that a
// year of small steps adds up to what it should.
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
