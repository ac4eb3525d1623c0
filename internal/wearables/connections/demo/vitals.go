package demo

import (
	"math"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
)

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
		watch.during(start, end, n, n*d.stride, n*0.042)
		if carried && phone != nil {
			phone.during(start, end, seen)
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
		watch.during(at, end, steps, metres, d.sport.kcal*minutes)
	}
}

// movement contains the series of a day's movement.
type movement struct{ steps, distance, active *series }

func (f *filling) movement(source wearables.Source) *movement {
	return &movement{f.begin("steps", "", source), f.begin("distance", "", source), f.begin("calories_active", "", source)}
}

func (m *movement) during(start, end time.Time, steps, metres, kcal float64) {
	m.steps.during(start, end, steps)
	m.distance.during(start, end, math.Round(10*metres)/10)
	m.active.during(start, end, math.Round(100*kcal)/100)
}
