package documents

import (
	"context"
	"time"

	"hale/internal/labs/appointments"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// Documents are read at the place of the collection, so their times are in its
// zone, with the name of the zone. A time that is not known is not printed: a
// date has no time of day.

// zoneOfPlace returns the zone of the order's visit or, without one, that of
// the patient's address. It returns nil if neither is known.
func zoneOfPlace(ctx context.Context, tx *store.Tx, o *orders.Order) (*time.Location, error) {
	name := ""
	if o.Appointment != nil {
		a, err := appointments.GetLatest(ctx, tx, o)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return nil, err
		}
		name = a.TimeZone
	}
	if zone, err := civil.Zone(name); name != "" && err == nil {
		return zone, nil
	}
	return o.HomeZone(), nil
}

// local returns a time in the zone of the place, or in UTC.
func (s *Subject) local(at time.Time) time.Time {
	if s.Zone == nil {
		return at.UTC()
	}
	return at.In(s.Zone)
}

// minute formats an instant in the zone of the place.
func (s *Subject) minute(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return formatMinute(s.local(at))
}

// moment formats an instant of a lab. Without an offset its zone is a guess, so
// none is named. Midnight is a date whose time is not known.
func (s *Subject) moment(m networks.Moment) string {
	if m.Time.IsZero() {
		return ""
	}
	written := m.Time.UTC()
	if m.Offset != nil {
		written = m.Time.In(time.FixedZone("", *m.Offset))
	}
	switch {
	case isMidnight(written):
		return formatDay(written)
	case m.Offset == nil:
		return written.Format(dayFormat + " 15:04")
	case s.Zone == nil:
		return written.Format(dayFormat + " 15:04 -07:00")
	}
	return s.minute(m.Time)
}

// CollectionTime is the time of a collection as a caller gives it.
type CollectionTime struct {
	// Time has the caller's zone if Zoned is set. Otherwise it is the local clock time at
	// the place of collection, and its own zone means nothing.
	Time  time.Time
	Zoned bool
}

// collection formats a time of collection, with room to write the time of day
// when only the date is known. Midnight is a date: client libraries send dates
// in this way.
func (s *Subject) collection(at CollectionTime) string {
	switch {
	case isMidnight(at.Time):
		return formatDay(at.Time) + "  ____:____"
	case !at.Zoned && s.Zone == nil:
		return at.Time.Format(dayFormat + " 15:04")
	case !at.Zoned:
		t := at.Time
		return formatMinute(time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, s.Zone))
	case s.Zone == nil:
		return at.Time.Format(dayFormat + " 15:04 -07:00")
	}
	return s.minute(at.Time)
}

func isMidnight(at time.Time) bool {
	hour, minute, second := at.Clock()
	return hour+minute+second+at.Nanosecond() == 0
}

// dayFormat is the form of a date on the documents of American labs.
const dayFormat = "01/02/2006"

func formatDay(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(dayFormat)
}

func formatMinute(at time.Time) string { return at.Format(dayFormat + " 15:04 MST") }
