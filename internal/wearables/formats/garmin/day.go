package garmin

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// day adds the values of a document about a day. Several documents may be about one day.
// A later one only replaces the values that it states.
func (r *reader) day(day civil.Date, said replies.Activity) replies.Verdict {
	if said.HeartRate != nil && *said.HeartRate == (replies.HeartRate{}) {
		said.HeartRate = nil
	}
	bare := said
	bare.Offset = nil
	if bare == (replies.Activity{}) {
		return replies.BadValue
	}
	known := r.days[day]
	if known == nil {
		if r.days == nil {
			r.days = map[civil.Date]*replies.Activity{}
		}
		known = &replies.Activity{}
		r.days[day] = known
	}
	override(&known.Total, said.Total)
	override(&known.Active, said.Active)
	override(&known.Steps, said.Steps)
	override(&known.Distance, said.Distance)
	override(&known.Medium, said.Medium)
	override(&known.High, said.High)
	override(&known.Floors, said.Floors)
	override(&known.Offset, said.Offset)
	if said.HeartRate != nil {
		if known.HeartRate == nil {
			known.HeartRate = &replies.HeartRate{}
		}
		override(&known.HeartRate.Lowest, said.HeartRate.Lowest)
		override(&known.HeartRate.Highest, said.HeartRate.Highest)
		override(&known.HeartRate.Resting, said.HeartRate.Resting)
	}
	return replies.Mapped
}

func override[T any](known **T, said *T) {
	if said != nil {
		*known = said
	}
}

// endDays stores the days.
func (r *reader) endDays() {
	for _, day := range slices.SortedFunc(maps.Keys(r.days), civil.Date.Compare) {
		r.Activity(watch, day, *r.days[day])
	}
	r.days = nil
}

// pushedDay reads a daily summary. Its average heart rate is that of a week.
func (r *reader) pushedDay(d replies.Document) replies.Verdict {
	day, ok := d.Day("calendarDate")
	start, timed := r.start(d)
	if !ok || !timed {
		return replies.BadDate
	}
	r.offsets(d, "timeOffsetHeartRateSamples", start, hearts, "daily.timeOffsetHeartRateSamples")
	r.SkipFields("daily", d, "averageStressLevel", "bodyBatteryChargedValue")
	said := replies.Activity{
		Active: d.Amount("activeKilocalories"), Steps: d.Whole("steps"), Distance: d.Amount("distanceInMeters"), Floors: d.Whole("floorsClimbed"),
		Medium: d.Minutes("moderateIntensityDurationInSeconds"), High: d.Minutes("vigorousIntensityDurationInSeconds"),
		Offset: offsetOf(start.offset),
		HeartRate: &replies.HeartRate{
			Lowest: d.Positive("minHeartRateInBeatsPerMinute"), Highest: d.Positive("maxHeartRateInBeatsPerMinute"),
			Resting: d.Positive("restingHeartRateInBeatsPerMinute"),
		},
	}
	if basal := d.Amount("bmrKilocalories"); basal != nil && said.Active != nil {
		total := *basal + *said.Active
		said.Total = &total
	}
	return r.day(day, said)
}

// dayPage reads the summary of a day of Connect's.
func (r *reader) dayPage(d replies.Document) replies.Verdict {
	day, ok := d.Day("calendarDate")
	if !ok {
		return replies.BadDate
	}
	said := replies.Activity{
		Total: d.Amount("totalKilocalories"), Active: d.Amount("activeKilocalories"), Steps: d.Whole("totalSteps"),
		Distance: d.Amount("totalDistanceMeters"), Floors: d.Whole("floorsAscended"),
		Medium: d.Amount("moderateIntensityMinutes"), High: d.Amount("vigorousIntensityMinutes"),
		HeartRate: &replies.HeartRate{Lowest: d.Positive("minHeartRate"), Highest: d.Positive("maxHeartRate"), Resting: d.Positive("restingHeartRate")},
	}
	if start, ok := r.both(d, "wellnessStartTimeGmt", "wellnessStartTimeLocal"); ok {
		said.Offset = offsetOf(start.offset)
		r.latest(d, start.offset)
	}
	r.SkipFields("daily", d, "averageStressLevel", "bodyBatteryChargedValue", "avgWakingRespirationValue", "averageSpo2")
	return r.day(day, said)
}

