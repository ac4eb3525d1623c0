package wearables

import (
	"math"
	"time"

	"hale/internal/platform/blocks"
	"hale/internal/platform/civil"
)

// Reasons for which a sample or summary is not stored. They name the rule;
// the raw value stays with whoever sent it.
const (
	UnknownResource = "unknown_resource"
	UnknownType     = "unknown_type"             // not a type word of the resource
	UnknownWord     = "unknown_"                 // and the extra field's name: not one of its words
	UnknownSource   = "unknown_source_type"      // not one of sourceTypes
	UnknownDevice   = "unknown_device"           // its device is none of the user's
	UnknownUnit     = "unknown_unit"             // no conversion to the resource's unit
	MissingType     = "missing_type"             // nobody stated it, and clients need one
	MissingValue    = "missing_value"            // a blood pressure has two
	NotFinite       = "not_finite"               // NaN or infinite
	Implausible     = "implausible_value"        // no living body or working device gives it
	BadTime         = "implausible_time"         // before 2000, or more than 26 hours ahead; of a cycle, a year
	EndBeforeStart  = "end_before_start"         //
	OutOfBounds     = "outside_ingestion_bounds" // the user's ingestion_start and ingestion_end, ± 1 day
	ShortColumns    = "unequal_columns"          // columns of one group, or lists of one summary, differ in length
	Overlapping     = "overlapping_stages"       // a stage of a sleep begins before the one in front of it ends
	TooLarge        = "too_large"                // the document would not fit into an event
	BadDocument     = "bad_document"             // not a JSON object of the resource's fields
)

// limits are the instants that samples of one user may lie between.
type limits struct {
	earliest, latest int64 // UTC microseconds, any user
	from, to         int64 // of the user's ingestion bounds, local; to is exclusive
}

// ahead is how far a clock in another zone, or a wrong one, may be ahead.
const ahead = 26 * time.Hour

var year2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

func limitsOf(now time.Time, start, end *civil.Date) limits {
	l := limits{earliest: year2000, latest: now.Add(ahead).UnixMicro(), from: math.MinInt64, to: math.MaxInt64}
	if start != nil {
		l.from = start.AddDays(-1).In(time.UTC).UnixMicro()
	}
	if end != nil {
		l.to = end.AddDays(2).In(time.UTC).UnixMicro()
	}
	return l
}

// takes tells why an instant is refused; empty when it is not.
func (l *limits) takes(us int64, offset int32) string {
	if us < l.earliest || us > l.latest {
		return BadTime
	}
	if offset != NoOffset {
		us += int64(offset) * secondUS
	}
	if us < l.from || us >= l.to {
		return OutOfBounds
	}
	return ""
}

// takesDate is takes for a calendar date that may lie further ahead.
func (l *limits) takesDate(d civil.Date, further time.Duration) string {
	us := d.In(time.UTC).UnixMicro()
	if us < l.earliest-dayUS || us > l.latest+dayUS+further.Microseconds() {
		return BadTime
	}
	if us < l.from || us >= l.to {
		return OutOfBounds
	}
	return ""
}

// besides is how far the beginning of a session may be from its calendar date,
// which is that of another day and zone at most.
const besides = 3 * 24 * time.Hour

// takesSummary is takes for a summary. Its date decides about the user's
// bounds, and its session lies near that.
func (l *limits) takesSummary(s *Summary, d *Document) string {
	for _, at := range []time.Time{s.Start, s.End} {
		if us := at.UnixMicro(); !at.IsZero() && (us < l.earliest || us > l.latest) {
			return BadTime
		}
	}
	if s.Date.IsZero() {
		return ""
	}
	if !s.Start.IsZero() && s.Start.Sub(s.Date.In(time.UTC)).Abs() > besides {
		return BadTime
	}
	return l.takesDate(s.Date, d.Foretold)
}

// leastMinutes is the time over which a rate is judged at least: phones count
// for up to ten minutes, and some write the count of all of them with an
// interval of seconds.
const leastMinutes = 10

// refuses tells why sample i may not be stored; empty when it may.
func (r *Resource) refuses(l *limits, c *blocks.Columns, i int) string {
	offset := NoOffset
	if len(c.Offset) > 0 {
		offset, _ = offsetFound(c.Offset[i])
	}
	if reason := l.takes(c.Time[i], offset); reason != "" {
		return reason
	}
	v := c.Value[i]
	if v-v != 0 { // NaN or infinite
		return NotFinite
	}
	if v < r.Min || v > r.Max {
		return Implausible
	}
	if len(c.End) > 0 {
		length := c.End[i] - c.Time[i]
		switch {
		case length < 0:
			return EndBeforeStart
		case c.End[i] > l.latest:
			return BadTime
		case r.PerMinute > 0 && length > 0 && v > r.PerMinute*max(leastMinutes, float64(length)/minuteUS):
			return Implausible
		}
	}
	if r.Pair {
		low := c.Value2[i]
		switch {
		case math.IsNaN(low): // left out
			return MissingValue
		case low-low != 0:
			return NotFinite
		case low < r.LeastLow || low > r.MostLow || low >= v:
			return Implausible
		}
	}
	return ""
}

// columnsOf views samples as block columns. ok is false when lengths differ
// or a needed column is missing.
func columnsOf(r *Resource, s *Samples) (c blocks.Columns, ok bool) {
	n := len(s.Time)
	c = blocks.Columns{Time: s.Time, End: s.End, Offset: s.Offset, Value: s.Value}
	if r.Pair {
		c.Value2 = s.Value2
		ok = len(s.Value2) == n
	} else {
		ok = len(s.Value2) == 0
	}
	if r.Interval && len(c.End) == 0 {
		c.End = s.Time
	}
	fits := func(m int) bool { return m == 0 || m == n }
	return c, ok && len(s.Value) == n && fits(len(c.End)) && fits(len(s.Offset))
}
