package wearables

import (
	"unicode/utf8"

	"github.com/google/uuid"

	"hale/internal/platform/rows"
)

// clock formats instants; neighbours share the text of their day.
type clock struct{ rows.Clock }

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
	return append(c.Append(dst, us), utc...)
}

const utc = "+00:00"

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
