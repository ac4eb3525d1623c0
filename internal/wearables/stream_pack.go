package wearables

import (
	"encoding/binary"
	"math"

	"hale/internal/platform/blocks"
)

const streamVersion = 1

// How an array of a stream is stored; its first byte.
const (
	arrayAbsent = 0
	arrayFull   = 1
	arrayHoles  = 2 // a bit per element: present or not
)

// Pack returns a stream in its stored form: version, the times as a block whose values
// are 0, then each array. See docs/sample-blocks.md.
func (s *Stream) Pack() ([]byte, error) {
	times, err := blocks.Append(nil, &blocks.Columns{Time: s.Time, Value: make([]float64, len(s.Time))})
	if err != nil {
		return nil, err
	}
	dst := binary.AppendUvarint([]byte{streamVersion}, uint64(len(times)))
	dst = append(dst, times...)
	for _, c := range s.columns() {
		dst = appendArray(dst, *c.values)
	}
	return dst, nil
}

func appendArray(dst []byte, v []float64) []byte {
	if len(v) == 0 {
		return append(dst, arrayAbsent)
	}
	there := make([]float64, 0, len(v))
	bits := make([]byte, (len(v)+7)/8)
	for i, f := range v {
		if f == f {
			there = append(there, f)
			bits[i/8] |= 1 << (i % 8)
		}
	}
	if len(there) == len(v) {
		return blocks.AppendFloats(append(dst, arrayFull), v)
	}
	dst = append(append(dst, arrayHoles), bits...)
	return blocks.AppendFloats(dst, there)
}

// UnpackStream reads the result of Pack. Any input is safe.
func UnpackStream(data []byte) (*Stream, error) {
	if len(data) == 0 || data[0] != streamVersion {
		return nil, errStream
	}
	size, n := binary.Uvarint(data[1:])
	data = data[1+max(n, 0):]
	if n <= 0 || size > uint64(len(data)) {
		return nil, errStream
	}
	var times blocks.Columns
	if err := blocks.Decode(&times, data[:size]); err != nil {
		return nil, err
	}
	data = data[size:]
	s := &Stream{Time: times.Time}
	for _, c := range s.columns() {
		var err error
		if *c.values, data, err = array(data, len(s.Time)); err != nil {
			return nil, err
		}
	}
	if len(data) > 0 {
		return nil, errStream
	}
	return s, nil
}

func array(data []byte, n int) (v []float64, rest []byte, err error) {
	if len(data) == 0 {
		return nil, nil, errStream
	}
	how, data := data[0], data[1:]
	switch how {
	case arrayAbsent:
		return nil, data, nil
	case arrayFull:
		return blocks.Floats(nil, data, n)
	case arrayHoles:
		size := (n + 7) / 8
		if len(data) < size {
			return nil, nil, errStream
		}
		return withHoles(data[:size], data[size:], n)
	}
	return nil, nil, errStream
}

func withHoles(bits, data []byte, n int) (v []float64, rest []byte, err error) {
	v = make([]float64, n)
	there := 0
	for i := range v {
		if bits[i/8]>>(i%8)&1 == 1 {
			there++
		}
	}
	values, rest, err := blocks.Floats(nil, data, there)
	if err != nil {
		return nil, nil, err
	}
	for i := range v {
		v[i] = math.NaN()
		if bits[i/8]>>(i%8)&1 == 1 {
			v[i], values = values[0], values[1:]
		}
	}
	return v, rest, nil
}
