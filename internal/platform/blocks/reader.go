package blocks

import "encoding/binary"

// reader reads a block. After the first error every read returns zeros, so callers
// check once, at the end of a column.
type reader struct {
	data   []byte
	failed bool
}

func (r *reader) fail() { r.data, r.failed = nil, true }

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
		for len(dst) > 0 && !r.failed {
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
		if r.failed || n == 0 || n > uint64(len(dst)) {
			r.fail()
			return
		}
		for i := range dst[:n] {
			dst[i] = x
		}
		dst = dst[n:]
	}
}

// padding is the number of bytes after the packed ones that unpackBits may read.
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
