package blocks

import (
	"encoding/binary"
	"slices"
	"sync"
)

// Append appends the encoded columns to dst. It refuses more than MaxSamples, slices of
// unequal length, and times that do not increase.
func Append(dst []byte, c *Columns) ([]byte, error) {
	if err := c.check(); err != nil {
		return dst, err
	}
	n := len(c.Time)
	dst = append(dst, Version, c.flags())
	dst = binary.AppendUvarint(dst, uint64(n))
	if n == 0 {
		return dst, nil
	}
	s := takeScratch()
	defer s.free()

	steps, unit, err := s.steps(c.Time)
	if err != nil {
		return dst, err
	}
	scale := s.scale(c.Value)
	dst = binary.AppendUvarint(dst, zigzag(c.Time[0]))
	dst = binary.AppendUvarint(dst, unit)
	dst = appendTotals(append(dst, scale), c.Value, s.ints[:n], scale)
	if n > 1 {
		dst = appendUints(dst, steps)
	}
	dst = s.appendValues(dst, c.Value, scale)
	if c.hasEnd() {
		durations, unit := s.durations(c.Time, c.End)
		dst = appendUints(binary.AppendUvarint(dst, unit), durations)
	}
	if c.hasOffset() {
		dst = appendOffsets(dst, c.Offset)
	}
	if c.hasValue2() {
		scale := s.scale(c.Value2)
		dst = s.appendValues(append(dst, scale), c.Value2, scale)
	}
	if c.hasWritten() {
		dst = binary.AppendUvarint(dst, zigzag(c.Written[0]))
		dst = appendUints(dst, s.differences(c.Written))
	}
	return dst, nil
}

func (c *Columns) flags() byte {
	f := byte(0)
	if c.hasEnd() {
		f |= flagEnd
	}
	if c.hasOffset() {
		f |= flagOffset
	}
	if c.hasValue2() {
		f |= flagValue2
	}
	if c.hasWritten() {
		f |= flagWritten
	}
	return f
}

// steps returns the differences between successive times as multiples of their greatest
// common divisor, which is the unit.
func (s *scratch) steps(t []int64) (steps []uint64, unit uint64, err error) {
	steps = resizeSlice(s.steps64, len(t)-1)
	s.steps64 = steps
	for i := range steps {
		if t[i+1] <= t[i] {
			return nil, 0, errOrder
		}
		steps[i] = uint64(t[i+1]) - uint64(t[i])
	}
	unit = divideAll(steps)
	return steps, unit, nil
}

// durations returns end minus start as multiples of the greatest common divisor. The
// subtraction may wrap around, which decoding reverses, so any pair of times is exact.
func (s *scratch) durations(t, end []int64) (durations []uint64, unit uint64) {
	durations = resizeSlice(s.steps64, len(t))
	s.steps64 = durations
	for i := range durations {
		durations[i] = uint64(end[i]) - uint64(t[i])
	}
	return durations, divideAll(durations)
}

// differences returns the zigzag of each number minus the one before.
func (s *scratch) differences(v []int64) []uint64 {
	differences := resizeSlice(s.steps64, len(v)-1)
	s.steps64 = differences
	for i := range differences {
		differences[i] = zigzag(v[i+1] - v[i])
	}
	return differences
}

// divideAll divides v by its greatest common divisor and returns the divisor: 0 if v is
// empty or contains only zeros.
func divideAll(v []uint64) uint64 {
	unit, last := uint64(0), uint64(0)
	for _, x := range v {
		if x == last {
			continue
		}
		last = x
		if unit = gcd(unit, x); unit == 1 {
			return 1
		}
	}
	if unit < 2 {
		return unit
	}
	last, quotient := uint64(0), uint64(0)
	for i, x := range v {
		if x != last {
			last, quotient = x, x/unit
		}
		v[i] = quotient
	}
	return unit
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func appendOffsets(dst []byte, v []int32) []byte {
	for i := 0; i < len(v); {
		j := i + 1
		for j < len(v) && v[j] == v[i] {
			j++
		}
		dst = binary.AppendUvarint(dst, zigzag(int64(v[i])))
		dst = binary.AppendUvarint(dst, uint64(j-i))
		i = j
	}
	return dst
}

// scratch is the working memory of one Append.
type scratch struct {
	steps64 []uint64
	uints   []uint64
	ints    []int64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func takeScratch() *scratch { return scratches.Get().(*scratch) }

// keepSamples limits the working memory that is kept between calls.
const keepSamples = 1 << 16

func (s *scratch) free() {
	if cap(s.steps64) <= keepSamples && cap(s.ints) <= keepSamples {
		scratches.Put(s)
	}
}

// resizeSlice returns a slice of n elements with undefined content.
func resizeSlice[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, max(n, 1024))
	}
	return s[:n]
}

// extend returns s with n more elements of undefined content.
func extend[T any](s []T, n int) []T {
	return slices.Grow(s, n)[:len(s)+n]
}
