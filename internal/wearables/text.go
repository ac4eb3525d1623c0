package wearables

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"hale/internal/platform/rows"
)

// Clock appends instants as the wire has them; neighbours share the text of
// their day.
type Clock struct{ clock rows.Clock }

// Append appends an instant, UTC microseconds, without quotes:
// 2006-01-02T15:04:05+00:00, with six decimals when it is not a whole second.
func (c *Clock) Append(dst []byte, us int64) []byte {
	return append(c.clock.Append(dst, us), utc...)
}

const utc = "+00:00"

// AppendTime appends an instant in quotes.
func AppendTime(dst []byte, us int64) []byte {
	var c Clock
	return append(c.Append(append(dst, '"'), us), '"')
}

func AppendUUIDOrNull(dst []byte, id *uuid.UUID) []byte {
	if id == nil {
		return append(dst, "null"...)
	}
	return AppendUUID(dst, *id)
}

func AppendUUID(dst []byte, id uuid.UUID) []byte {
	dst = append(dst, '"')
	dst = append(dst, id.String()...)
	return append(dst, '"')
}

func AppendTextOrNull(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return AppendText(dst, s)
}

const hexDigits = "0123456789abcdef"

// AppendText appends a JSON string. Bytes that are not UTF-8 become the
// replacement character, as in encoding/json.
func AppendText(dst []byte, s string) []byte {
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

// AppendNumber appends a JSON number; null for NaN and infinities.
func AppendNumber(dst []byte, f float64) []byte { return rows.AppendNumber(dst, f) }

// AppendOffset appends seconds east of UTC; NoOffset is null.
func AppendOffset(dst []byte, offset int32) []byte { return rows.AppendOffset(dst, offset) }

// MovedText moves the text of a moment, in the same form: with an offset it gets that of
// the zone.
func MovedText(text string, delta time.Duration, zone *time.Location) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	moved := at.Add(delta).UTC()
	if _, seconds := at.Zone(); seconds != 0 {
		moved = moved.In(zone)
	}
	if strings.HasSuffix(text, "Z") {
		return moved.Format(time.RFC3339Nano)
	}
	return moved.Format("2006-01-02T15:04:05.999999999-07:00")
}
