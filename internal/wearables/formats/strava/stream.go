package strava

import (
	"context"
	"math"
	"slices"
	"strings"

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

// activity is an activity that waits for its streams.
type activity struct {
	files.Recording
	foot bool
}

// Bounds of the waiting data: activities, and moments of streams. A stream
// waits if it comes before its activity or does not name it.
const (
	mostWaiting  = 1 << 12
	mostUnpaired = 1 << 19
)

// pairs brings streams and activities of a file together.
type pairs struct {
	read    int // activities
	waiting map[string]*activity
	order   []string // their ids, as they came
	open    *streams // that are being read
	closed  []*streams
	moments int // of those
}

// keep lets an activity wait for its streams. The details of one that is in
// the file already, as from a list, add to it.
func (m *reader) keep(a *activity) replies.Verdict {
	p := &m.pairs
	if was := p.waiting[a.ID]; was != nil && was.Start == a.Start {
		was.add(a)
		return replies.Copy
	}
	if len(p.waiting) >= mostWaiting {
		m.give()
	}
	if p.waiting == nil {
		p.waiting = map[string]*activity{}
	}
	if old := p.waiting[a.ID]; old != nil { // another one, by a file that was changed
		m.Recording(old.Recording)
	} else {
		p.order = append(p.order, a.ID)
	}
	p.read++
	p.waiting[a.ID] = a
	return replies.Mapped
}

// give stores the activities that wait, without streams.
func (m *reader) give() {
	for _, id := range m.pairs.order {
		if a := m.pairs.waiting[id]; a != nil {
			m.Recording(a.Recording)
		}
	}
	m.pairs.waiting, m.pairs.order = nil, nil
}

// add adds the values of another reply about the same activity.
func (a *activity) add(b *activity) {
	for _, f := range []struct{ to, from **float64 }{
		{&a.Moving, &b.Moving},
		{&a.Metres, &b.Metres},
		{&a.Kcal, &b.Kcal},
		{&a.Gain, &b.Gain},
		{&a.MeanBPM, &b.MeanBPM},
		{&a.MaxBPM, &b.MaxBPM},
		{&a.Watts, &b.Watts},
		{&a.MaxW, &b.MaxW},
		{&a.Speed, &b.Speed},
		{&a.MaxSpeed, &b.MaxSpeed},
		{&a.High, &b.High},
		{&a.Low, &b.Low},
		{&a.Weighted, &b.Weighted},
		{&a.Metered, &b.Metered},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
	if b.Polyline != "" {
		a.Polyline = b.Polyline
	}
	if b.Outline != "" {
		a.Outline = b.Outline
	}
}

// stream reads one stream. The streams of an activity are adjacent, with each
// type once.
func (m *reader) stream(d replies.Document) replies.Verdict {
	p := &m.pairs
	name, of := typeOf(d), activityOf(d)
	if p.open == nil || p.open.activity != of || p.open.has(name) {
		m.close()
		p.open = &streams{activity: of}
	}
	became := p.open.add(name, d)
	if became == replies.Waits {
		if p.open.n == 0 {
			p.open.first = m.Nth("stream")
		}
		p.open.n++
	}
	return became
}

// activityOf returns the id of the activity that contains a stream, is beside it, or is
// its key; empty if unknown.
func activityOf(d replies.Document) string {
	for at := d; !at.Empty(); at = at.Outer() {
		if id := at.Inner("activity").Word("id"); id != "" {
			return files.Text(id)
		}
		for _, name := range []string{"activity_id", "id"} {
			if id := at.Word(name); id != "" {
				return files.Text(id)
			}
		}
		if at.Under != "" && strings.Trim(at.Under, "0123456789") == "" {
			return files.Text(at.Under)
		}
	}
	return ""
}

// close ends the streams that are being read: they go to their activity, or
// wait for it.
func (m *reader) close() {
	p := &m.pairs
	s := p.open
	p.open = nil
	if s == nil || s.n == 0 || m.join(s) {
		return
	}
	if p.moments+s.size() > mostUnpaired {
		m.count(s, replies.TooMany)
		return
	}
	p.moments += s.size()
	p.closed = append(p.closed, s)
}

// join gives streams to the activity they are of, if it waits, and stores it.
func (m *reader) join(s *streams) bool {
	a := m.pairs.waiting[s.activity]
	if a == nil || s.activity == "" {
		return false
	}
	a.Course = s.course(a.Start, a.foot)
	if len(a.Course) == 0 {
		m.count(s, replies.BadValue)
		return true
	}
	m.count(s, replies.Mapped)
	m.Recording(a.Recording)
	delete(m.pairs.waiting, s.activity)
	m.pairs.order = slices.DeleteFunc(m.pairs.order, func(id string) bool { return id == s.activity })
	return true
}

func (m *reader) count(s *streams, v replies.Verdict) {
	for i := range s.n {
		m.Waited("stream", v, s.first+int64(i))
	}
}

// end pairs the remaining streams with activities, and stores all.
func (m *reader) end(context.Context) error {
	m.close()
	p := &m.pairs
	if only := p.order; p.read == 1 && len(only) == 1 && len(p.closed) == 1 && p.closed[0].activity == "" {
		p.closed[0].activity = only[0]
	}
	for _, s := range p.closed {
		if !m.join(s) {
			m.count(s, replies.Unpaired)
		}
	}
	p.closed = nil
	m.give()
	return nil
}
