package garmin

import (
	"maps"
	"slices"

	"hale/internal/platform/civil"
	"hale/internal/wearables/formats/replies"
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

// pushedDay takes a daily summary. Its average heart rate is that of a week.
func (r *reader) pushedDay(d replies.Document) replies.Verdict {
	day, ok := d.Day("calendarDate")
	start, timed := r.start(d)
	if !ok || !timed {
		return replies.BadDate
	}
	r.offsets(d, "timeOffsetHeartRateSamples", start, hearts, "daily.timeOffsetHeartRateSamples")
	r.Homeless("daily", d, "averageStressLevel", "bodyBatteryChargedValue")
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

// dayPage takes the summary of a day of Connect's.
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
	r.Homeless("daily", d, "averageStressLevel", "bodyBatteryChargedValue", "avgWakingRespirationValue", "averageSpo2")
	return r.day(day, said)
}

// latest takes the last values of a day that have a time.
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

// stepsOfDay takes the steps of a day by themselves.
func (r *reader) stepsOfDay(d replies.Document) replies.Verdict {
	day, ok := d.Day("calendarDate")
	if !ok {
		return replies.BadDate
	}
	return r.day(day, replies.Activity{Steps: d.Whole("totalSteps"), Distance: d.Amount("totalDistance")})
}
