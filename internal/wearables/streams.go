package wearables

import (
	"errors"
	"math"
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
