package oura

import (
	"slices"
	"time"

	"hale/internal/providers/sheet"
)

var (
	heartrates  = sheet.Key{Resource: "heartrate", Source: ring}
	variability = sheet.Key{Resource: "hrv", Type: "rmssd", Source: ring}
	mindful     = sheet.Key{Resource: "mindfulness_minutes", Source: app}
)

// heartrate takes one value of the series of the day.
//
// Oura writes these in UTC wherever the wearer was, so that an offset of 0
// says nothing; then the user's fallback zone does.
func (r *reader) heartrate(d document) verdict {
	at, offset, ok := d.moment("timestamp")
	if !ok {
		return badDate
	}
	bpm, ok := d.number("bpm")
	if !ok || bpm <= 0 {
		return badValue
	}
	if offset == 0 {
		offset = sheet.OffsetAt(r.zone, at.UnixMicro())
	}
	r.gather.At(heartrates, at.UnixMicro(), offset, bpm)
	return mapped
}

// tracked takes what was measured at regular intervals and says whether there
// was anything.
func (r *reader) tracked(d document, name string, key sheet.Key) bool {
	t, ok := d.track(name)
	if !ok {
		return false
	}
	before := r.gather.N
	for i, raw := range t.items {
		at := t.start.Add(time.Duration(i) * t.interval)
		if at.Sub(t.start) > longest {
			break
		}
		if v, ok := numberOf(raw); ok && v > 0 {
			r.gather.At(key, at.UnixMicro(), t.offset, v)
		}
	}
	return r.gather.N > before
}

// exercises are the sessions of which somebody sat down to be mindful. Naps
// and rests are none, and what they were as sleep is told among the sleep.
var exercises = []string{"meditation", "breathing"}

// session takes a guided session of the app, and what the ring measured in it.
func (r *reader) session(d document) verdict {
	start, offset, began := d.moment("start_datetime")
	end, _, ended := d.moment("end_datetime")
	if !began || !ended || end.Before(start) || end.Sub(start) > longest {
		return badDate
	}
	beats, varied := r.tracked(d, "heart_rate", heartrates), r.tracked(d, "heart_rate_variability", variability)
	r.homeless("session", d, "motion_count")
	if slices.Contains(exercises, d.text("type")) {
		r.gather.Span(mindful, start.UnixMicro(), end.UnixMicro(), offset, end.Sub(start).Minutes())
		return mapped
	}
	if beats || varied {
		return mapped
	}
	return skipped
}
