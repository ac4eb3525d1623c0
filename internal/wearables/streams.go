package wearables

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"hale/internal/platform/blocks"
)

// NoWorkout is the reason for which a stream is refused without a workout, stored or in
// the batch.
const NoWorkout = "stream_without_workout"

// WorkoutStream is the resource name of streams in results and events.
const WorkoutStream = "workout_stream"

// column is one array of a stream on the wire.
type column struct {
	name    string
	integer bool
	values  *[]float64
}

// columns lists the arrays other than time, in the order they are stored. Append new
// ones.
//
// Reference 7.8.
func (s *Stream) columns() []column {
	return []column{
		{"cadence", false, &s.Cadence},
		{"heartrate", true, &s.HeartRate},
		{"distance", false, &s.Distance},
		{"altitude", false, &s.Altitude},
		{"velocity_smooth", false, &s.Velocity},
		{"lat", false, &s.Lat},
		{"lng", false, &s.Lng},
		{"power", false, &s.Power},
		{"resistance", false, &s.Resistance},
		{"temperature", false, &s.Temperature},
	}
}

// Span returns the time of a stream with elements.
func (s *Stream) Span() Range {
	return Range{time.UnixMicro(s.Time[0]).UTC(), time.UnixMicro(s.Time[len(s.Time)-1]).UTC()}
}

// HasSensors reports whether the stream has any column but heart rate.
func (s *Stream) HasSensors() bool {
	return slices.ContainsFunc(s.columns(), func(c column) bool { return c.name != "heartrate" && len(*c.values) > 0 })
}

// Check returns an error unless the columns have equal lengths and times increase.
func (s *Stream) Check() error {
	n := len(s.Time)
	if n == 0 || n > blocks.MaxSamples || !blocks.Increasing(s.Time) {
		return errStream
	}
	for _, c := range s.columns() {
		if len(*c.values) != 0 && len(*c.values) != n {
			return errStream
		}
	}
	return nil
}

var errStream = errors.New("wearables: not a stream")

// AppendStream appends the JSON of a stream: parallel arrays, time in unix seconds. An
// absent array is empty.
//
// Reference 7.8.
func AppendStream(dst []byte, s *Stream) []byte {
	dst = append(dst, `{"time":[`...)
	for i, t := range s.Time {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, time.UnixMicro(t).Unix(), 10)
	}
	dst = append(dst, ']')
	for _, c := range s.columns() {
		dst = append(AppendText(append(dst, ','), c.name), ":["...)
		for i, f := range *c.values {
			if i > 0 {
				dst = append(dst, ',')
			}
			if c.integer {
				f = math.Round(f)
			}
			dst = AppendNumber(dst, f)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// Versions of the stored form. Their layout is the same. In the second one the heart rate
// is from samples: see Stream.
const (
	streamVersion         = 1
	streamVersionOfHearts = 2
)

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
	version := byte(streamVersion)
	if s.HeartComputed {
		version = streamVersionOfHearts
	}
	dst := binary.AppendUvarint([]byte{version}, uint64(len(times)))
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
	if len(data) == 0 || data[0] != streamVersion && data[0] != streamVersionOfHearts {
		return nil, errStream
	}
	heartComputed := data[0] == streamVersionOfHearts
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
	s := &Stream{Time: times.Time, HeartComputed: heartComputed}
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
		return readSparseColumn(data[:size], data[size:], n)
	}
	return nil, nil, errStream
}

func readSparseColumn(bits, data []byte, n int) (v []float64, rest []byte, err error) {
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
