package files

import (
	"cmp"
	"math"
	"slices"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
)

// Moment holds the values that a device recorded at one instant. Absent values are NaN.
type Moment struct {
	Time        int64   // UTC microseconds
	HeartRate   float64 // bpm
	Cadence     float64 // revolutions or steps per minute
	Power       float64 // W
	Speed       float64 // m/s
	Altitude    float64 // m
	Distance    float64 // m since the start
	Lat, Lng    float64 // degrees
	Temperature float64 // °C of the air
	Resistance  float64 // the machine's own unit
	Breaths     float64 // per minute
}

// MomentAt returns a moment with a time and no other value.
func MomentAt(micros int64) Moment {
	m := Moment{Time: micros}
	for _, c := range columns {
		*c.of(&m) = math.NaN()
	}
	return m
}

// Course is the sequence of a workout's moments.
type Course []Moment

// MaxMoments bounds one course: more than three days at one moment a second.
const MaxMoments = 1 << 18

// columns lists the values of a moment. to returns the field of a stream that holds the
// value; it is nil if streams have no such field.
var columns = []struct {
	of func(*Moment) *float64
	to func(*wearables.Stream) *[]float64
}{
	{func(m *Moment) *float64 { return &m.HeartRate }, func(s *wearables.Stream) *[]float64 { return &s.HeartRate }},
	{func(m *Moment) *float64 { return &m.Cadence }, func(s *wearables.Stream) *[]float64 { return &s.Cadence }},
	{func(m *Moment) *float64 { return &m.Power }, func(s *wearables.Stream) *[]float64 { return &s.Power }},
	{func(m *Moment) *float64 { return &m.Speed }, func(s *wearables.Stream) *[]float64 { return &s.Velocity }},
	{func(m *Moment) *float64 { return &m.Altitude }, func(s *wearables.Stream) *[]float64 { return &s.Altitude }},
	{func(m *Moment) *float64 { return &m.Distance }, func(s *wearables.Stream) *[]float64 { return &s.Distance }},
	{func(m *Moment) *float64 { return &m.Lat }, func(s *wearables.Stream) *[]float64 { return &s.Lat }},
	{func(m *Moment) *float64 { return &m.Lng }, func(s *wearables.Stream) *[]float64 { return &s.Lng }},
	{func(m *Moment) *float64 { return &m.Temperature }, func(s *wearables.Stream) *[]float64 { return &s.Temperature }},
	{func(m *Moment) *float64 { return &m.Resistance }, func(s *wearables.Stream) *[]float64 { return &s.Resistance }},
	{func(m *Moment) *float64 { return &m.Breaths }, nil},
}

// maxValue bounds the recorded values of a workout, in any unit.
const maxValue = 1e7

// tidy sorts the moments by time and removes impossible values. Devices may write several
// moments of one instant, one for each sensor. tidy merges these into one moment.
func (c Course) tidy() Course {
	for i := range c {
		for _, col := range columns {
			if v := col.of(&c[i]); math.Abs(*v) > maxValue {
				*v = math.NaN()
			}
		}
	}
	slices.SortStableFunc(c, func(a, b Moment) int { return cmp.Compare(a.Time, b.Time) })
	kept := c[:0]
	for _, m := range c {
		if n := len(kept); n > 0 && kept[n-1].Time == m.Time {
			for _, col := range columns {
				if v := *col.of(&m); !math.IsNaN(v) {
					*col.of(&kept[n-1]) = v
				}
			}
			continue
		}
		kept = append(kept, m)
	}
	return kept
}

// stream returns the course as the stream of a workout. It leaves out columns without any
// value.
func (c Course) stream(workout string) wearables.Stream {
	s := wearables.Stream{WorkoutKey: workout, Time: make([]int64, len(c))}
	for i := range c {
		s.Time[i] = c[i].Time
	}
	for _, col := range columns {
		if col.to == nil || !c.has(col.of) {
			continue
		}
		values := make([]float64, len(c))
		for i := range c {
			values[i] = *col.of(&c[i])
		}
		*col.to(&s) = values
	}
	return s
}

func (c Course) has(of func(*Moment) *float64) bool {
	for i := range c {
		if !math.IsNaN(*of(&c[i])) {
			return true
		}
	}
	return false
}

// route returns the places of the course, without the moments that have none.
func (c Course) route() []derive.Point {
	var points []derive.Point
	for _, m := range c {
		if !math.IsNaN(m.Lat) && !math.IsNaN(m.Lng) {
			points = append(points, derive.Point{Time: m.Time, Lat: m.Lat, Lng: m.Lng, Altitude: m.Altitude, Speed: m.Speed})
		}
	}
	return points
}

// samples returns the values of one column as a series, without absent values.
func (c Course) samples(resource string, of func(*Moment) *float64, source wearables.Source, offset int32) wearables.Samples {
	s := wearables.Samples{Resource: resource, Source: source}
	for i := range c {
		if v := *of(&c[i]); !math.IsNaN(v) {
			s.Time, s.Value, s.Offset = append(s.Time, c[i].Time), append(s.Value, v), append(s.Offset, offset)
		}
	}
	return s
}

// measure computes the distance from the start if the device did not record it and places
// are known. Pauses count as straight lines.
func (c Course) measure() {
	if c.has(func(m *Moment) *float64 { return &m.Distance }) {
		return
	}
	along, last := 0.0, -1
	for i := range c {
		if math.IsNaN(c[i].Lat) || math.IsNaN(c[i].Lng) {
			continue
		}
		if last >= 0 {
			along += metres(&c[last], &c[i])
		}
		c[i].Distance, last = math.Round(along*100)/100, i
	}
}

// metres returns the distance between two places in metres, on a sphere of the Earth's
// mean radius.
func metres(a, b *Moment) float64 {
	const radius, degree = 6371008.8, math.Pi / 180
	lat, lng := (b.Lat-a.Lat)*degree, (b.Lng-a.Lng)*degree
	h := math.Pow(math.Sin(lat/2), 2) + math.Cos(a.Lat*degree)*math.Cos(b.Lat*degree)*math.Pow(math.Sin(lng/2), 2)
	return 2 * radius * math.Asin(math.Min(1, math.Sqrt(h)))
}

// extent returns the least and the greatest value of a column, or nil for both if the
// column is empty.
func (c Course) extent(of func(*Moment) *float64) (low, high *float64) {
	for i := range c {
		v := *of(&c[i])
		if math.IsNaN(v) {
			continue
		}
		if low == nil || v < *low {
			low = &v
		}
		if high == nil || v > *high {
			high = &v
		}
	}
	return low, high
}
