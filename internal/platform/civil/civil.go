// Package civil provides calendar dates without a time zone, and checks names of IANA
// time zones. The zone database is part of the binary.
package civil

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"
	_ "time/tzdata" // the same zones on every machine
)

// Date is a day of the proleptic Gregorian calendar. The zero Date is not a valid day.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// ErrBadDate is the error for text that is not an existing day as YYYY-MM-DD.
var ErrBadDate = errors.New("civil: not a date of the form YYYY-MM-DD")

// ParseDate parses YYYY-MM-DD for years 0001 to 9999. It accepts no other form.
func ParseDate(s string) (Date, error) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return Date{}, ErrBadDate
	}
	y, ok1 := digits(s[0:4])
	m, ok2 := digits(s[5:7])
	d, ok3 := digits(s[8:10])
	date := Date{y, time.Month(m), d}
	if !ok1 || !ok2 || !ok3 || !date.Valid() {
		return Date{}, ErrBadDate
	}
	return date, nil
}

func digits(s string) (int, bool) {
	n := 0
	for i := range len(s) {
		c := s[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// MustParse parses a constant like ParseDate. It panics on invalid text.
func MustParse(s string) Date {
	d, err := ParseDate(s)
	if err != nil {
		panic(err)
	}
	return d
}

// DateOf returns the day of t in t's location.
func DateOf(t time.Time) Date {
	y, m, d := t.Date()
	return Date{y, m, d}
}

// Valid reports whether the day exists.
func (d Date) Valid() bool {
	if d.Year < 1 || d.Year > 9999 || d.Month < 1 || d.Month > 12 || d.Day < 1 {
		return false
	}
	return d.Day <= 28 || DateOf(d.In(time.UTC)) == d
}

// IsZero reports whether the date is not set.
func (d Date) IsZero() bool { return d == Date{} }

// In returns the start of the day in loc. If a zone change skips midnight, it is the
// first instant that exists.
func (d Date) In(loc *time.Location) time.Time {
	t := time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, loc)
	if DateOf(t) != d { // the zone skips midnight, and time.Date used the offset before the change
		if _, shift := t.ZoneBounds(); !shift.IsZero() && DateOf(shift) == d {
			return shift
		}
	}
	return t
}

// AddDays returns the day n days later; n may be negative.
func (d Date) AddDays(n int) Date {
	return DateOf(time.Date(d.Year, d.Month, d.Day+n, 0, 0, 0, 0, time.UTC))
}

// DaysSince returns the number of days from other to d.
func (d Date) DaysSince(other Date) int {
	return int(d.In(time.UTC).Sub(other.In(time.UTC)) / (24 * time.Hour))
}

// Before reports whether d is earlier than other.
func (d Date) Before(other Date) bool { return d.Compare(other) < 0 }

// After reports whether d is later than other.
func (d Date) After(other Date) bool { return d.Compare(other) > 0 }

// Compare returns -1, 0 or 1.
func (d Date) Compare(other Date) int {
	a := d.Year*10000 + int(d.Month)*100 + d.Day
	b := other.Year*10000 + int(other.Month)*100 + other.Day
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (d Date) String() string {
	return string(d.append(make([]byte, 0, 10)))
}

func (d Date) append(b []byte) []byte {
	y, m := d.Year, int(d.Month)
	return append(b,
		byte('0'+y/1000%10), byte('0'+y/100%10), byte('0'+y/10%10), byte('0'+y%10), '-',
		byte('0'+m/10%10), byte('0'+m%10), '-', byte('0'+d.Day/10%10), byte('0'+d.Day%10))
}

// AppendText appends YYYY-MM-DD.
func (d Date) AppendText(b []byte) ([]byte, error) { return d.append(b), nil }

// MarshalText returns YYYY-MM-DD.
func (d Date) MarshalText() ([]byte, error) { return d.append(nil), nil }

// UnmarshalText parses YYYY-MM-DD.
func (d *Date) UnmarshalText(text []byte) error {
	parsed, err := ParseDate(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// Value returns YYYY-MM-DD, which sorts by date.
func (d Date) Value() (driver.Value, error) { return d.String(), nil }

// Scan reads a TEXT column.
func (d *Date) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*d = Date{}
		return nil
	case string:
		return d.UnmarshalText([]byte(v))
	case []byte:
		return d.UnmarshalText(v)
	}
	return fmt.Errorf("civil: cannot scan %T into a date", src)
}

var zones sync.Map // name -> *time.Location

// ErrBadZone is the error for a name that is not in the IANA database.
var ErrBadZone = errors.New("civil: not an IANA time zone")

// ZonePattern matches the form of IANA names. It excludes other files of a machine's zone
// folder. They are not zones of a place, and other machines may not have them.
const ZonePattern = `^[A-Z][A-Za-z0-9_+-]*(/[A-Z][A-Za-z0-9_+-]*){0,2}$`

var zoneName = regexp.MustCompile(ZonePattern)

// Zone returns the location of an IANA name such as Europe/Helsinki.
func Zone(name string) (*time.Location, error) {
	if loc, ok := zones.Load(name); ok {
		return loc.(*time.Location), nil
	}
	if !zoneName.MatchString(name) || name == "Local" || name == "Factory" {
		return nil, ErrBadZone
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, ErrBadZone
	}
	zones.Store(name, loc)
	return loc, nil
}
