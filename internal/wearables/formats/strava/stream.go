package strava

import (
	"math"

	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
)

var streamKeys = []string{"data", "series_type", "original_size"}

// columns maps types of streams to the field of a moment. All streams of an activity have
// the same length. The stream time has the seconds since the start. Places have two
// numbers and are handled separately.
//
// Reference: StreamSet.
var columns = map[string]func(*files.Moment) *float64{
	"distance":        func(m *files.Moment) *float64 { return &m.Distance },  // m
	"altitude":        func(m *files.Moment) *float64 { return &m.Altitude },  // m
	"velocity_smooth": func(m *files.Moment) *float64 { return &m.Speed },     // m/s
	"heartrate":       func(m *files.Moment) *float64 { return &m.HeartRate }, // bpm
	"cadence":         func(m *files.Moment) *float64 { return &m.Cadence },   // a minute: revolutions, or strides
	"watts":           func(m *files.Moment) *float64 { return &m.Power },
	"temp":            func(m *files.Moment) *float64 { return &m.Temperature }, // °C
}

// streamTypes lists all types, in the order of reading.
var streamTypes = []string{
	"time", "latlng", "distance", "altitude", "velocity_smooth", "heartrate", "cadence", "watts", "temp", "moving", "grade_smooth",
}

// typeOf returns the type of a stream. It is a field of the document, or its name.
func typeOf(d replies.Document) string {
	if name := d.Text("type"); name != "" {
		return name
	}
	return d.Under
}

func isColumn(d replies.Document) bool {
	name := typeOf(d)
	return name == "time" || name == "latlng" || columns[name] != nil
}

func ofType(name string) func(replies.Document) bool {
	return func(d replies.Document) bool { return typeOf(d) == name }
}

// streams holds the streams of one activity.
type streams struct {
	activity string // its id, if the file states it
	n        int    // documents
	first    int64  // number of the first one among all streams of the file
	numbers  map[string][]*float64
	places   [][]float64
}

// has reports whether the streams have one of a type.
func (s *streams) has(name string) bool {
	if name == "latlng" {
		return s.places != nil
	}
	return s.numbers[name] != nil
}

// add reads a stream; a value may be missing. It drops values beyond the course.
func (s *streams) add(name string, d replies.Document) replies.Verdict {
	if name == "latlng" {
		return s.addPlaces(d)
	}
	var all []*float64
	switch {
	case !d.Into("data", &all) || all == nil:
		return replies.BadValue
	case len(all) > files.MaxMoments:
		return replies.TooMany
	}
	if s.numbers == nil {
		s.numbers = map[string][]*float64{}
	}
	s.numbers[name] = all
	return replies.Waits
}

func (s *streams) addPlaces(d replies.Document) replies.Verdict {
	var all [][]float64
	switch {
	case !d.Into("data", &all):
		return replies.BadValue
	case len(all) > files.MaxMoments:
		return replies.TooMany
	}
	for i, p := range all {
		if len(p) != 2 {
			all[i] = nil // no place
		}
	}
	s.places = all
	return replies.Waits
}

// size returns the number of moments. It is never 0, so that a limit also applies to
// empty streams.
func (s *streams) size() int {
	most := max(1, len(s.places))
	for _, all := range s.numbers {
		most = max(most, len(all))
	}
	return most
}

// course returns the streams as the moments of a workout. start is its start in UTC
// microseconds. The course is empty without times, with too many, and if the streams have
// different lengths.
func (s *streams) course(start int64, foot bool) files.Course {
	times := s.numbers["time"]
	if len(times) > files.MaxMoments || s.places != nil && len(s.places) != len(times) {
		return nil
	}
	for _, all := range s.numbers {
		if len(all) != len(times) {
			return nil
		}
	}
	var course files.Course
	for i, after := range times {
		if after == nil || *after < 0 || *after > files.LongestWorkout.Seconds() {
			continue
		}
		at := files.MomentAt(start + int64(*after*1e6))
		for name, to := range columns {
			if all := s.numbers[name]; all != nil && all[i] != nil {
				*to(&at) = *all[i]
			}
		}
		if foot {
			at.Cadence *= 2 // stored in steps
		}
		if at.HeartRate <= 0 { // not worn
			at.HeartRate = math.NaN()
		}
		if s.places != nil {
			place(&at, s.places[i])
		}
		course = append(course, at)
	}
	return course
}

func place(at *files.Moment, p []float64) {
	if len(p) == 2 && math.Abs(p[0]) <= 90 && math.Abs(p[1]) <= 180 {
		at.Lat, at.Lng = p[0], p[1]
	}
}
