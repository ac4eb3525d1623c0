package query

import (
	"time"

	"hale/internal/platform/civil"
)

// Floating time has no zones, so a day always has 24 hours. On the day on which clocks
// go forward one of them is empty; on the day on which they go back one has twice the
// data.

const (
	secondUS = int64(1_000_000)
	minuteUS = 60 * secondUS
	hourUS   = 60 * minuteUS
	dayUS    = 24 * hourUS
	// mondayUS is a Monday: 1969-12-29.
	mondayUS = -3 * dayUS
)

// fixed is the length of the units that always have one, and where they are
// counted from.
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

// months is the length of months and years.
func (p Period) months() int {
	if p.Unit == Year {
		return 12 * p.Value
	}
	return p.Value
}

// Truncate is the start of the bucket that holds a moment. Buckets of several
// minutes, hours or days are counted from 1970, of weeks from a Monday, of
// months and years from the year 0.
func (p Period) Truncate(us int64) int64 {
	if width, origin, ok := p.fixed(); ok {
		return floorDiv(us-origin, width)*width + origin
	}
	t := time.UnixMicro(us).UTC()
	month := int64(t.Year())*12 + int64(t.Month()) - 1
	n := int64(p.months())
	return monthStart(floorDiv(month, n) * n)
}

// Add is the moment n periods later; a day that a month does not have becomes
// its last one.
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

// nominal is about how long the period is.
func (p Period) nominal() int64 {
	if width, _, ok := p.fixed(); ok {
		return width
	}
	return int64(p.months()) * 365 * dayUS / 12
}

// PartOf takes a part of a moment: weekdays from 1, Monday, to 7; weeks as ISO
// 8601 counts them.
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

// Bounds is the stretch of floating time, [from, to): it ends with the anchor's
// last moment.
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
