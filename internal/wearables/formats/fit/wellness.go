package fit

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/muktihari/fit/kit/datetime"
	"github.com/muktihari/fit/profile/basetype"
	"github.com/muktihari/fit/profile/mesgdef"
	"github.com/muktihari/fit/profile/typedef"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
)

// takeStress stores the stress of a moment. A value below zero is a code for the reason
// why there is no measurement: too much movement, not worn.
func (p *part) takeStress(m *mesgdef.StressLevel) messageOutcome {
	if m.StressLevelValue < 0 || m.StressLevelValue > 100 {
		return badValue
	}
	return p.add("stress_level", "", m.StressLevelTime, float64(m.StressLevelValue))
}

// takeBreaths keeps breaths per minute. A value below zero is a code for the reason why
// there is no measurement. Zero is no measurement, too.
func (p *part) takeBreaths(m *mesgdef.RespirationRate) messageOutcome {
	if m.RespirationRate <= 0 {
		return badValue
	}
	return p.add("respiratory_rate", "", m.Timestamp, m.RespirationRateScaled())
}

func (p *part) takeOxygen(m *mesgdef.Spo2Data) messageOutcome {
	if m.ReadingSpo2 == 0 {
		return badValue
	}
	return p.add("blood_oxygen", "", m.Timestamp, whole8(m.ReadingSpo2))
}

func (p *part) takeVO2(m *mesgdef.MaxMetData) messageOutcome {
	return p.add("vo2_max", "", m.UpdateTime, m.Vo2MaxScaled())
}

// restingHeartRate is the resting heart rate of a day.
type restingHeartRate struct {
	at  int64
	bpm float64
}

// takeResting keeps the resting heart rate of the day. The average over a week is not a
// fact of a day.
func (p *part) takeResting(m *mesgdef.MonitoringHrData) messageOutcome {
	at, ok := instant(m.Timestamp)
	if !ok {
		return badDate
	}
	bpm := heartRateOrNaN(m.CurrentDayRestingHeartRate)
	if math.IsNaN(bpm) {
		return badValue
	}
	p.resting = append(p.resting, restingHeartRate{at, bpm})
	return mapped
}

func (f *fileContent) rest(s *files.Store) {
	for _, r := range f.resting {
		day := civil.DateOf(time.UnixMicro(r.at).UTC().Add(time.Duration(f.east()) * time.Second))
		s.Fact(day, derive.DayFacts{RestingBPM: &r.bpm})
	}
}

// east returns the offset for a calendar day in seconds east of UTC; 0 if it is unknown.
func (f *fileContent) east() int32 {
	if f.offset == wearables.NoOffset {
		return 0
	}
	return f.offset
}

// level is a stage of sleep from an instant on.
type level struct {
	at    int64
	stage int8
}

// stages maps the Profile's sleep_level. Unmeasurable time stays open.
var stages = map[typedef.SleepLevel]int8{
	typedef.SleepLevelAwake: derive.Awake, typedef.SleepLevelLight: derive.Light,
	typedef.SleepLevelDeep: derive.Deep, typedef.SleepLevelRem: derive.REM,
}

// maxLevels bounds the stages of one file: a month at one a minute.
const maxLevels = 50_000

func (p *part) takeLevel(m *mesgdef.SleepLevel) messageOutcome {
	at, ok := instant(m.Timestamp)
	if !ok {
		return badDate
	}
	if len(p.levels) >= maxLevels {
		return tooMany
	}
	stage, ok := stages[m.SleepLevel]
	if !ok {
		stage = unmeasuredStage
	}
	p.levels = append(p.levels, level{at, stage})
	if !ok {
		return badValue
	}
	return mapped
}

// unmeasuredStage is the stage of a level that is not a sleep stage, such as an unknown value.
// It only ends the previous stage, and sleep makes no segment of it.
const unmeasuredStage int8 = 0

// longestLevel bounds the length of a stage without a successor.
const longestLevel = int64(time.Hour / time.Microsecond)

// sleep turns the levels into segments. Each lasts until the next one.
func (f *fileContent) sleep(ctx context.Context, s *files.Store) error {
	if len(f.levels) == 0 {
		return nil
	}
	one := &derive.Sleeper{Source: f.source}
	for i, l := range f.levels {
		if l.stage == unmeasuredStage || i+1 == len(f.levels) {
			continue
		}
		end := min(f.levels[i+1].at, l.at+longestLevel)
		if end <= l.at {
			continue
		}
		if n := len(one.Segments); n > 0 && one.Segments[n-1].Stage == l.stage && one.Segments[n-1].End == l.at {
			one.Segments[n-1].End = end
			continue
		}
		one.Segments = append(one.Segments, derive.Segment{Start: l.at, End: end, Offset: f.offset, Stage: l.stage})
	}
	if f.cut {
		if err := f.sleptLonger(ctx, s, one); err != nil {
			return err
		}
	}
	if len(one.Segments) > 0 {
		s.Sleep(one)
	}
	return nil
}

