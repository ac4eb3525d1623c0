package civil

import (
	"errors"
	"time"
)

// Instant is a moment in JSON: 2026-01-02T03:04:05+00:00, in UTC, with six decimals if it
// is not a whole second. All answers and events write instants like this, so one instant
// has one spelling.
type Instant time.Time

// The layouts of instants.
const (
	wholeSeconds = "2006-01-02T15:04:05-07:00"
	microseconds = "2006-01-02T15:04:05.000000-07:00"
)

// ErrBadInstant is the error for text that is not an instant.
var ErrBadInstant = errors.New("not an instant in RFC 3339")

// AppendFormat appends the text of the instant. It drops parts of a microsecond, which
// no database stores.
func (i Instant) AppendFormat(dst []byte) []byte {
	t := time.Time(i).UTC()
	if t.Nanosecond() < 1000 {
		return t.AppendFormat(dst, wholeSeconds)
	}
	return t.AppendFormat(dst, microseconds)
}

func (i Instant) String() string { return string(i.AppendFormat(nil)) }

// MarshalText returns the text.
func (i Instant) MarshalText() ([]byte, error) { return i.AppendFormat(nil), nil }

// UnmarshalText parses RFC 3339, which includes the layouts. It refuses an offset that
// moves the instant to a year of five digits.
func (i *Instant) UnmarshalText(text []byte) error {
	parsed, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return ErrBadInstant
	}
	parsed = parsed.UTC()
	if parsed.Year() < 1 || parsed.Year() > 9999 {
		return ErrBadInstant
	}
	*i = Instant(parsed)
	return nil
}
