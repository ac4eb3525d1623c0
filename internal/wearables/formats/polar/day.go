package polar

import (
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// activity reads a day, which begins by the watch's own clock. Older documents state
// its values twice: active steps are all steps.
func (r *reader) activity(doc replies.Document) replies.Verdict {
	d := hyphenated(doc)
	day, ok := d.Day("date")
	if !ok {
		begins, timed := wall(d.Text("start_time"))
		if !timed {
			return replies.BadDate
		}
		day = civil.DateOf(begins)
	}
	said := replies.Activity{
		Total: d.Amount("calories"), Active: d.Amount("active_calories"), Steps: d.Whole("steps"), Distance: d.Amount("distance_from_steps"),
	}
	if said.Steps == nil {
		said.Steps = d.Whole("active_steps")
	}
	return r.Activity(watch, day, said)
}

var (
	hearts             = sheet.Key{Resource: "heartrate", Source: watch}
	variety            = sheet.Key{Resource: "hrv", Type: "rmssd", Source: watch}
	breaths            = sheet.Key{Resource: "respiratory_rate", Source: watch}
	stepSamples        = sheet.Key{Resource: "steps", Source: watch}
	core               = sheet.Key{Resource: "body_temperature", Source: watch}
	bloodOxygenSamples = sheet.Key{Resource: "blood_oxygen", Source: watch}
)

// heart reads the continuous heart rate of a day: a value every five minutes,
// and every second while the watch thinks that it matters. 0 means that it had
// no contact.
func (r *reader) heart(d replies.Document) replies.Verdict {
	day, ok := d.Day("date")
	if !ok {
		return replies.BadDate
	}
	clock, before := sheet.Wall{Zone: r.Zone}, r.Gather.N
	for _, one := range d.Documents("heart_rate_samples") {
		bpm, stated := one.Number("heart_rate")
		if !stated {
			continue
		}
		shown, err := time.Parse("15:04:05", one.Text("sample_time"))
		switch {
		case err != nil:
			r.Part("continuous heart rate.samples", replies.BadDate)
		case bpm <= 0:
			r.Part("continuous heart rate.samples", replies.BadValue)
		default:
			midnight := day.In(time.UTC)
			at, offset := clock.Instant(midnight.Add(shown.Sub(shown.Truncate(24 * time.Hour))))
			r.Gather.At(hearts, at, offset, bpm)
		}
	}
	return replies.VerdictOf(r.Gather.N > before)
}

// steps reads those of a day, minute by minute.
func (r *reader) steps(d replies.Document) replies.Verdict {
	steps := d.Inner("steps")
	interval := steps.Amount("interval_ms")
	if interval == nil || *interval < 1000 || *interval > 86400_000 {
		return replies.BadValue
	}
	clock, before := sheet.Wall{Zone: r.Zone}, r.Gather.N
	for _, one := range steps.Documents("samples") {
		n := one.Amount("steps")
		if n == nil {
			continue
		}
		at, offset, ok := instant(&clock, one.Text("timestamp"))
		if !ok {
			r.Part("activity samples.steps", replies.BadDate)
			continue
		}
		r.Gather.Span(stepSamples, at, at+int64(*interval*1000), offset, *n)
	}
	r.SkipFields("activity samples", d, "activity_zones", "inactivity_stamps")
	return replies.VerdictOf(r.Gather.N > before)
}

// temperature reads core temperatures. Skin temperatures of the day have no resource.
func (r *reader) temperature(d replies.Document) replies.Verdict {
	if d.Text("measurement_type") != "TM_CORE_TEMPERATURE" {
		return replies.Skipped
	}
	clock, before := sheet.Wall{Zone: r.Zone}, r.Gather.N
	start, offset, ok := instant(&clock, d.Text("start_time"))
	if !ok {
		return replies.BadDate
	}
	for _, one := range d.Documents("samples") {
		celsius, warm := one.Number("temperature_celsius")
		after := one.Amount("recording_time_delta_milliseconds")
		if !warm || after == nil {
			continue
		}
		r.Gather.At(core, start+int64(*after)*1000, offset, celsius)
	}
	return replies.VerdictOf(r.Gather.N > before)
}

// oxygen reads a test of the blood's oxygen; the offset is in minutes.
func (r *reader) oxygen(d replies.Document) replies.Verdict {
	at, ok := d.Unix("test_time")
	percent := d.Positive("blood_oxygen_percent")
	switch {
	case !ok:
		return replies.BadDate
	case percent == nil:
		return replies.BadValue
	}
	offset := r.OffsetIn("", at)
	if minutes, stated := d.Integer("time_zone_offset"); stated && minutes >= -840 && minutes <= 840 {
		offset = int32(minutes) * 60
	}
	r.Gather.At(bloodOxygenSamples, at.UnixMicro(), offset, *percent)
	return replies.Mapped
}
