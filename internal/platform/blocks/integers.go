package blocks

import (
	"encoding/binary"
	"math/bits"
)

// packSize is the number of values that share one bit width.
const packSize = 128

// The first byte of a column of whole numbers: its encoding.
const (
	asRuns   = 0 // (value, count) pairs
	asPacked = 1 // groups of packSize: minimum, width, packed differences
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

// bytesFor returns the size of n numbers of width bits.
func bytesFor(n, width int) int { return (n*width + 7) / 8 }

// packBits appends v[i]-base in width bits each, lowest bit first.
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
