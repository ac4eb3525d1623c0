package ingest

import (
	"math"
	"slices"
	"strings"
	"time"

	"hale/internal/platform/blocks"
	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// limits bounds the time of a user's data.
type limits struct {
	earliest, latest int64 // UTC microseconds, any user
	from, to         int64 // of the user's ingestion bounds, local; to is exclusive
}

// maxAhead limits how far data may be in the future: the clock may be in another zone, or
// wrong.
const maxAhead = 26 * time.Hour

var year2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// Times returns the earliest and the latest instant that data may have, UTC microseconds.
func Times(now time.Time) (earliest, latest int64) {
	l := limitsOf(now, nil, nil)
	return l.earliest, l.latest
}

func limitsOf(now time.Time, start, end *civil.Date) limits {
	l := limits{earliest: year2000, latest: now.Add(maxAhead).UnixMicro(), from: math.MinInt64, to: math.MaxInt64}
	if start != nil {
		l.from = start.AddDays(-1).In(time.UTC).UnixMicro()
	}
	if end != nil {
		l.to = end.AddDays(2).In(time.UTC).UnixMicro()
	}
	return l
}

// refuse returns the reason to refuse an instant, or "". us is UTC microseconds.
func (l *limits) refuse(us int64, offset int32) string {
	if us < l.earliest || us > l.latest {
		return wearables.BadTime
	}
	if offset != wearables.NoOffset {
		us += int64(offset) * 1_000_000
	}
	if us < l.from || us >= l.to {
		return wearables.OutOfBounds
	}
	return ""
}

// refuseDate returns the reason to refuse a calendar date, or "". The date may be further
// ahead than an instant, by the duration further.
func (l *limits) refuseDate(d civil.Date, further time.Duration) string {
	us := d.In(time.UTC).UnixMicro()
	if us < l.earliest-dayMicros || us > l.latest+dayMicros+further.Microseconds() {
		return wearables.BadTime
	}
	if us < l.from || us >= l.to {
		return wearables.OutOfBounds
	}
	return ""
}

// maxFromDate limits the distance between the start of a session and its calendar date:
// another day and another zone.
const maxFromDate = 3 * 24 * time.Hour

// refuseSummary returns the reason to refuse a summary, or "". Its date must be within
// the user's bounds, and a session must be near its date.
func (l *limits) refuseSummary(s *wearables.Summary, d *wearables.Document) string {
	for _, at := range []time.Time{s.Start, s.End} {
		if us := at.UnixMicro(); !at.IsZero() && (us < l.earliest || us > l.latest) {
			return wearables.BadTime
		}
	}
	if s.Date.IsZero() {
		return ""
	}
	if !s.Start.IsZero() && s.Start.Sub(s.Date.In(time.UTC)).Abs() > maxFromDate {
		return wearables.BadTime
	}
	return l.refuseDate(s.Date, d.Foretold)
}

// minRateMinutes is the shortest time over which a rate is checked. Phones count
// for up to ten minutes, and some write that count with an interval of seconds.
const minRateMinutes = 10

// refuseSample returns the reason to refuse sample i, or "".
func refuseSample(r *wearables.Resource, l *limits, c *blocks.Columns, i int) string {
	offset := wearables.NoOffset
	if len(c.Offset) > 0 {
		offset, _ = wearables.SplitAssumed(c.Offset[i])
		offset, _ = storage.SplitOffset(offset)
	}
	if reason := l.refuse(c.Time[i], offset); reason != "" {
		return reason
	}
	v := c.Value[i]
	if v-v != 0 { // NaN or infinite
		return wearables.NotFinite
	}
	if v < r.Min || v > r.Max {
		return wearables.Implausible
	}
	if len(c.End) > 0 {
		length := c.End[i] - c.Time[i]
		switch {
		case length < 0:
			return wearables.EndBeforeStart
		case c.End[i] > l.latest:
			return wearables.BadTime
		case r.PerMinute > 0 && length > 0 && v > r.PerMinute*max(minRateMinutes, float64(length)/60e6):
			return wearables.Implausible
		}
	}
	if r.Pair {
		low := c.Value2[i]
		switch {
		case math.IsNaN(low): // left out
			return wearables.MissingValue
		case low-low != 0:
			return wearables.NotFinite
		case low < r.LeastLow || low > r.MostLow || low >= v:
			return wearables.Implausible
		}
	}
	return ""
}

// columnsOf returns samples as columns of a block. ok is false if lengths differ
// or a required column is missing.
func columnsOf(r *wearables.Resource, s *wearables.Samples) (c blocks.Columns, ok bool) {
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

const dayMicros = 24 * 3600 * 1_000_000

// refuseSource returns the reason to refuse a source's values, or "".
func refuseSource(s *wearables.Source) string {
	switch {
	case s.Type != "" && !wearables.KnownSourceType(s.Type):
		return wearables.UnknownSource
	case s.Stranger:
		return wearables.UnknownDevice
	}
	return ""
}

// maxSourceText limits the texts of a source, in bytes.
const maxSourceText = 256

// cleanSource makes the texts of a source fit into a text column. Files contain them as
// apps wrote them.
func cleanSource(s *wearables.Source) {
	for _, word := range []*string{&s.AppID, &s.Sport} {
		if strings.IndexByte(*word, 0) >= 0 {
			*word = strings.ReplaceAll(*word, "\x00", "")
		}
		if len(*word) > maxSourceText {
			*word = (*word)[:maxSourceText]
		}
		*word = strings.ToValidUTF8(*word, "")
	}
}

// refuseExtra returns the reason to refuse the words of a resource's samples, or "".
func refuseExtra(r *wearables.Resource, text string) string {
	if text == "" {
		return ""
	}
	words := strings.Split(text, ",")
	for i, e := range r.Extra {
		if i < len(words) && words[i] != "" && !slices.Contains(e.Words, words[i]) {
			return wearables.UnknownWord + e.Name
		}
	}
	if len(words) != len(r.Extra) || wearables.ExtraText(words...) == "" {
		return wearables.UnknownWord + "field"
	}
	return ""
}
