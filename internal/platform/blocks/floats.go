package blocks

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// A column of values starts with its scale: the least power of ten that makes all
// values whole numbers. If there is none up to maxScale, the scale is asXOR.
const (
	maxScale = 6
	asXOR    = 7
)

// maxScaled limits a scaled value, so that the sum of a full block fits an int64 and
// each value is exact as a double.
const maxScaled = 1 << 42

var powers = [maxScale + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6}

// AppendFloats appends v as a separate column, for example of a workout stream.
func AppendFloats(dst []byte, v []float64) []byte {
	s := takeScratch()
	defer s.free()
	scale := s.scale(v)
	return s.appendValues(append(dst, scale), v, scale)
}

// Floats reads n values that AppendFloats wrote, appends them to dst, and returns the
// bytes after them.
func Floats(dst []float64, data []byte, n int) (values []float64, rest []byte, err error) {
	if n < 0 || n > MaxSamples {
		return dst, data, errCount
	}
	r := reader{data: data}
	scale := r.byte()
	values = r.values(dst, n, scale)
	if r.failed {
		return dst, data, errDamaged
	}
	return values, r.data, nil
}

// scale returns the least power of ten for v and stores the scaled values in s.ints.
func (s *scratch) scale(v []float64) byte {
	s.ints = resizeSlice(s.ints, len(v))
	for k := 0; ; {
		i := toInts(s.ints, v, k)
		if i == len(v) {
			return byte(k)
		}
		var one [1]int64
		for k++; k <= maxScale && toInts(one[:], v[i:i+1], k) == 0; {
			k++
		}
		if k > maxScale {
			return asXOR
		}
	}
}

// toInts scales v by 10^k into dst. It returns the index of the first value that does
// not convert back bit for bit, or len(v).
func toInts(dst []int64, v []float64, k int) int {
	dst = dst[:len(v)]
	if k == 0 {
		for i, f := range v {
			x := int64(f)
			if math.Float64bits(float64(x)) != math.Float64bits(f) || x > maxScaled || x < -maxScaled {
				return i
			}
			dst[i] = x
		}
		return len(v)
	}
	p := powers[k]
	for i, f := range v {
		x := int64(math.RoundToEven(f * p))
		if math.Float64bits(float64(x)/p) != math.Float64bits(f) || x > maxScaled || x < -maxScaled {
			return i
		}
		dst[i] = x
	}
	return len(v)
}

// appendValues appends v, using the scaled form that scale stored in s.ints.
func (s *scratch) appendValues(dst []byte, v []float64, scale byte) []byte {
	if scale == asXOR {
		return appendXOR(dst, v)
	}
	return s.appendScaled(dst, s.ints[:len(v)])
}

// deltaBit in the width byte of a group means that the group contains differences
// between neighbors (zigzag) instead of differences from the minimum.
const deltaBit = 0x80

func (s *scratch) appendScaled(dst []byte, v []int64) []byte {
	s.uints = resizeSlice(s.uints, packSize)
	last := int64(0)
	for len(v) > 0 {
		group := v[:min(packSize, len(v))]
		v = v[len(group):]
		u := s.uints[:len(group)]
		lo, hi, all := group[0], group[0], uint64(0)
		before := group[0]
		for i, x := range group {
			lo, hi = min(lo, x), max(hi, x)
			z := zigzag(x - before)
			u[i] = z
			all |= z
			before = x
		}
		frame, delta := bits.Len64(uint64(hi-lo)), bits.Len64(all)
		frameSize := uvarintLen(zigzag(lo)) + bytesFor(len(group), frame)
		deltaSize := uvarintLen(zigzag(group[0]-last)) + bytesFor(len(group)-1, delta)
		if deltaSize < frameSize {
			dst = binary.AppendUvarint(append(dst, byte(delta)|deltaBit), zigzag(group[0]-last))
			dst = packBits(dst, u[1:], 0, delta)
		} else {
			for i, x := range group {
				u[i] = uint64(x - lo)
			}
			dst = binary.AppendUvarint(append(dst, byte(frame)), zigzag(lo))
			dst = packBits(dst, u, 0, frame)
		}
		last = before
	}
	return dst
}

func zigzag(x int64) uint64 { return uint64(x)<<1 ^ uint64(x>>63) }

func unzigzag(x uint64) int64 { return int64(x>>1) ^ -int64(x&1) }

// values reads n values of a column and appends them to dst.
func (r *reader) values(dst []float64, n int, scale byte) []float64 {
	at := len(dst)
	dst = extend(dst, n)
	switch {
	case scale <= maxScale:
		r.scaled(dst[at:], powers[scale])
	case scale == asXOR:
		r.xor(dst[at:])
	default:
		r.fail()
	}
	return dst
}

func (r *reader) scaled(dst []float64, p float64) {
	var group [packSize]uint64
	last := int64(0)
	for len(dst) > 0 && !r.failed {
		out := dst[:min(packSize, len(dst))]
		dst = dst[len(out):]
		width, first := r.byte(), r.varint()
		if width&deltaBit == 0 {
			u := group[:len(out)]
			r.unpack(u, int(width))
			for i := range out {
				last = first + int64(u[i])
				out[i] = float64(last)
			}
		} else {
			u := group[:len(out)-1]
			r.unpack(u, int(width&^deltaBit))
			last += first
			out[0] = float64(last)
			for i, z := range u {
				last += unzigzag(z)
				out[i+1] = float64(last)
			}
		}
		if p != 1 {
			for i := range out {
				out[i] /= p
			}
		}
	}
}
