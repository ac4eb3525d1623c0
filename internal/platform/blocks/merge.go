package blocks

import "math"

// Changes describes the effect of a Merge. Created and Updated are positions in its
// result.
type Changes struct {
	Created   []int32
	Updated   []int32
	Unchanged int
}

// Reset removes the changes and keeps the memory.
func (ch *Changes) Reset() {
	ch.Created, ch.Updated, ch.Unchanged = ch.Created[:0], ch.Updated[:0], 0
}

// Merge appends the union of old and add to dst, which must be empty and distinct from
// both. If both have a sample at one time, the added one replaces the old one. An added
// sample without an offset gets the old offset. An equal one keeps the old Written.
//
// Spec: Events, timeseries ("a later sample with the same key replaces the earlier
// value").
func Merge(dst, old, add *Columns, ch *Changes) {
	i, from := 0, 0 // old samples before from are in dst; those from there to before i remain
	for j, t := range add.Time {
		i += countBefore(old.Time[i:], t)
		if i == len(old.Time) || old.Time[i] != t {
			dst.appendRange(old, from, i)
			from = i
			ch.Created = append(ch.Created, int32(dst.Len()))
			dst.appendRange(add, j, j+1)
			continue
		}
		if sameSample(old, i, add, j) {
			ch.Unchanged++
			i++
			continue
		}
		dst.appendRange(old, from, i)
		ch.Updated = append(ch.Updated, int32(dst.Len()))
		dst.appendRange(add, j, j+1)
		if old.offsetAt(i) != NoOffset && add.offsetAt(j) == NoOffset {
			dst.fill(flagOffset)
			dst.Offset[len(dst.Offset)-1] = old.Offset[i]
		}
		i++
		from = i
	}
	dst.appendRange(old, from, len(old.Time))
}

// countBefore returns the number of leading times before t. Most new samples are later
// than all old ones or near the last result, so it searches there first.
func countBefore(times []int64, t int64) int {
	n := len(times)
	if n == 0 || times[0] >= t {
		return 0
	}
	if times[n-1] < t {
		return n
	}
	lo, step := 0, 1
	for lo+step < n && times[lo+step] < t {
		lo += step
		step *= 2
	}
	hi := min(lo+step, n-1) // times[lo] < t <= times[hi]
	for lo+1 < hi {
		if mid := (lo + hi) / 2; times[mid] < t {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// sameSample reports whether adding sample j of add leaves sample i of old unchanged.
func sameSample(old *Columns, i int, add *Columns, j int) bool {
	if math.Float64bits(old.Value[i]) != math.Float64bits(add.Value[j]) || old.endAt(i) != add.endAt(j) {
		return false
	}
	if o := add.offsetAt(j); o != NoOffset && o != old.offsetAt(i) {
		return false
	}
	return equalFloats(old.value2At(i), add.value2At(j))
}

func equalFloats(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

func (c *Columns) endAt(i int) int64 {
	if c.hasEnd() {
		return c.End[i]
	}
	return c.Time[i]
}

func (c *Columns) offsetAt(i int) int32 {
	if c.hasOffset() {
		return c.Offset[i]
	}
	return NoOffset
}

func (c *Columns) value2At(i int) float64 {
	if c.hasValue2() {
		return c.Value2[i]
	}
	return math.NaN()
}
