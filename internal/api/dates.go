package api

import (
	"time"

	"hale/internal/platform/fault"
)

// endOfTime is behind every sample, UTC microseconds.
const endOfTime = int64(253_402_300_800) * 1e6

// span is what a date parameter covers, [from, to) in UTC microseconds: a
// whole day, or one instant.
type span struct {
	from, to int64
	day      string // the calendar date
	instant  bool
}

// bound reads a date parameter.
//
// Reference 7.2: date-only means 00:00:00 as a start and 23:59:59 as an end.
func bound(name, text string) (span, *fault.Error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil && day.Year() >= 1 {
		return span{from: day.UnixMicro(), to: day.AddDate(0, 0, 1).UnixMicro(), day: text}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil && at.Year() >= 1 && at.Year() <= 9999 {
			return span{at.UnixMicro(), at.UnixMicro() + 1, at.Format(time.DateOnly), true}, nil
		}
	}
	return span{}, fault.New(fault.Invalid, "Input should be a valid date or datetime").At("query", name).WithType("datetime_parsing")
}

// between reads the two date parameters of a read. Without an end it has
// none.
func between(startDate, endDate string) (start, end span, err error) {
	return ordered(startDate, endDate, func(start, end span) bool { return end.to > start.from })
}

// daysBetween reads the two date parameters of a read by calendar date: of an
// instant that is the day of the place that its offset names.
func daysBetween(startDate, endDate string) (first, last string, err error) {
	start, end, err := ordered(startDate, endDate, func(start, end span) bool {
		reversed := start.instant && end.instant && end.from < start.from
		return end.day >= start.day && !reversed
	})
	return start.day, end.day, err
}

func ordered(startDate, endDate string, follows func(start, end span) bool) (start, end span, err error) {
	start, badStart := bound("start_date", startDate)
	end = span{to: endOfTime, day: "9999-12-31"}
	var badEnd *fault.Error
	if endDate != "" {
		if end, badEnd = bound("end_date", endDate); badEnd == nil && badStart == nil && !follows(start, end) {
			badEnd = fault.New(fault.Invalid, "Value error, must not be before start_date").At("query", "end_date")
		}
	}
	return start, end, fault.Join(badStart, badEnd)
}
