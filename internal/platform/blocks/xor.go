package blocks

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// An XOR stream contains the first value in full, and each further value as the
// difference in bits from the value before:
//
//	0                                the same value
//	10  bits                         within the window of the value before
//	11  leading:6 length-1:6  bits   a new window
//
// It is exact for every bit pattern. Only values that are not short decimals use it.
func appendXOR(dst []byte, v []float64) []byte {
	if len(v) == 0 {
		return dst
	}
	last := math.Float64bits(v[0])
	dst = binary.LittleEndian.AppendUint64(dst, last)
	w := bitWriter{dst: dst}
	lead, size := 0, 0
	for _, f := range v[1:] {
		x := math.Float64bits(f)
		diff := x ^ last
		last = x
		if diff == 0 {
			w.write(0, 1)
			continue
		}
		l, t := bits.LeadingZeros64(diff), bits.TrailingZeros64(diff)
		inside := size > 0 && l >= lead && t >= 64-lead-size
		if inside && size < 64-l-t+12 {
			w.write(0b01, 2)
		} else {
			lead, size = l, 64-l-t
			w.write(0b11, 2)
			w.write(uint64(lead), 6)
			w.write(uint64(size-1), 6)
		}
		w.write(diff>>(64-lead-size), size)
	}
	return w.close()
}

func (r *reader) xor(dst []float64) {
	if len(dst) == 0 {
		return
	}
	last := r.uint64()
	dst[0] = math.Float64frombits(last)
	b := bitReader{data: r.data}
	lead, size := 0, 0
	for i := range dst[1:] {
		if b.read(1) == 1 {
			if b.read(1) == 1 {
				lead, size = int(b.read(6)), int(b.read(6))+1
			}
			if size == 0 || lead+size > 64 {
				b.failed = true
			}
			if b.failed {
				break
			}
			last ^= b.read(size) << (64 - lead - size)
		}
		dst[i+1] = math.Float64frombits(last)
	}
	if r.failed || b.failed {
		r.fail()
		return
	}
	r.data = b.rest()
}

// bitWriter appends numbers of any width, lowest bit first.
type bitWriter struct {
	dst      []byte
	acc      uint64
	usedBits uint
}

func (w *bitWriter) write(x uint64, width int) {
	w.acc |= x << w.usedBits
	w.usedBits += uint(width)
	if w.usedBits >= 64 {
		w.dst = binary.LittleEndian.AppendUint64(w.dst, w.acc)
		w.usedBits -= 64
		w.acc = x >> (uint(width) - w.usedBits)
	}
}

func (w *bitWriter) close() []byte {
	for ; w.usedBits > 0; w.usedBits -= min(w.usedBits, 8) {
		w.dst = append(w.dst, byte(w.acc))
		w.acc >>= 8
	}
	return w.dst
}

// bitReader reads the output of bitWriter. After the end it returns zeros and sets bad.
type bitReader struct {
	data   []byte
	loaded int // bytes of data already in acc
	acc    uint64
	have   uint // bits left in acc
	failed bool
}

func (b *bitReader) read(width int) uint64 {
	w := uint(width)
	if b.have < w {
		return b.readAcross(w)
	}
	x := b.acc & (^uint64(0) >> (64 - w))
	b.acc >>= w
	b.have -= w
	return x
}

// readAcross reads a number that is only partly in the accumulator.
func (b *bitReader) readAcross(w uint) uint64 {
	low, have := b.acc, b.have
	b.load()
	need := w - have
	if b.have < need {
		b.failed = true
		return 0
	}
	high := b.acc & (^uint64(0) >> (64 - need))
	b.acc >>= need
	b.have -= need
	return low | high<<have
}

func (b *bitReader) load() {
	b.acc, b.have = 0, 0
	src := b.data[b.loaded:]
	if len(src) >= 8 {
		b.acc, b.have = binary.LittleEndian.Uint64(src), 64
		b.loaded += 8
		return
	}
	for _, c := range src {
		b.acc |= uint64(c) << b.have
		b.have += 8
	}
	b.loaded += len(src)
}

// rest returns the bytes after the last one that a bit was read from.
func (b *bitReader) rest() []byte { return b.data[b.loaded-int(b.have/8):] }
