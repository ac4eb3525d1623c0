package demo

import (
	"math"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
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
func (f *fillRun) begin(resource, word string, source wearables.Source) *series {
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

// addDuring adds a value that adds up over an interval, once the interval has ended.
func (s *series) addDuring(start, end time.Time, value float64) {
	if value <= 0 || start.Before(s.from) || end.After(s.to) {
		return
	}
	s.End = append(s.End, end.UnixMicro())
	s.Time, s.Value = append(s.Time, start.UnixMicro()), append(s.Value, value)
	s.Offset = append(s.Offset, s.p.offset(start))
}

// bedOn returns the bedtime in the evening of a day.
func (p *person) bedOn(date civil.Date) time.Time {
	r := p.random(date, aboutNight)
	return date.In(p.zone).Add(hours(12 + p.bedtime + 1.2*(r.Float64()-0.5))).Truncate(time.Minute)
}

// wakeOn returns the time of getting up in the morning of a day.
func (p *person) wakeOn(date civil.Date) time.Time {
	r := p.random(date.AddDays(-1), aboutNight)
	_ = r.Float64() // the way to bed
	return p.bedOn(date.AddDays(-1)).Add(hours(6.8 + 1.6*r.Float64())).Truncate(time.Minute)
}

// night returns the sleep that ends on a day, as stages. Light, deep, light and
// REM sleep repeat in cycles of about ninety minutes. Deep sleep is longer in
// early cycles, REM sleep in late ones.
func (p *person) night(date civil.Date) []derive.Segment {
	from, to := p.bedOn(date.AddDays(-1)), p.wakeOn(date)
	r := p.random(date.AddDays(-1), aboutNight)
	for range 2 { // the bounds
		_ = r.Float64()
	}
	var all []derive.Segment
	add := func(stage int8, minutes float64) {
		start := from
		if n := len(all); n > 0 {
			start = time.UnixMicro(all[n-1].End)
		}
		end := start.Add(time.Duration(minutes*2+0.5) * 30 * time.Second)
		if end.After(to) {
			end = to
		}
		if end.After(start) {
			all = append(all, derive.Segment{Start: start.UnixMicro(), End: end.UnixMicro(), Offset: p.offset(end), Stage: stage})
		}
	}
	add(derive.Awake, 4+16*r.Float64())
	for cycle := 0.0; len(all) == 0 || all[len(all)-1].End < to.UnixMicro(); cycle++ {
		add(derive.Light, 18+14*r.Float64())
		add(derive.Deep, max(0, 38-10*cycle)*(0.6+0.6*r.Float64()))
		add(derive.Light, 12+12*r.Float64())
		add(derive.REM, (8+6*cycle)*(0.7+0.6*r.Float64()))
		if r.Float64() < 0.35 {
			add(derive.Awake, 1+5*r.Float64())
		}
	}
	return all
}

// hearts adds the heart rates of a day: one every five minutes, and one a minute during a
// workout.
func (d *day) hearts(to *series) {
	r := d.random(d.date, aboutHeart)
	end := d.date.AddDays(1).In(d.zone)
	for at := d.midnight; at.Before(end); at = at.Add(5 * time.Minute) {
		noise := 2*r.Float64() - 1
		to.at(at, math.Round(d.pulse(at)+5*noise))
		if !d.sporting(at) {
			continue
		}
		for minute := 1; minute < 5; minute++ {
			to.at(at.Add(time.Duration(minute)*time.Minute), math.Round(d.pulse(at.Add(time.Duration(minute)*time.Minute))+3*noise))
		}
	}
}

// pulse returns the heart rate that matches the person's activity.
func (d *day) pulse(at time.Time) float64 {
	switch {
	case at.Before(d.wake) || !at.Before(d.bed): // asleep, slowest four hours before waking up
		return d.rest - 2 + 5*math.Cos(2*math.Pi*at.Sub(d.wake).Hours()/8)
	case d.sporting(at):
		warm := min(1, at.Sub(d.sport.start).Minutes()/8)
		return d.rest + d.reserve()*d.sport.effort*(0.6+0.4*warm)
	}
	steps := d.steps[min(perDay-1, int(at.Sub(d.midnight)/slot))]
	return d.rest + 11 + steps*0.03
}

// variability adds the HRV of the night that ends on a day. every is the time between two
// values: five minutes, or two hours as Apple measures it.
func (p *person) variability(date civil.Date, every time.Duration, to *series) {
	r := p.random(date, aboutVitals)
	usual := p.hrv * (0.8 + 0.4*r.Float64())
	for at := p.bedOn(date.AddDays(-1)).Add(20 * time.Minute); at.Before(p.wakeOn(date)); at = at.Add(every) {
		to.at(at, math.Round(10*max(8, usual+6*r.NormFloat64()))/10)
	}
}

// breath adds the respiratory rate and the blood oxygen of the night that ends on a day,
// every 30 minutes.
func (p *person) breath(date civil.Date, rate, oxygen *series) {
	r := p.random(date, aboutVitals)
	_ = r.Uint64()
	for at := p.bedOn(date.AddDays(-1)).Add(30 * time.Minute); at.Before(p.wakeOn(date)); at = at.Add(30 * time.Minute) {
		rate.at(at, math.Round(10*(13.5+0.8*r.NormFloat64()))/10)
		oxygen.at(at, math.Round(min(100, 96.6+0.7*r.NormFloat64())))
	}
}

// sugar adds the glucose of a day: a value every fifteen minutes, and a scan of the
// sensor after each meal.
func (d *day) sugar(automatic, scans *series) {
	r := d.random(d.date, aboutSugar)
	level := func(at time.Time) float64 {
		v := d.glucose
		for _, m := range d.meals {
			// A rise within the hour, gone after three.
			if h := at.Sub(m.at).Hours(); h > 0 && h < 5 {
				v += m.carbs / 70 * 2.6 * h * h * math.Exp(-2.1*h) * 7
			}
		}
		return v
	}
	end := d.date.AddDays(1).In(d.zone)
	for at := d.midnight; at.Before(end); at = at.Add(15 * time.Minute) {
		automatic.at(at, math.Round(10*max(3.4, level(at)+0.15*r.NormFloat64()))/10)
	}
	for _, m := range d.meals {
		at := m.at.Add(hours(1.5)).Truncate(time.Minute)
		scans.at(at, math.Round(10*level(at))/10)
	}
}

// moves adds the movement of a day: all that the watch counts, and the smaller part that
// the phone counts. The phone is on a table now and then.
func (d *day) moves(watch *movement, phone *series) {
	r := d.random(d.date, aboutSteps)
	for i, n := range d.steps {
		start := d.midnight.Add(time.Duration(i) * slot)
		end := start.Add(slot)
		seen := math.Round(n * (0.75 + 0.25*r.Float64()))
		carried := r.Float64() < 0.85
		if d.sporting(start) || d.sporting(end.Add(-time.Second)) {
			continue // its own intervals
		}
		watch.addDuring(start, end, n, n*d.stride, n*0.042)
		if carried && phone != nil {
			phone.addDuring(start, end, seen)
		}
	}
	if d.sport == nil {
		return
	}
	for at := d.sport.start; at.Before(d.sport.end); at = at.Add(5 * time.Minute) {
		end := at.Add(5 * time.Minute)
		if end.After(d.sport.end) {
			end = d.sport.end
		}
		minutes := end.Sub(at).Minutes()
		metres := d.sport.speed * minutes * 60
		steps := math.Round(metres / (d.stride * 1.35))
		if d.sport.kind == "Cycling" {
			steps = 0
		}
		watch.addDuring(at, end, steps, metres, d.sport.kcal*minutes)
	}
}

// movement contains the series of a day's movement.
type movement struct{ steps, distance, active *series }

func (f *fillRun) movement(source wearables.Source) *movement {
	return &movement{f.begin("steps", "", source), f.begin("distance", "", source), f.begin("calories_active", "", source)}
}

func (m *movement) addDuring(start, end time.Time, steps, metres, kcal float64) {
	m.steps.addDuring(start, end, steps)
	m.distance.addDuring(start, end, math.Round(10*metres)/10)
	m.active.addDuring(start, end, math.Round(100*kcal)/100)
}
