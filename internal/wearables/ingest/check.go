package ingest

import (
	"encoding/json"
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
		return wearables.ImplausibleValue
	}
	if len(c.End) > 0 {
		length := c.End[i] - c.Time[i]
		switch {
		case length < 0:
			return wearables.EndBeforeStart
		case c.End[i] > l.latest:
			return wearables.BadTime
		case r.PerMinute > 0 && length > 0 && v > r.PerMinute*max(minRateMinutes, float64(length)/60e6):
			return wearables.ImplausibleValue
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
			return wearables.ImplausibleValue
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

// removeImplausible removes the numbers of a summary that no living body and no working
// device can give, and counts them. The rest is stored: a heart rate of 9000 does not
// affect the steps of the day. reason is set if no value is left.
func removeImplausible(d *wearables.Document, fields map[string]any) (n int, reason string) {
	for name, v := range fields {
		s := wearables.ShapeNamed(name)
		if s == nil || v == nil {
			continue
		}
		left, lost := keepPlausible(s, v)
		fields[name] = left
		n += lost
	}
	n += removeContradictions(d, fields)
	if n > 0 && (d.Parallel || (d.Start == "" || d.Name == mealResource) && !hasValues(fields)) {
		return n, wearables.ImplausibleValue
	}
	return n, ""
}

// orderedFields lists numbers of which the first is never above the second. A dot
// separates an object from its member.
var orderedFields = map[string][][2]string{
	"activity": {
		{"calories_active", "calories_total"},
		{"heart_rate.min_bpm", "heart_rate.avg_bpm"},
		{"heart_rate.avg_bpm", "heart_rate.max_bpm"},
		{"heart_rate.min_bpm", "heart_rate.max_bpm"},
	},
	"sleep":    {{"hr_lowest", "hr_average"}},
	"workouts": {{"average_hr", "max_hr"}},
}

// rounding is the tolerance of a sum of seconds: devices round to minutes.
const rounding = 60

// removeContradictions removes numbers that contradict each other, and returns how many
// times it did. Neither number of a pair is known to be right. No sleep is longer than
// its time in bed, and no time of moving longer than its workout.
func removeContradictions(d *wearables.Document, fields map[string]any) (n int) {
	for _, pair := range orderedFields[d.Name] {
		low, okLow := numberAt(fields, pair[0])
		high, okHigh := numberAt(fields, pair[1])
		if okLow && okHigh && low > high {
			removeAt(fields, pair[0])
			removeAt(fields, pair[1])
			n++
		}
	}
	return n + removeLonger(d, fields)
}

// removeLonger removes parts of a session that are longer than the session, and returns
// how many times it did. A later version may have shortened the session.
func removeLonger(d *wearables.Document, fields map[string]any) (n int) {
	start, end := momentOf(fields[d.Start]), momentOf(fields[d.End])
	if start.IsZero() || end.IsZero() {
		return 0
	}
	most := end.Sub(start).Seconds() + rounding
	for _, parts := range [][]string{{"total"}, {"deep", "light", "rem"}, {"moving_time"}} {
		sum := 0.0
		for _, name := range parts {
			sum += numberOf(fields[name])
		}
		if sum > most {
			for _, name := range parts {
				removeAt(fields, name)
			}
			n++
		}
	}
	return n
}

// numberAt returns the number of a field, or of a member of an object.
func numberAt(fields map[string]any, path string) (f float64, ok bool) {
	name, member, inside := strings.Cut(path, ".")
	v := fields[name]
	if inside {
		object, _ := v.(map[string]any)
		v = object[member]
	}
	n, ok := v.(json.Number)
	if ok {
		f, _ = n.Float64()
	}
	return f, ok
}

// removeAt sets a present field, or a member of an object, to null.
func removeAt(fields map[string]any, path string) {
	name, member, inside := strings.Cut(path, ".")
	object, isObject := fields[name].(map[string]any)
	switch {
	case inside && isObject:
		object[member] = nil
	case fields[name] != nil:
		fields[name] = nil
	}
}

// hasValues reports whether a summary has more than its day and time.
func hasValues(fields map[string]any) bool {
	for name, v := range fields {
		if v != nil && !slices.Contains([]string{"calendar_date", "date", "timestamp", "time_zone", "timezone_offset"}, name) {
			return true
		}
	}
	return false
}

// keepPlausible returns the plausible part of a value, or nil, and the number of removed
// numbers. An object is removed with a required number, or with its last one. A list of
// numbers is removed with any of them, because positions have a meaning. A list of
// objects loses only the removed objects.
func keepPlausible(s *wearables.Shape, v any) (left any, lost int) {
	switch v := v.(type) {
	case json.Number:
		if f, _ := v.Float64(); s.Least != s.Most && (f < s.Least || f > s.Most) {
			return nil, 1
		}
	case []any:
		kept := slices.DeleteFunc(v, func(each any) bool {
			left, n := keepPlausible(s.Each, each)
			lost += n
			return left == nil
		})
		if lost > 0 && s.Each.Kind != wearables.Object {
			return nil, lost
		}
		return kept, lost
	case map[string]any:
		some := false
		for name, each := range v {
			if m := s.Member(name); m.Shape != nil && each != nil {
				left, n := keepPlausible(m.Shape, each)
				if lost += n; left == nil && m.Required {
					return nil, lost
				}
				v[name] = left
			}
			some = some || v[name] != nil
		}
		if lost > 0 && !some {
			return nil, lost
		}
	}
	return v, lost
}

// refuseFields returns the reason to refuse a summary whose fields contradict each other,
// or "".
func refuseFields(d *wearables.Document, fields map[string]any) (reason string) {
	switch d.Name {
	case wearables.NoteResource:
		return refuseNote(fields)
	case "sleep_cycle":
		return refuseStages(fields)
	case "menstrual_cycle":
		start, _ := fields["period_start"].(string)
		for _, name := range []string{"period_end", "cycle_end"} {
			if end, ok := fields[name].(string); ok && end < start { // days of four-digit years
				return wearables.EndBeforeStart
			}
		}
	}
	return ""
}

// refuseStages checks the lists of a sleep cycle. A version has all three or none:
// they are about the same stages, which follow each other.
//
// Reference 7.5, sleep_cycle.
func refuseStages(fields map[string]any) (reason string) {
	starts, someStarts := fields["stage_start_offset_second"].([]any)
	ends, someEnds := fields["stage_end_offset_second"].([]any)
	stages, someStages := fields["stage_type"].([]any)
	if someStarts != someEnds || someEnds != someStages || len(starts) != len(ends) || len(ends) != len(stages) {
		return wearables.ShortColumns
	}
	end := 0.0
	for i := range stages {
		from, to := numberOf(starts[i]), numberOf(ends[i])
		switch {
		case to < from:
			return wearables.EndBeforeStart
		case i > 0 && from < end:
			return wearables.OverlappingStages
		}
		end = to
	}
	return ""
}

func numberOf(v any) float64 {
	n, _ := v.(json.Number)
	f, _ := n.Float64()
	return f
}

const (
	heartRateZones = 6
	maxAge         = 130 // years, as for fallback_birth_date
)

// removeImplausible removes a birth date that no living person has, and heart rate
// zones that are not six.
func (l *limits) removeImplausible(fields map[string]any) (n int, reason string) {
	if text, ok := fields["birth_date"].(string); ok {
		birth, _ := civil.ParseDate(text)
		if latest := civil.DateOf(time.UnixMicro(l.latest).UTC()); birth.After(latest) || birth.Year < latest.Year-maxAge {
			fields["birth_date"] = nil
			n++
		}
	}
	if zones, ok := fields["hr_zones"].([]any); ok && len(zones) != heartRateZones {
		fields["hr_zones"] = nil
		n++
	}
	if n > 0 && !hasValues(fields) {
		return n, wearables.ImplausibleValue
	}
	return n, ""
}

// refuseNote returns the reason to refuse a version of a note, or "": it has no text, or
// it ends before it starts.
func refuseNote(fields map[string]any) (reason string) {
	if text, stated := fields["value"]; stated && (text == nil || text == "") {
		return wearables.MissingValue
	}
	if end := momentOf(fields["end"]); !end.IsZero() && end.Before(momentOf(fields["timestamp"])) {
		return wearables.EndBeforeStart
	}
	return ""
}
