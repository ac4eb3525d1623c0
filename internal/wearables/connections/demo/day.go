package demo

import (
	"math"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
)

// slot is the time resolution of a day's movement.
const slot = 15 * time.Minute

const perDay = 96 // slots of a day with 24 hours

// day is the day of a demo person, from midnight to midnight.
type day struct {
	*person
	date     civil.Date
	midnight time.Time
	wake     time.Time // out of bed
	bed      time.Time // into bed, maybe after the next midnight
	steps    [perDay]float64
	sport    *sport
	meals    []meal
}

// sport is a workout.
type sport struct {
	kind       string // a name of HealthKit's list
	start, end time.Time
	effort     float64 // share of the reserve of the heart
	speed      float64 // m/s
	kcal       float64 // a minute
}

// meal is the time of a meal, and the amount of sugar in it.
type meal struct {
	at    time.Time
	carbs float64 // g
}

// dayOf generates a day.
func (p *person) dayOf(date civil.Date) *day {
	d := &day{person: p, date: date, midnight: date.In(p.zone)}
	d.wake = p.wakeOn(date)
	d.bed = p.bedOn(date)
	r := p.random(date, aboutDay)
	pace := p.keenness * (0.7 + 0.6*r.Float64())
	if r.Float64() < p.sporty {
		d.exercise(r.IntN(3), r.Float64())
	}
	for _, m := range []struct{ hour, carbs float64 }{{7.6, 55}, {12.6, 70}, {19, 75}} {
		at := d.midnight.Add(hours(m.hour + 0.7*(r.Float64()-0.5)))
		d.meals = append(d.meals, meal{at, math.Round(m.carbs * (0.6 + 0.8*r.Float64()))})
	}
	r = p.random(date, aboutSteps)
	for i := range d.steps {
		at := d.midnight.Add(time.Duration(i) * slot)
		moves, far := r.Float64() < 0.62, r.ExpFloat64()
		if moves && !at.Before(d.wake) && at.Before(d.bed) {
			d.steps[i] = math.Round(min(1500, pace*190*far))
		}
	}
	return d
}

// exercise adds a workout in the afternoon.
func (d *day) exercise(kind int, much float64) {
	s := &sport{start: d.midnight.Add(hours(16.5 + 2*much)).Truncate(time.Minute)}
	s.end = s.start.Add(time.Duration(25+int(40*much)) * time.Minute)
	switch kind {
	case 0:
		s.kind, s.effort, s.speed, s.kcal = "Running", 0.72+0.1*much, 2.6+0.6*much, 11
	case 1:
		s.kind, s.effort, s.speed, s.kcal = "Cycling", 0.62+0.1*much, 5.5+1.5*much, 8
	default:
		s.kind, s.effort, s.speed, s.kcal = "Walking", 0.38+0.1*much, 1.35+0.2*much, 4.5
	}
	d.sport = s
}

func hours(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }

// reserve returns the difference between the person's maximum and resting heart rate,
// bpm.
func (d *day) reserve() float64 { return 220 - float64(d.date.Year-d.birth.Year) - d.rest }

// sporting reports whether a moment is within the workout.
func (d *day) sporting(at time.Time) bool {
	return d.sport != nil && !at.Before(d.sport.start) && at.Before(d.sport.end)
}

// offset returns the UTC offset of the person's zone at a moment, in seconds east of UTC.
func (p *person) offset(at time.Time) int32 {
	_, seconds := at.In(p.zone).Zone()
	return int32(seconds)
}

// series collects samples of one kind.
type series struct {
	wearables.Samples
	p        *person
	from, to time.Time
}

// begin returns an empty series for the time that the filling covers.
func (f *filling) begin(resource, word string, source wearables.Source) *series {
	return &series{Samples: wearables.Samples{Resource: resource, Type: word, Source: source}, p: f.person, from: f.from, to: f.to}
}

// at adds a measurement, unless it is outside of that time.
func (s *series) at(at time.Time, value float64) {
	if at.Before(s.from) || !at.Before(s.to) {
		return
	}
	s.Time, s.Value = append(s.Time, at.UnixMicro()), append(s.Value, value)
	s.Offset = append(s.Offset, s.p.offset(at))
}

// during adds a value that adds up over an interval, once the interval has ended.
func (s *series) during(start, end time.Time, value float64) {
	if value <= 0 || start.Before(s.from) || end.After(s.to) {
		return
	}
	s.End = append(s.End, end.UnixMicro())
	s.Time, s.Value = append(s.Time, start.UnixMicro()), append(s.Value, value)
	s.Offset = append(s.Offset, s.p.offset(start))
}