// latest reads the last values of a day that have a time.
func (r *reader) latest(d replies.Document, offset int32) {
	for _, f := range []struct {
		value, at string
		of        series
	}{
		{"latestRespirationValue", "latestRespirationTimeGMT", breaths},
		{"latestSpo2", "latestSpo2ReadingTimeGmt", oxygen},
		{"latestSpO2", "latestSpO2TimestampGMT", oxygen},
	} {
		at, ok := clock(d.Raw(f.at))
		if v, stated := d.Number(f.value); ok && stated {
			r.value(f.of, moment{at, offset}, v, "daily."+f.value)
		}
	}
}

// stepsOfDay reads the steps of a day by themselves.
func (r *reader) stepsOfDay(d replies.Document) replies.Verdict {
	day, ok := d.Day("calendarDate")
	if !ok {
		return replies.BadDate
	}
	return r.day(day, replies.Activity{Steps: d.Whole("totalSteps"), Distance: d.Amount("totalDistance")})
}

var (
	stepCount = sheet.Key{Resource: "steps", Source: watch}
	distance  = sheet.Key{Resource: "distance", Source: watch}
	energy    = sheet.Key{Resource: "calories_active", Source: watch}
)

// epochKey identifies an epoch. A quarter of an hour has one epoch for each type of
// activity.
type epochKey struct {
	start int64 // UTC microseconds
	kind  string
}

type epoch struct {
	offset              int32
	seconds             float64
	steps, metres, kcal *float64
}

// quarter is the length of epochs, in seconds. The time of one is the part that its
// activity took.
const quarter = 900

// mostEpochs bounds those of a file: five years of three a quarter.
const mostEpochs = 1 << 19

// epoch reads the activity of a quarter of an hour. A later version of an epoch replaces
// it.
func (r *reader) epoch(d replies.Document) replies.Verdict {
	start, ok := r.start(d)
	length := d.Amount("durationInSeconds")
	if !ok || length == nil || *length > 86400 {
		return replies.BadDate
	}
	one := epoch{
		offset: start.offset, seconds: max(*length, quarter),
		steps: d.Amount("steps"), metres: d.Amount("distanceInMeters"), kcal: d.Amount("activeKilocalories"),
	}
	if one.steps == nil && one.metres == nil && one.kcal == nil {
		return replies.BadValue
	}
	key := epochKey{start.micros(), cmp.Or(files.Text(d.Text("activityType")), "one")}
	if _, known := r.epochs[key]; !known && len(r.epochs) == mostEpochs {
		return replies.TooMany
	}
	if r.epochs == nil {
		r.epochs = map[epochKey]epoch{}
	}
	r.epochs[key] = one
	r.SkipFields("epoch", d, "meanHeartRateInBeatsPerMinute")
	return replies.Mapped
}

// endEpochs adds up the activities of each quarter: a series has one value at
// a time.
func (r *reader) endEpochs(ctx context.Context) error {
	inOrder := func(a, b epochKey) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.kind, b.kind)) }
	keys := slices.SortedFunc(maps.Keys(r.epochs), inOrder) // so that sums are the same to the last digit
	for i := 0; i < len(keys); {
		start := keys[i].start
		sum := epoch{offset: r.epochs[keys[i]].offset}
		for ; i < len(keys) && keys[i].start == start; i++ {
			one := r.epochs[keys[i]]
			sum.seconds = max(sum.seconds, one.seconds)
			plus(&sum.steps, one.steps)
			plus(&sum.metres, one.metres)
			plus(&sum.kcal, one.kcal)
		}
		end := start + int64(sum.seconds*1e6)
		for _, f := range []struct {
			key sheet.Key
			v   *float64
		}{{stepCount, sum.steps}, {distance, sum.metres}, {energy, sum.kcal}} {
			if f.v != nil {
				r.Gather.Span(f.key, start, end, sum.offset, *f.v)
			}
		}
		if r.Gather.N >= sheet.FlushSize {
			if err := r.Sink.Samples(ctx, r.Gather.Take()); err != nil {
				return err
			}
		}
	}
	r.epochs = nil
	return nil
}

// plus adds an amount; the sum is a value of its own.
func plus(sum **float64, v *float64) {
	if v == nil {
		return
	}
	total := *v
	if *sum != nil {
		total += **sum
	}
	*sum = &total
}

// steps reads those of a quarter of an hour of Connect's.
func (r *reader) steps(d replies.Document) replies.Verdict {
	start, began := clock(d.Raw("startGMT"))
	end, ended := clock(d.Raw("endGMT"))
	n := d.Amount("steps")
	switch {
	case !began || !ended || !end.After(start) || end.Sub(start) > 24*time.Hour:
		return replies.BadDate
	case n == nil:
		return replies.BadValue
	}
	r.Gather.Span(stepCount, start.UnixMicro(), end.UnixMicro(), r.OffsetIn("", start), *n)
	return replies.Mapped
}
