package withings

import (
	"strconv"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// day takes the totals of a day. Durations are in seconds.
//
// The unit of `elevation` is not certain: floors by the reference, but metres in public
// samples of walks.
func (r *reader) day(d replies.Document) replies.Verdict {
	day, ok := d.Day("date")
	if !ok {
		return replies.BadDate
	}
	body := replies.Activity{
		Total: d.Positive("totalcalories"), Active: d.Amount("calories"), Steps: d.Whole("steps"), Distance: d.Amount("distance"),
		Low: d.Minutes("soft"), Medium: d.Minutes("moderate"), High: d.Minutes("intense"),
		HeartRate: &replies.HeartRate{Average: d.Positive("hr_average"), Lowest: d.Positive("hr_min"), Highest: d.Positive("hr_max")},
	}
	if zone, err := civil.Zone(d.Text("timezone")); err == nil {
		body.TimeZone = zone.String()
		_, seconds := day.In(zone).Zone()
		offset := int32(seconds)
		body.Offset = &offset
	}
	kind := kindOf(d)
	switch {
	case kind != "":
	case d.Flag("is_tracker"):
		kind = watch
	default:
		kind = unknown
	}
	became := r.Activity(source(kind), day, body)
	if became == replies.Mapped {
		r.climbed("activity", d)
	}
	return became
}

// climbed counts a climb, which has no resource.
func (r *reader) climbed(of string, d replies.Document) {
	if d.Positive("elevation") != nil {
		r.Part(of+".elevation", replies.Skipped)
	}
}

// longestMinute bounds an interval of a day in one value.
const longestMinute = 24 * 3600

// minute takes a stretch of a day, mostly a minute. A stretch without any count has only
// a duration.
func (r *reader) minute(d replies.Document) replies.Verdict {
	seconds, err := strconv.ParseInt(d.Under, 10, 64)
	start, ok := replies.InstantSince(seconds, time.Second)
	if err != nil || !ok {
		return replies.BadDate
	}
	length, timed := d.Integer("duration")
	if timed && (length < 0 || length > longestMinute) {
		return replies.BadDate
	}
	kind := kindOf(d)
	if kind == "" {
		kind = unknown
	}
	before := r.Gather.N
	at := start.UnixMicro()
	offset := r.OffsetIn(d.Around("timezone").Text("timezone"), start)
	for _, one := range amounts {
		if v := d.Positive(one.field); v != nil && timed {
			r.Gather.Span(sheet.Key{Resource: one.resource, Source: source(kind)}, at, at+length*1e6, offset, *v)
		}
	}
	for _, one := range spots {
		if v := d.Positive(one.field); v != nil {
			r.Gather.At(sheet.Key{Resource: one.resource, Type: one.kind, Source: source(kind)}, at, offset, *v)
		}
	}
	if v := d.Positive("core_body_temperature"); v != nil {
		r.Gather.Span(sheet.Key{Resource: "body_temperature", Source: source(kind)}, at, at, offset, *v)
	}
	r.climbed("intraday activity", d)
	r.Homeless("intraday activity", d, "stroke", "pool_lap")
	if r.Gather.N == before {
		return replies.Skipped
	}
	return replies.Mapped
}

var (
	amounts = []struct{ field, resource string }{
		{"steps", "steps"}, {"distance", "distance"}, {"calories", "calories_active"},
	}
	spots = []struct{ field, resource, kind string }{
		{"heart_rate", "heartrate", ""}, {"spo2_auto", "blood_oxygen", ""}, {"rmssd", "hrv", "rmssd"}, {"sdnn1", "hrv", "sdnn"},
	}
)
