package wearables

import (
	"unicode/utf8"

	"github.com/google/uuid"
)

// clock formats instants; neighbours share the text of their day.
type clock struct {
	day  int64
	date [11]byte // 2006-01-02T
	set  bool
}

const (
	microsecond = 1
	secondUS    = 1_000_000 * microsecond
	minuteUS    = 60 * secondUS
	hourUS      = 60 * minuteUS
	dayUS       = 24 * hourUS
)

// append writes an instant, UTC microseconds, as 2006-01-02T15:04:05+00:00
// with six decimals when it is not a whole second.
func (c *clock) append(dst []byte, us int64) []byte {
	day := floorDiv(us, dayUS)
	if !c.set || day != c.day {
		c.day, c.set = day, true
		c.date = dateText(day)
	}
	dst = append(dst, c.date[:]...)
	rest := us - day*dayUS
	sec := rest / secondUS
	h, m, s := sec/3600, sec/60%60, sec%60
	dst = append(dst, byte('0'+h/10), byte('0'+h%10), ':', byte('0'+m/10), byte('0'+m%10), ':', byte('0'+s/10), byte('0'+s%10))
	if frac := rest % secondUS; frac != 0 {
		var digits [7]byte
		digits[0] = '.'
		for i := 6; i > 0; i-- {
			digits[i] = byte('0' + frac%10)
			frac /= 10
		}
		dst = append(dst, digits[:]...)
	}
	return append(dst, "+00:00"...)
}

// dateText is the civil date of a day number since 1970, with the T.
func dateText(day int64) (text [11]byte) {
	// Days are counted from 0000-03-01, so that leap days end a year.
	z := day + 719_468
	era := floorDiv(z, 146_097)
	doe := z - era*146_097
	yoe := (doe - doe/1460 + doe/36_524 - doe/146_096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d := doy - (153*mp+2)/5 + 1
	m := mp + 3
	if m > 12 {
		m -= 12
	}
	y := yoe + era*400
	if m <= 2 {
		y++
	}
	copy(text[:], "0000-00-00T")
	for _, part := range [...]struct{ at, n, v int64 }{{0, 4, y}, {5, 2, m}, {8, 2, d}} {
		for at := part.at + part.n - 1; at >= part.at; at-- {
			text[at] = byte('0' + part.v%10)
			part.v /= 10
		}
	}
	return text
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// appendTime appends an instant in quotes.
func appendTime(dst []byte, us int64) []byte {
	var c clock
	return append(c.append(append(dst, '"'), us), '"')
}

func appendUUIDOrNull(dst []byte, id *uuid.UUID) []byte {
	if id == nil {
		return append(dst, "null"...)
	}
	return appendUUID(dst, *id)
}

func appendUUID(dst []byte, id uuid.UUID) []byte {
	dst = append(dst, '"')
	dst = append(dst, id.String()...)
	return append(dst, '"')
}

func appendTextOrNull(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return appendText(dst, s)
}

const hexDigits = "0123456789abcdef"

// appendText appends a JSON string. Bytes that are not UTF-8 become the
// replacement character, as in encoding/json.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
			i++
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			i++
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
		}
	}
	return append(dst, '"')
}
