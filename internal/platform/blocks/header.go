package blocks

import (
	"encoding/binary"
	"errors"
	"math"
)

// Version is the first byte of every encoded block.
const Version = 1

// Bits of the second byte of a block: the optional columns that it contains.
const (
	flagEnd     = 1 << 0
	flagOffset  = 1 << 1
	flagValue2  = 1 << 2
	flagWritten = 1 << 3
	flagsKnown  = flagEnd | flagOffset | flagValue2 | flagWritten
)

var (
	errDamaged = errors.New("blocks: damaged block")
	errVersion = errors.New("blocks: block of an unknown format version")
	errCount   = errors.New("blocks: block claims too many samples")
)

// Header is the summary at the start of a block. Totals and ranges need no decoding of
// the samples.
type Header struct {
	Count int
	First int64   // time of the first sample, UTC microseconds
	Sum   float64 // of the first value column; exact if the values are short decimals
	Min   float64
	Max   float64
}

// layout has the fields of a header that only decoding needs.
type layout struct {
	flags byte
	scale byte
	unit  uint64 // all time steps are multiples of unit, microseconds
}

func (r *reader) header() (h Header, l layout, err error) {
	if version := r.byte(); r.failed || version != Version {
		return h, l, errVersion
	}
	l.flags = r.byte()
	count := r.uvarint()
	if count > MaxSamples {
		return h, l, errCount
	}
	if h.Count = int(count); count > 0 {
		h.First = r.varint()
		l.unit = r.uvarint()
		l.scale = r.byte()
		r.totals(&h, l.scale)
	}
	if r.failed || l.flags&^flagsKnown != 0 {
		return h, l, errDamaged
	}
	return h, l, nil
}

func (r *reader) totals(h *Header, scale byte) {
	switch {
	case scale <= maxScale:
		lo := r.varint()
		hi := lo + int64(r.uvarint())
		p := powers[scale]
		h.Min, h.Max, h.Sum = float64(lo)/p, float64(hi)/p, float64(r.varint())/p
	case scale == asXOR:
		h.Min = math.Float64frombits(r.uint64())
		h.Max = math.Float64frombits(r.uint64())
		h.Sum = math.Float64frombits(r.uint64())
	default:
		r.fail()
	}
}

func appendTotals(dst []byte, v []float64, scaled []int64, scale byte) []byte {
	if scale != asXOR {
		lo, hi, sum := scaled[0], scaled[0], int64(0)
		for _, x := range scaled {
			lo, hi = min(lo, x), max(hi, x)
			sum += x
		}
		dst = binary.AppendUvarint(dst, zigzag(lo))
		dst = binary.AppendUvarint(dst, uint64(hi-lo))
		return binary.AppendUvarint(dst, zigzag(sum))
	}
	lo, hi, sum := v[0], v[0], 0.0
	for _, f := range v {
		lo, hi = min(lo, f), max(hi, f)
		sum += f
	}
	for _, f := range [...]float64{lo, hi, sum} {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
	}
	return dst
}
