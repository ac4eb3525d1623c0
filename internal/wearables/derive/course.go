package derive

import (
	"math"
	"slices"

	"hale/internal/wearables"
)

// Course is one quantity over a workout, in order of time.
type Course struct {
	Time  []int64 // UTC microseconds
	Value []float64
}

// near is the value at each time; NaN where none was measured close by, and
// nil when there is none at all.
func (c Course) near(times []int64) []float64 {
	return beatsAt(times, &track{wearables.Samples{Time: c.Time, Value: c.Value}})
}

// clock is the times that a stream without a route has: those of the heart
// rate, else of the quantity that was measured most often.
func (w *Workout) clock(heart *track) []int64 {
	if heart != nil && heart.Len() > 0 {
		return heart.Time
	}
	var most []int64
	for _, c := range []Course{w.Speeds, w.Powers, w.Cadences} {
		if len(c.Time) > len(most) {
			most = c.Time
		}
	}
	return most
}

// courses adds what the workout's own sensors measured to its stream. The
// speed of a place goes before that of a sensor.
func (w *Workout) courses(s *wearables.Stream) {
	s.Power, s.Cadence = w.Powers.near(s.Time), w.Cadences.near(s.Time)
	speeds := w.Speeds.near(s.Time)
	if s.Velocity == nil {
		s.Velocity = speeds
		return
	}
	s.Velocity = slices.Clone(s.Velocity)
	for i := range speeds {
		if math.IsNaN(s.Velocity[i]) {
			s.Velocity[i] = speeds[i]
		}
	}
}
