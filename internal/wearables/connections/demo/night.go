package demo

import (
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables/derive"
)

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
