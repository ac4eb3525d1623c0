package oura

import (
	"encoding/json"
	"slices"
	"time"

	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

var (
	heartrates  = sheet.Key{Resource: "heartrate", Source: ring}
	variability = sheet.Key{Resource: "hrv", Type: "rmssd", Source: ring}
	mindful     = sheet.Key{Resource: "mindfulness_minutes", Source: app}
)

// heartrate takes one value of the series of the day.
//
// Oura writes these in UTC, wherever the wearer was. So an offset of 0 means unknown, and
// the user's fallback zone applies.
func (r *reader) heartrate(d replies.Document) replies.Verdict {
	at, offset, ok := d.Moment("timestamp")
	if !ok {
		return replies.BadDate
	}
	bpm, ok := d.Number("bpm")
	if !ok || bpm <= 0 {
		return replies.BadValue
	}
	if offset == 0 {
		offset = sheet.OffsetAt(r.Zone, at.UnixMicro())
	}
	r.Gather.At(heartrates, at.UnixMicro(), offset, bpm)
	return replies.Mapped
}

// track is a field {interval, items, timestamp}: values at regular intervals of some
// seconds. null means that there is no value.
type track struct {
	start    time.Time
	offset   int32
	interval time.Duration
	items    []json.RawMessage
}

func trackOf(d replies.Document, name string) (t track, ok bool) {
	in := d.Inner(name)
	seconds, timed := in.Number("interval")
	if !in.Into("items", &t.items) || !timed || seconds <= 0 || seconds > 86400 {
		return t, false
	}
	t.interval = time.Duration(seconds * float64(time.Second))
	t.start, t.offset, ok = in.Moment("timestamp")
	return t, ok
}

// tracked takes values that were measured at regular intervals. It reports whether there
// were any.
func (r *reader) tracked(d replies.Document, name string, key sheet.Key) bool {
	t, ok := trackOf(d, name)
	if !ok {
		return false
	}
	before := r.Gather.N
	for i, raw := range t.items {
		at := t.start.Add(time.Duration(i) * t.interval)
		if at.Sub(t.start) > maxSession {
			break
		}
		if v, ok := replies.NumberOf(raw); ok && v > 0 {
			r.Gather.At(key, at.UnixMicro(), t.offset, v)
		}
	}
	return r.Gather.N > before
}

// exercises are the sessions of deliberate mindfulness. Naps and rests are not among
// them; their sleep is in the sleep documents.
var exercises = []string{"meditation", "breathing"}

const maxSession = 24 * time.Hour

// session takes a guided session of the app, and the values that the ring measured in it.
func (r *reader) session(d replies.Document) replies.Verdict {
	start, offset, began := d.Moment("start_datetime")
	end, _, ended := d.Moment("end_datetime")
	if !began || !ended || end.Before(start) || end.Sub(start) > maxSession {
		return replies.BadDate
	}
	beats, varied := r.tracked(d, "heart_rate", heartrates), r.tracked(d, "heart_rate_variability", variability)
	r.Homeless("session", d, "motion_count")
	if slices.Contains(exercises, d.Text("type")) {
		r.Gather.Span(mindful, start.UnixMicro(), end.UnixMicro(), offset, end.Sub(start).Minutes())
		return replies.Mapped
	}
	if beats || varied {
		return replies.Mapped
	}
	return replies.Skipped
}
