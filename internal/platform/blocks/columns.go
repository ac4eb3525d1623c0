package blocks

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// MaxSamples is the maximum number of samples in one block. It limits the memory that a
// damaged or hostile block can make a reader allocate (44 MB).
const MaxSamples = 1 << 20

// NoOffset marks a sample whose source gave no time zone offset.
const NoOffset int32 = math.MinInt32

// Columns holds samples as slices of equal length, in time order, without duplicate
// times. End, Offset, Value2 and Written are nil if no sample has one. If only some
// samples have one, the others contain their own start, NoOffset, NaN or 0.
type Columns struct {
	Time   []int64   // UTC microseconds
	End    []int64   // UTC microseconds; the interval excludes End
	Offset []int32   // seconds east of UTC, or NoOffset
	Value  []float64 // any double, stored bit for bit
	Value2 []float64 // a second value of the same sample
	// Written says when each sample was stored, in any unit that grows with time.
	// Samples that differ in nothing but Written are equal.
	Written []int64
}

// Len returns the number of samples.
func (c *Columns) Len() int { return len(c.Time) }

// Reset removes the samples and keeps the memory. Optional columns become absent.
func (c *Columns) Reset() {
	c.Time, c.Value = c.Time[:0], c.Value[:0]
	c.End, c.Offset, c.Value2, c.Written = c.End[:0], c.Offset[:0], c.Value2[:0], c.Written[:0]
}

// Grow allocates memory for n more samples.
func (c *Columns) Grow(n int) {
	c.Time, c.Value = slices.Grow(c.Time, n), slices.Grow(c.Value, n)
}

// Slice returns the samples from i to before j. It shares memory with c.
func (c *Columns) Slice(i, j int) Columns {
	s := Columns{Time: c.Time[i:j], Value: c.Value[i:j]}
	if c.hasEnd() {
		s.End = c.End[i:j]
	}
	if c.hasOffset() {
		s.Offset = c.Offset[i:j]
	}
	if c.hasValue2() {
		s.Value2 = c.Value2[i:j]
	}
	if c.hasWritten() {
		s.Written = c.Written[i:j]
	}
	return s
}

// Append adds the samples of src after those of c, and fills optional columns that only
// one of the two has. The caller ensures the time order.
func (c *Columns) Append(src *Columns) { c.appendRange(src, 0, src.Len()) }

// An optional column is present if it has elements. A column that Reset emptied counts
// as absent.
func (c *Columns) hasEnd() bool     { return len(c.End) > 0 }
func (c *Columns) hasOffset() bool  { return len(c.Offset) > 0 }
func (c *Columns) hasValue2() bool  { return len(c.Value2) > 0 }
func (c *Columns) hasWritten() bool { return len(c.Written) > 0 }

func (c *Columns) appendRange(src *Columns, i, j int) {
	if i == j {
		return
	}
	c.fill(src.flags())
	if c.hasEnd() || src.hasEnd() {
		if src.hasEnd() {
			c.End = append(c.End, src.End[i:j]...)
		} else {
			c.End = append(c.End, src.Time[i:j]...)
		}
	}
	if c.hasOffset() || src.hasOffset() {
		if src.hasOffset() {
			c.Offset = append(c.Offset, src.Offset[i:j]...)
		} else {
			c.Offset = appendSame(c.Offset, NoOffset, j-i)
		}
	}
	if c.hasValue2() || src.hasValue2() {
		if src.hasValue2() {
			c.Value2 = append(c.Value2, src.Value2[i:j]...)
		} else {
			c.Value2 = appendSame(c.Value2, math.NaN(), j-i)
		}
	}
	if c.hasWritten() || src.hasWritten() {
		if src.hasWritten() {
			c.Written = append(c.Written, src.Written[i:j]...)
		} else {
			c.Written = appendSame(c.Written, 0, j-i)
		}
	}
	c.Time = append(c.Time, src.Time[i:j]...)
	c.Value = append(c.Value, src.Value[i:j]...)
}

// fill adds the optional columns of the flags to the samples that are in c already.
func (c *Columns) fill(flags byte) {
	n := len(c.Time)
	if flags&flagEnd != 0 && !c.hasEnd() {
		c.End = append(c.End[:0], c.Time...)
	}
	if flags&flagOffset != 0 && !c.hasOffset() {
		c.Offset = appendSame(c.Offset[:0], NoOffset, n)
	}
	if flags&flagValue2 != 0 && !c.hasValue2() {
		c.Value2 = appendSame(c.Value2[:0], math.NaN(), n)
	}
	if flags&flagWritten != 0 && !c.hasWritten() {
		c.Written = appendSame(c.Written[:0], 0, n)
	}
}

func appendSame[T any](s []T, v T, n int) []T {
	s = slices.Grow(s, n)
	for range n {
		s = append(s, v)
	}
	return s
}

var errOrder = errors.New("blocks: times must increase")

func (c *Columns) check() error {
	n := len(c.Time)
	if n > MaxSamples {
		return fmt.Errorf("blocks: %d samples are more than the %d a block holds", n, MaxSamples)
	}
	for _, m := range [...]int{len(c.Value), orN(len(c.End), n), orN(len(c.Offset), n), orN(len(c.Value2), n), orN(len(c.Written), n)} {
		if m != n {
			return fmt.Errorf("blocks: a column has %d elements for %d times", m, n)
		}
	}
	return nil
}

func orN(got, n int) int {
	if got == 0 {
		return n
	}
	return got
}

// Truncate removes all samples after the first n.
func (c *Columns) Truncate(n int) {
	c.Time, c.Value = c.Time[:n], c.Value[:n]
	c.End, c.Offset, c.Value2, c.Written = firstN(c.End, n), firstN(c.Offset, n), firstN(c.Value2, n), firstN(c.Written, n)
}

// Cut removes the samples from i to before j.
func (c *Columns) Cut(i, j int) {
	c.Time, c.Value = slices.Delete(c.Time, i, j), slices.Delete(c.Value, i, j)
	if c.hasEnd() {
		c.End = slices.Delete(c.End, i, j)
	}
	if c.hasOffset() {
		c.Offset = slices.Delete(c.Offset, i, j)
	}
	if c.hasValue2() {
		c.Value2 = slices.Delete(c.Value2, i, j)
	}
	if c.hasWritten() {
		c.Written = slices.Delete(c.Written, i, j)
	}
}

func firstN[T any](s []T, n int) []T {
	if len(s) == 0 {
		return s
	}
	return s[:n]
}
