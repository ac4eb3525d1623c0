package query

import (
	"time"

	"hale/internal/platform/civil"
)

// Floating time has no zones, so a day always has 24 hours. When clocks go forward,
// one hour of the day is empty. When clocks go back, one hour has twice the data.

const (
	secondUS = int64(1_000_000)
	minuteUS = 60 * secondUS
	hourUS   = 60 * minuteUS
	dayUS    = 24 * hourUS
	// mondayUS is a Monday: 1969-12-29.
	mondayUS = -3 * dayUS
)

// fixed returns the length of a period of minutes, hours, days or weeks, and the origin
// from which its buckets are counted, in microseconds. It returns false for months and
// years, whose length varies.
func (p Period) fixed() (width, origin int64, ok bool) {
	n := int64(p.Value)
	switch p.Unit {
	case Minute:
		return n * minuteUS, 0, true
	case Hour:
		return n * hourUS, 0, true
	case Day:
		return n * dayUS, 0, true
	case Week:
		return 7 * n * dayUS, mondayUS, true
	default:
		return 0, 0, false
	}
}

// months returns the length of a period of months or years in months.
func (p Period) months() int {
	if p.Unit == Year {
		return 12 * p.Value
	}
	return p.Value
}

// Truncate returns the start of the bucket that holds a moment. Buckets of minutes, hours
// or days are counted from 1970, and buckets of weeks from a Monday. Buckets of months or
// years are counted from the year 0.
func (p Period) Truncate(us int64) int64 {
	if width, origin, ok := p.fixed(); ok {
		return floorDiv(us-origin, width)*width + origin
	}
	t := time.UnixMicro(us).UTC()
	month := int64(t.Year())*12 + int64(t.Month()) - 1
	n := int64(p.months())
	return monthStart(floorDiv(month, n) * n)
}

// Add returns the moment n periods later. If the month does not have the day, Add returns
// the last day of the month.
func (p Period) Add(us int64, n int) int64 {
	if width, _, ok := p.fixed(); ok {
		return us + int64(n)*width
	}
	t := time.UnixMicro(us).UTC()
	month := int64(t.Year())*12 + int64(t.Month()) - 1 + int64(n*p.months())
	start := monthStart(month)
	days := (monthStart(month+1) - start) / dayUS
	return start + (min(int64(t.Day()), days)-1)*dayUS + floorMod(us, dayUS)
}

func monthStart(month int64) int64 {
	year, m := floorDiv(month, 12), floorMod(month, 12)
	return time.Date(int(year), time.Month(m+1), 1, 0, 0, 0, 0, time.UTC).UnixMicro()
}

// nominal returns the approximate length of the period in microseconds.
func (p Period) nominal() int64 {
	if width, _, ok := p.fixed(); ok {
		return width
	}
	return int64(p.months()) * 365 * dayUS / 12
}

// PartOf returns a part of a moment. Weekdays count from 1, Monday, to 7. Weeks count as
// in ISO 8601.
func PartOf(us int64, part string) int64 {
	t := time.UnixMicro(us).UTC()
	switch part {
	case "minute":
		return int64(t.Minute())
	case "hour":
		return int64(t.Hour())
	case "day":
		return int64(t.Day())
	case "week", "week_of_year":
		_, week := t.ISOWeek()
		return int64(week)
	case "month":
		return int64(t.Month())
	case "year":
		return int64(t.Year())
	case "weekday":
		return int64((t.Weekday()+6)%7) + 1
	}
	return int64(t.YearDay())
}

// Bounds returns the floating time of the timeframe, [from, to) in microseconds. It ends
// with the anchor's last moment, and begins at FirstMoment at the earliest.
func (t Timeframe) Bounds() (from, to int64) {
	to = t.Anchor.AddDays(1).In(time.UTC).UnixMicro()
	from = t.Past.Add(to, -1)
	return max(from, FirstMoment), to
}

// FirstMoment and EndOfTime bound the times in a query.
var (
	FirstMoment = civil.Date{Year: 1, Month: 1, Day: 1}.In(time.UTC).UnixMicro()
	EndOfTime   = civil.Date{Year: 9999, Month: 12, Day: 31}.In(time.UTC).UnixMicro() + dayUS
)

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }
