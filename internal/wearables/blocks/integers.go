package blocks

import (
	"encoding/binary"
	"math/bits"
)

// packSize is how many numbers share one width of packed bits.
const packSize = 128

// How a column of whole numbers is written; its first byte.
const (
	asRuns   = 0 // (value, how often) pairs
	asPacked = 1 // groups of packSize: least value, width, packed differences
)

// appendUints writes v as runs or as packed bits, whichever is shorter.
func appendUints(dst []byte, v []uint64) []byte {
	packed := packedSize(v)
	if 2*countRuns(v) <= packed {
		at := len(dst)
		dst = appendRuns(append(dst, asRuns), v)
		if len(dst)-at <= packed+1 {
			return dst
		}
		dst = dst[:at]
	}
	dst = append(dst, asPacked)
	for len(v) > 0 {
		group := v[:min(packSize, len(v))]
		v = v[len(group):]
		lo, hi := leastGreatest(group)
		dst = binary.AppendUvarint(dst, lo)
		dst = append(dst, byte(bits.Len64(hi-lo)))
		dst = packBits(dst, group, lo, bits.Len64(hi-lo))
	}
	return dst
}

func countRuns(v []uint64) int {
	n, last := 0, uint64(0)
	for i, x := range v {
		if i == 0 || x != last {
			n++
		}
		last = x
	}
	return n
}

func appendRuns(dst []byte, v []uint64) []byte {
	for i := 0; i < len(v); {
		j := i + 1
		for j < len(v) && v[j] == v[i] {
			j++
		}
		dst = binary.AppendUvarint(dst, v[i])
		dst = binary.AppendUvarint(dst, uint64(j-i))
		i = j
	}
	return dst
}

func packedSize(v []uint64) int {
	size := 0
	for len(v) > 0 {
		group := v[:min(packSize, len(v))]
		v = v[len(group):]
		lo, hi := leastGreatest(group)
		size += uvarintLen(lo) + 1 + bytesFor(len(group), bits.Len64(hi-lo))
	}
	return size
}

func leastGreatest(v []uint64) (lo, hi uint64) {
	lo, hi = v[0], v[0]
	for _, x := range v[1:] {
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo, hi
}

func uvarintLen(x uint64) int { return (bits.Len64(x|1) + 6) / 7 }

// bytesFor is the room that n numbers of width bits take.
func bytesFor(n, width int) int { return (n*width + 7) / 8 }

// packBits writes v[i]-base in width bits each, lowest bit first.
func packBits(dst []byte, v []uint64, base uint64, width int) []byte {
	if width == 0 {
		return dst
	}
	var acc uint64
	w, used := uint(width), uint(0)
	for _, x := range v {
		x -= base
		acc |= x << used
		used += w
		if used >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, acc)
			used -= 64
			acc = x >> (w - used)
		}
	}
	for ; used > 0; used -= min(used, 8) {
		dst = append(dst, byte(acc))
		acc >>= 8
	}
	return dst
}

// reader walks over a block. After the first fault every read gives zeros, so
// that callers check once, at the end of a column.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) fail() { r.data, r.bad = nil, true }

func (r *reader) byte() byte {
	if len(r.data) == 0 {
		r.fail()
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

func (r *reader) uvarint() uint64 {
	x, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return x
}

func (r *reader) varint() int64 {
	x := r.uvarint()
	return int64(x>>1) ^ -int64(x&1)
}

func (r *reader) uint64() uint64 {
	if len(r.data) < 8 {
		r.fail()
		return 0
	}
	x := binary.LittleEndian.Uint64(r.data)
	r.data = r.data[8:]
	return x
}

// uints reads len(dst) numbers that appendUints wrote.
func (r *reader) uints(dst []uint64) {
	switch r.byte() {
	case asRuns:
		r.runs(dst)
	case asPacked:
		for len(dst) > 0 && !r.bad {
			group := dst[:min(packSize, len(dst))]
			dst = dst[len(group):]
			base := r.uvarint()
			r.unpack(group, int(r.byte()))
			for i := range group {
				group[i] += base
			}
		}
	default:
		r.fail()
	}
}

func (r *reader) runs(dst []uint64) {
	for len(dst) > 0 {
		x, n := r.uvarint(), r.uvarint()
		if r.bad || n == 0 || n > uint64(len(dst)) {
			r.fail()
			return
		}
		for i := range dst[:n] {
			dst[i] = x
		}
		dst = dst[n:]
	}
}

// padding is how many bytes unpackBits may read behind the packed ones.
const padding = 9

// unpack reads up to packSize numbers of width bits.
func (r *reader) unpack(dst []uint64, width int) {
	size := bytesFor(len(dst), width)
	if width > 64 || size > len(r.data) {
		r.fail()
		return
	}
	src := r.data
	r.data = r.data[size:]
	if width == 0 {
		clear(dst)
		return
	}
	if len(src) < size+padding {
		var tail [packSize*8 + padding]byte
		copy(tail[:], src[:size])
		src = tail[:]
	}
	unpackBits(dst, src[:size+padding], uint(width))
}

func unpackBits(dst []uint64, src []byte, width uint) {
	mask := ^uint64(0) >> (64 - width)
	if width > 56 {
		for i := range dst {
			bit := uint(i) * width
			at, shift := bit>>3, bit&7
			x := binary.LittleEndian.Uint64(src[at:])>>shift | uint64(src[at+8])<<(64-shift)
			dst[i] = x & mask
		}
		return
	}
	bit := uint(0)
	for i := range dst {
		dst[i] = binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask
		bit += width
	}
}
