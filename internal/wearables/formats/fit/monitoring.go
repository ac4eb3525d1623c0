package fit

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/muktihari/fit/kit/datetime"
	"github.com/muktihari/fit/profile/basetype"
	"github.com/muktihari/fit/profile/mesgdef"
	"github.com/muktihari/fit/profile/typedef"

	"hale/internal/wearables"
)

// counters are the running totals of monitoring. A device counts steps, metres and
// active energy for each type of activity separately and writes the totals. The stored
// value is the difference from the time before.
type counters struct {
	last   uint32 // the newest full timestamp, in seconds of FIT
	began  int64  // when the file begins, UTC microseconds; 0 when not known
	before map[counter]float64
	gained map[string]map[int64]float64 // by resource and time
	times  map[int64]bool               // of messages about an activity
}

// counter is one running total.
type counter struct {
	resource string
	activity typedef.ActivityType
}

func newCounters() counters {
	return counters{before: map[counter]float64{}, gained: map[string]map[int64]float64{}, times: map[int64]bool{}}
}

func (p *part) takeInfo(m *mesgdef.MonitoringInfo) fate {
	at, ok := instant(m.Timestamp)
	if !ok {
		return badDate
	}
	p.counters.began = at
	p.counters.last = datetime.ToUint32(m.Timestamp)
	p.setOffset(m.Timestamp, m.LocalTimestamp)
	return mapped
}

// takeMonitoring keeps the totals and the heart rate of a moment.
func (p *part) takeMonitoring(m *mesgdef.Monitoring) fate {
	at, ok := p.counters.moment(m)
	if !ok {
		return badDate
	}
	micros, ok := instant(at)
	if !ok {
		return badDate
	}
	result := skipped
	if bpm := beats(m.HeartRate); !math.IsNaN(bpm) {
		result = p.add("heartrate", "", at, bpm)
	}
	if m.ActivityType == typedef.ActivityTypeInvalid {
		return result
	}
	p.counters.times[micros] = true // a gain began at the message before
	total := func(resource string, v float64) {
		if !math.IsNaN(v) {
			p.counters.count(counter{resource, m.ActivityType}, micros, v)
			result = mapped
		}
	}
	total("steps", steps(m))
	total("distance", firstNumber(m.DistanceScaled(), whole16(m.Distance16)/100))
	total("calories_active", whole16(m.ActiveCalories))
	return result
}

// steps returns the total of steps in a message, or NaN for activities other than walking
// and running. A cycle on foot is two steps, and the field counts half cycles.
//
// FIT Profile, monitoring: cycles with its subfield steps.
func steps(m *mesgdef.Monitoring) float64 {
	if m.ActivityType != typedef.ActivityTypeWalking && m.ActivityType != typedef.ActivityTypeRunning {
		return math.NaN()
	}
	if m.Cycles != basetype.Uint32Invalid {
		return float64(m.Cycles)
	}
	return whole16(m.Cycles16)
}

// moment returns the time of a message. A message has a complete time or only its last
// two bytes, which continue from the last complete time.
func (c *counters) moment(m *mesgdef.Monitoring) (time.Time, bool) {
	if !m.Timestamp.IsZero() {
		c.last = datetime.ToUint32(m.Timestamp)
		return m.Timestamp, true
	}
	if m.Timestamp16 == basetype.Uint16Invalid || c.last == 0 {
		return time.Time{}, false
	}
	c.last += uint32(m.Timestamp16 - uint16(c.last))
	return datetime.ToTime(c.last), true
}

// count takes a running total. The first total at the start of the file equals the last
// one of the previous file. A total that falls has restarted.
func (c *counters) count(k counter, at int64, total float64) {
	before, seen := c.before[k]
	c.before[k] = total
	if !seen && (c.began == 0 || at <= c.began) {
		return
	}
	if total < before {
		before = 0
	}
	if gain := total - before; gain > 0 {
		if c.gained[k.resource] == nil {
			c.gained[k.resource] = map[int64]float64{}
		}
		c.gained[k.resource][at] += gain
	}
}

// countUp turns the gains into samples. Each sample begins at the time of the previous
// message, whatever its activity, so that samples do not overlap.
func (p *part) countUp() {
	c := &p.counters
	times := make([]int64, 0, len(c.times)+1)
	if c.began != 0 {
		times = append(times, c.began)
	}
	for at := range c.times {
		times = append(times, at)
	}
	slices.Sort(times)
	times = slices.Compact(times)
	for _, resource := range []string{"steps", "distance", "calories_active"} {
		var s wearables.Samples
		for i := 1; i < len(times); i++ {
			if gain, ok := c.gained[resource][times[i]]; ok {
				s.Time, s.End, s.Value = append(s.Time, times[i-1]), append(s.End, times[i]), append(s.Value, gain)
			}
		}
		if s.Len() > 0 {
			s.Resource = resource
			p.series = append(p.series, &s)
		}
	}
	slices.SortStableFunc(p.series, func(a, b *wearables.Samples) int { return cmp.Compare(a.Resource, b.Resource) })
}
