package fit

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/muktihari/fit/profile/basetype"
	"github.com/muktihari/fit/profile/mesgdef"
	"github.com/muktihari/fit/profile/typedef"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
)

// takeStress stores the stress of a moment. A value below zero is a code for the reason
// why there is no measurement: too much movement, not worn.
func (p *part) takeStress(m *mesgdef.StressLevel) fate {
	if m.StressLevelValue < 0 || m.StressLevelValue > 100 {
		return badValue
	}
	return p.add("stress_level", "", m.StressLevelTime, float64(m.StressLevelValue))
}

// takeBreaths keeps breaths per minute. A value below zero is a code for the reason why
// there is no measurement. Zero is no measurement, too.
func (p *part) takeBreaths(m *mesgdef.RespirationRate) fate {
	if m.RespirationRate <= 0 {
		return badValue
	}
	return p.add("respiratory_rate", "", m.Timestamp, m.RespirationRateScaled())
}

func (p *part) takeOxygen(m *mesgdef.Spo2Data) fate {
	if m.ReadingSpo2 == 0 {
		return badValue
	}
	return p.add("blood_oxygen", "", m.Timestamp, whole8(m.ReadingSpo2))
}

func (p *part) takeVO2(m *mesgdef.MaxMetData) fate {
	return p.add("vo2_max", "", m.UpdateTime, m.Vo2MaxScaled())
}

// resting is the resting heart rate of a day.
type resting struct {
	at  int64
	bpm float64
}

// takeResting keeps the resting heart rate of the day. The average over a week is not a
// fact of a day.
func (p *part) takeResting(m *mesgdef.MonitoringHrData) fate {
	at, ok := instant(m.Timestamp)
	if !ok {
		return badDate
	}
	bpm := beats(m.CurrentDayRestingHeartRate)
	if math.IsNaN(bpm) {
		return badValue
	}
	p.resting = append(p.resting, resting{at, bpm})
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

func (p *part) takeLevel(m *mesgdef.SleepLevel) fate {
	at, ok := instant(m.Timestamp)
	if !ok {
		return badDate
	}
	if len(p.levels) >= maxLevels {
		return tooMany
	}
	stage, ok := stages[m.SleepLevel]
	if !ok {
		stage = unmeasured
	}
	p.levels = append(p.levels, level{at, stage})
	if !ok {
		return badValue
	}
	return mapped
}

// unmeasured is the stage of a level that is not a sleep stage, such as an unknown value.
// It only ends the previous stage, and sleep makes no segment of it.
const unmeasured int8 = 0

// longestLevel bounds the length of a stage without a successor.
const longestLevel = int64(time.Hour / time.Microsecond)

// sleep turns the levels into segments. Each lasts until the next one.
func (f *fileContent) sleep(ctx context.Context, s *files.Store) error {
	if len(f.levels) == 0 {
		return nil
	}
	one := &derive.Sleeper{Source: f.source}
	for i, l := range f.levels {
		if l.stage == unmeasured || i+1 == len(f.levels) {
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

func beats(v uint8) float64 {
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

// positive returns nil for missing values and for zero, because many devices write zero
// for values that they do not measure.
func positive(v float64) *float64 {
	if math.IsNaN(v) || v <= 0 {
		return nil
	}
	return &v
}
