package push

import (
	"time"

	"hale/internal/wearables"
)

// maxOffset limits an offset from UTC, in seconds. Zones reach from -12 to +14 hours; ISO
// 8601 implementations allow 18.
const maxOffset = 18 * 3600

const (
	secondUS = int64(1e6)
	dayUS    = 86_400 * secondUS
)

// moments parses instants. It caches the last day, which neighbours mostly share.
type moments struct {
	date [10]byte
	day  int64 // its start, UTC microseconds
	set  bool
}

// parse parses an instant of RFC 3339. It allows a space for the T, and an offset without
// colon. offset is wearables.NoOffset for Z and +00:00, which do not state the place of
// the person.
func (m *moments) parse(b []byte) (us int64, offset int32, ok bool) {
	us, ok = m.local(b)
	if !ok || len(b) == instantLength {
		return 0, 0, false
	}
	rest := b[instantLength:]
	if rest[0] == '.' || rest[0] == ',' {
		n, scale, frac := 1, secondUS/10, int64(0)
		for ; n < len(rest) && rest[n]-'0' <= 9; n++ {
			frac += int64(rest[n]-'0') * scale
			scale /= 10
		}
		if n == 1 {
			return 0, 0, false
		}
		us, rest = us+frac, rest[n:]
	}
	offset, ok = offsetOf(rest)
	if ok && offset != wearables.NoOffset {
		us -= int64(offset) * secondUS
	}
	return us, offset, ok
}

const instantLength = len("2006-01-02T15:04:05")

// local parses an instant up to its second, as if it were in UTC.
func (m *moments) local(b []byte) (us int64, ok bool) {
	if len(b) < instantLength || (b[10] != 'T' && b[10] != 't' && b[10] != ' ') || b[13] != ':' || b[16] != ':' {
		return 0, false
	}
	if !m.set || string(m.date[:]) != string(b[:10]) {
		day, err := time.Parse(time.DateOnly, string(b[:10]))
		if err != nil {
			return 0, false
		}
		copy(m.date[:], b)
		m.day, m.set = day.UnixMicro(), true
	}
	hour, minute, second := twoDigits(b[11:]), twoDigits(b[14:]), twoDigits(b[17:])
	if hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	return m.day + int64(hour*3600+minute*60+second)*secondUS, true
}

// offsetOf parses Z, +hh:mm, +hhmm or +hh.
func offsetOf(b []byte) (int32, bool) {
	if len(b) == 1 && (b[0] == 'Z' || b[0] == 'z') {
		return wearables.NoOffset, true
	}
	if len(b) < 3 || (b[0] != '+' && b[0] != '-') {
		return 0, false
	}
	hour, minute := twoDigits(b[1:]), 0
	switch {
	case len(b) == 6 && b[3] == ':':
		minute = twoDigits(b[4:])
	case len(b) == 5:
		minute = twoDigits(b[3:])
	case len(b) != 3:
		return 0, false
	}
	if minute > 59 || hour*3600+minute*60 > maxOffset {
		return 0, false
	}
	offset := int32(hour*3600 + minute*60)
	switch {
	case offset == 0:
		return wearables.NoOffset, true
	case b[0] == '-':
		return -offset, true
	}
	return offset, true
}

// twoDigits parses two digits; 100 or more if they are not.
func twoDigits(b []byte) int {
	if len(b) < 2 || b[0]-'0' > 9 || b[1]-'0' > 9 {
		return 100
	}
	return int(b[0]-'0')*10 + int(b[1]-'0')
}

// zone finds the offset of a time zone at an instant, and caches the time for which it is
// valid.
type zone struct {
	loc      *time.Location
	from, to int64
	offset   int32
}

func (z *zone) at(us int64) int32 {
	if us >= z.from && us < z.to {
		return z.offset
	}
	t := time.UnixMicro(us).In(z.loc)
	_, offset := t.Zone()
	start, end := t.ZoneBounds()
	z.offset = int32(offset)
	z.from, z.to = us, us+1
	if !start.IsZero() {
		z.from = start.UnixMicro()
	}
	if !end.IsZero() {
		z.to = end.UnixMicro()
	}
	return z.offset
}
