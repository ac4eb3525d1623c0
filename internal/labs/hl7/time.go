package hl7

import (
	"errors"
	"time"
)

// Time is a point in time of a message (types TS, DTM, DT): a year and further
// fields as far as known.
type Time struct {
	time.Time
	// Zoned reports whether the value has its own offset from UTC.
	Zoned bool
	// Digits is the number of digits before the fraction: 4 for a year, 8 for
	// a day, 12 for a minute, 14 for a second.
	Digits int
}

// ErrBadTime is returned for text that is not a point in time.
var ErrBadTime = errors.New("hl7: not a time of the form YYYYMMDDHHMMSS.SSSS+ZZZZ")

// ParseTime reads YYYY[MM[DD[HH[MM[SS[.S[S[S[S]]]]]]]]][+/-ZZZZ]. A value
// without an offset is in loc.
func ParseTime(text string, loc *time.Location) (Time, error) {
	t := Time{}
	local, zone := cutZone(text)
	if zone != "" {
		offset, ok := offset(zone)
		if !ok {
			return Time{}, ErrBadTime
		}
		loc, t.Zoned = time.FixedZone("", offset), true
	}
	local, fraction, ok := cutFraction(local)
	if !ok {
		return Time{}, ErrBadTime
	}
	t.Digits = len(local)
	if t.Digits < 4 || t.Digits > 14 || t.Digits%2 == 1 || fraction > 0 && t.Digits != 14 {
		return Time{}, ErrBadTime
	}
	parts := [6]int{0, 1, 1, 0, 0, 0}
	for i, place := 0, 0; i < t.Digits; place++ {
		width := 2
		if place == 0 {
			width = 4
		}
		n, ok := parseDigits(local[i : i+width])
		if !ok {
			return Time{}, ErrBadTime
		}
		parts[place] = n
		i += width
	}
	t.Time = time.Date(parts[0], time.Month(parts[1]), parts[2], parts[3], parts[4], parts[5], fraction, loc)
	// time.Date carries 31 February into March; such a text is an error.
	year, month, day := t.Date()
	if year != parts[0] || int(month) != parts[1] || day != parts[2] || parts[3] > 23 || parts[4] > 59 || parts[5] > 59 {
		return Time{}, ErrBadTime
	}
	return t, nil
}

// FormatTime writes a time to the second, with its offset.
func FormatTime(t time.Time) string { return t.Format("20060102150405-0700") }

func cutZone(text string) (local, zone string) {
	for i := range len(text) {
		if text[i] == '+' || text[i] == '-' {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// offset reads +HHMM as seconds east of UTC. No zone is further than 14 hours.
func offset(zone string) (int, bool) {
	if len(zone) != 5 {
		return 0, false
	}
	hours, ok1 := parseDigits(zone[1:3])
	minutes, ok2 := parseDigits(zone[3:5])
	if !ok1 || !ok2 || hours > 14 || minutes > 59 {
		return 0, false
	}
	seconds := hours*3600 + minutes*60
	if zone[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// cutFraction splits the fraction of a second off, in nanoseconds.
func cutFraction(text string) (whole string, nanoseconds int, ok bool) {
	for i := range len(text) {
		if text[i] != '.' {
			continue
		}
		digits := text[i+1:]
		n, ok := parseDigits(digits)
		if !ok || len(digits) > 9 {
			return "", 0, false
		}
		for range 9 - len(digits) {
			n *= 10
		}
		return text[:i], n, true
	}
	return text, 0, true
}

func parseDigits(digits string) (int, bool) {
	n := 0
	for i := range len(digits) {
		c := digits[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, digits != ""
}
