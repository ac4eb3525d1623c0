package replies

import (
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/sheet"
)

// IsBelievableYear reports whether such devices existed in a year.
func IsBelievableYear(year int) bool { return year >= 2000 && year < 2100 }

// Day returns a field with a date, such as 2025-03-02.
func (d Document) Day(name string) (civil.Date, bool) {
	date, err := civil.ParseDate(d.Text(name))
	return date, err == nil && IsBelievableYear(date.Year)
}

// Birth returns a field with a birth date.
func (d Document) Birth(name string) (civil.Date, bool) {
	date, err := civil.ParseDate(d.Text(name))
	return date, err == nil && date.Year >= 1900 && date.Year < 2100
}

// Moment returns a field with an instant, and the offset from UTC, in seconds,
// of its text.
func (d Document) Moment(name string) (at time.Time, offset int32, ok bool) {
	at, err := time.Parse(time.RFC3339Nano, d.Text(name))
	if err != nil {
		for _, layout := range []string{"2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05Z07:00"} {
			if at, err = time.Parse(layout, d.Text(name)); err == nil {
				break
			}
		}
	}
	if err != nil || !IsBelievableYear(at.UTC().Year()) {
		return at, wearables.NoOffset, false
	}
	_, seconds := at.Zone()
	if !IsOffset(int64(seconds)) {
		return at, wearables.NoOffset, false
	}
	return at.UTC(), int32(seconds), true
}

// Wall returns a field with a local clock time without a zone, as if the clock
// showed UTC. sheet.Wall converts it to an instant.
func (d Document) Wall(name string) (time.Time, bool) {
	text := d.Text(name)
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, IsBelievableYear(at.Year())
		}
	}
	return time.Time{}, false
}

// Unix returns a field with an instant in seconds since 1970.
func (d Document) Unix(name string) (time.Time, bool) { return d.since(name, time.Second) }

// UnixMilli returns a field with an instant in milliseconds since 1970.
func (d Document) UnixMilli(name string) (time.Time, bool) { return d.since(name, time.Millisecond) }

// UnixNano returns a field with an instant in nanoseconds since 1970.
func (d Document) UnixNano(name string) (time.Time, bool) { return d.since(name, time.Nanosecond) }

func (d Document) since(name string, unit time.Duration) (time.Time, bool) {
	n, ok := d.Integer(name)
	if !ok {
		return time.Time{}, false
	}
	return InstantSince(n, unit)
}

// InstantSince returns the instant that is n units after 1970.
func InstantSince(n int64, unit time.Duration) (time.Time, bool) {
	const end = 4102444800 // 2100
	perSecond := int64(time.Second / unit)
	if n < 0 || n/perSecond >= end {
		return time.Time{}, false
	}
	at := time.Unix(n/perSecond, n%perSecond*int64(unit)).UTC()
	return at, IsBelievableYear(at.Year())
}

// IsOffset reports whether any time zone has that many seconds from UTC.
func IsOffset(seconds int64) bool { return seconds >= -14*3600 && seconds <= 14*3600 }

// LocalDay returns the date of an instant at the offset; in UTC if the offset is
// unknown.
func LocalDay(at time.Time, offset int32) civil.Date {
	if offset != wearables.NoOffset {
		at = at.Add(time.Duration(offset) * time.Second)
	}
	return civil.DateOf(at)
}

// OffsetIn returns the offset from UTC, in seconds, at an instant in a zone, by its
// IANA name. Without a known name it uses the user's fallback zone; without that it
// returns wearables.NoOffset.
func (r *Reader) OffsetIn(zone string, at time.Time) int32 {
	if zone != "" {
		if place, err := civil.Zone(zone); err == nil {
			return sheet.OffsetAt(place, at.UnixMicro())
		}
	}
	return sheet.OffsetAt(r.Zone, at.UnixMicro())
}