// sleptLonger removes the night in which the file is cut off, if an earlier file stored
// more of that night.
func (f *fileContent) sleptLonger(ctx context.Context, s *files.Store, one *derive.Sleeper) error {
	n := len(one.Segments)
	if n == 0 {
		return nil
	}
	last := one.Segments[n-1].End
	known, err := f.stored(ctx, s, one.Segments[0].Start, last)
	for _, night := range known {
		if start := night.Start.UnixMicro(); night.Stop.UnixMicro() > last {
			one.Segments = slices.DeleteFunc(one.Segments, func(g derive.Segment) bool { return g.Start >= start })
		}
	}
	return err
}

// Fields hold the greatest number of their size where a value is missing.

func heartRateOrNaN(v uint8) float64 {
	if v == 0 { // the strap has no contact
		return math.NaN()
	}
	return whole8(v)
}

func whole8(v uint8) float64 {
	if v == basetype.Uint8Invalid {
		return math.NaN()
	}
	return float64(v)
}

func whole16(v uint16) float64 {
	if v == basetype.Uint16Invalid {
		return math.NaN()
	}
	return float64(v)
}

// firstNumber returns a, or b if a is NaN.
func firstNumber(a, b float64) float64 {
	if math.IsNaN(a) {
		return b
	}
	return a
}

// numberOrNil returns nil for NaN, a missing value.
func numberOrNil(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// positiveOrNil returns nil for missing values and for zero, because many devices write zero
// for values that they do not measure.
func positiveOrNil(v float64) *float64 {
	if math.IsNaN(v) || v <= 0 {
		return nil
	}
	return &v
}

// takeWeight keeps the measurements of a scale.
func (p *part) takeWeight(m *mesgdef.WeightScale) messageOutcome {
	if m.Weight == typedef.WeightInvalid || m.Weight == typedef.WeightCalculating {
		return badValue
	}
	if m.UserProfileIndex != typedef.MessageIndexInvalid {
		p.people[m.UserProfileIndex&typedef.MessageIndexMask] = true
	}
	if f := p.add("body_weight", "", m.Timestamp, float64(m.Weight)/100); f != mapped {
		return f
	}
	if m.PercentFat != basetype.Uint16Invalid {
		p.add("body_fat", "", m.Timestamp, m.PercentFatScaled())
	}
	if m.Bmi != basetype.Uint16Invalid {
		p.add("body_mass_index", "", m.Timestamp, m.BmiScaled())
	}
	return mapped
}

// takePressure keeps a measurement of blood pressure, mmHg, and the pulse that
// came with it.
func (p *part) takePressure(m *mesgdef.BloodPressure) messageOutcome {
	high, low := whole16(m.SystolicPressure), whole16(m.DiastolicPressure)
	if high != high || low != low { // NaN: one of the two is missing
		return badValue
	}
	if m.UserProfileIndex != typedef.MessageIndexInvalid {
		p.people[m.UserProfileIndex&typedef.MessageIndexMask] = true
	}
	if f := p.add("blood_pressure", "", m.Timestamp, high); f != mapped {
		return f
	}
	s := p.column("blood_pressure", "")
	s.Value2 = append(s.Value2, low)
	if bpm := heartRateOrNaN(m.HeartRate); bpm == bpm {
		p.add("heartrate", "", m.Timestamp, bpm)
	}
	return mapped
}

// onePerson refuses a scale's file with the weights of a household: nothing identifies
// the user's own, and a stranger's weight is worse than none.
func (p *part) onePerson() error {
	if len(p.people) > 1 {
		return fault.New(fault.Unprocessable, "the FIT file has measurements of several people; export those of one")
	}
	return nil
}

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

func (p *part) takeInfo(m *mesgdef.MonitoringInfo) messageOutcome {
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
func (p *part) takeMonitoring(m *mesgdef.Monitoring) messageOutcome {
	at, ok := p.counters.moment(m)
	if !ok {
		return badDate
	}
	micros, ok := instant(at)
	if !ok {
		return badDate
	}
	result := skipped
	if bpm := heartRateOrNaN(m.HeartRate); !math.IsNaN(bpm) {
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

// count reads a running total. The first total at the start of the file equals the last
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
