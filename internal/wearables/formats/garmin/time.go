package garmin

import (
	"encoding/json"
	"math"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// moment is an instant, and the offset from UTC that held, in seconds.
type moment struct {
	at     time.Time
	offset int32
}

func (m moment) micros() int64             { return m.at.UnixMicro() }
func (m moment) after(s float64) time.Time { return m.at.Add(time.Duration(s * float64(time.Second))) }

// start returns the start of a pushed summary. Newer kinds of summaries name the offset
// differently.
func (r *reader) start(d replies.Document) (moment, bool) {
	return r.epochSeconds(d, "startTimeInSeconds", "startTimeOffsetInSeconds", "offsetStartTimeInSeconds")
}

// measured returns the time of a pushed measurement.
func (r *reader) measured(d replies.Document) (moment, bool) {
	return r.epochSeconds(d, "measurementTimeInSeconds", "measurementTimeOffsetInSeconds")
}

// epochSeconds reads an instant in seconds since 1970, which seldom has fractions, and
// its offset. Without an offset it uses the user's fallback zone.
func (r *reader) epochSeconds(d replies.Document, name string, offsets ...string) (moment, bool) {
	seconds, ok := d.Number(name)
	if !ok || seconds < 0 || seconds > 4e9 {
		return moment{}, false
	}
	at := time.UnixMicro(int64(math.Round(seconds * 1e6))).UTC()
	if !replies.IsBelievableYear(at.Year()) {
		return moment{}, false
	}
	for _, name := range offsets {
		if n, ok := d.Integer(name); ok && replies.IsOffset(n) {
			return moment{at, int32(n)}, true
		}
	}
	return moment{at, r.OffsetIn("", at)}, true
}

// both reads an instant that Connect states twice: in UTC and in local time. Both have
// the same form, as if both were UTC. The difference is the offset.
func (r *reader) both(d replies.Document, utc, local string) (moment, bool) {
	at, ok := clock(d.Raw(utc))
	if !ok {
		return moment{}, false
	}
	if shown, ok := clock(d.Raw(local)); ok {
		seconds := math.Round(shown.Sub(at).Seconds())
		if math.Abs(seconds) <= 14*3600 && replies.IsOffset(int64(seconds)) && int64(seconds)%60 == 0 {
			return moment{at, int32(seconds)}, true
		}
	}
	return moment{at, r.OffsetIn("", at)}, true
}

// clock reads one of Connect's times: milliseconds since 1970, or a text without a zone.
// It ignores a Z at the end of a text, because local times have it too.
func clock(raw json.RawMessage) (time.Time, bool) {
	if v, ok := replies.NumberOf(raw); ok {
		if v < 0 || v > 4e12 {
			return time.Time{}, false
		}
		at := time.UnixMilli(int64(math.Round(v))).UTC()
		return at, replies.IsBelievableYear(at.Year())
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return time.Time{}, false
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), replies.IsBelievableYear(at.Year())
		}
	}
	return time.Time{}, false
}

// midnight returns the time for a value that has a day and no time: the start of the day
// in the user's fallback zone. Without a zone the time floats; see sheet.Wall.
func (r *reader) midnight(day civil.Date) moment {
	wall := sheet.Wall{Zone: r.Zone}
	at, offset := wall.Instant(day.In(time.UTC))
	return moment{time.UnixMicro(at).UTC(), offset}
}

// offsetOf returns nil for an unknown offset.
func offsetOf(offset int32) *int32 {
	if offset == wearables.NoOffset {
		return nil
	}
	return &offset
}
