package rows

import (
	"math"
	"strconv"

	"hale/internal/platform/blocks"
)

const (
	second = 1_000_000 // microseconds
	day    = 86_400 * second
)

// Clock writes instants; neighbours share the text of their day.
type Clock struct {
	day  int64
	date [11]byte // 2006-01-02T
	set  bool
}

// Append appends an instant, UTC microseconds, as 2006-01-02T15:04:05, with six
// decimals when it is not a whole second.
func (c *Clock) Append(dst []byte, us int64) []byte {
	rest := us - c.day*day
	if !c.set || rest < 0 || rest >= day {
		c.day, c.set = floorDiv(us, day), true
		c.date = dateText(c.day)
		rest = us - c.day*day
	}
	frac := uint32(rest % second)
	dst = append(append(dst, c.date[:]...), "00:00:00"...)
	writeClock(dst[len(dst)-len("00:00:00"):], uint32(rest/second))
	if frac == 0 {
		return dst
	}
	digits := [...]byte{'.', '0', '0', '0', '0', '0', '0'}
	for i := 6; i > 0; i-- {
		digits[i] = byte('0' + frac%10)
		frac /= 10
	}
	return append(dst, digits[:]...)
}

// writeClock writes a time of day over 00:00:00.
func writeClock(to []byte, sec uint32) {
	_ = to[7]
	h, m, s := sec/3600, sec/60%60, sec%60
	to[0], to[1] = byte('0'+h/10), byte('0'+h%10)
	to[3], to[4] = byte('0'+m/10), byte('0'+m%10)
	to[6], to[7] = byte('0'+s/10), byte('0'+s%10)
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

// AppendOffset appends seconds east of UTC; NoOffset is null.
func AppendOffset(dst []byte, offset int32) []byte {
	if offset == blocks.NoOffset {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, int64(offset), 10)
}

// minExponent is from where on whole numbers are written with one.
const minExponent = 1e15

// AppendNumber appends the shortest JSON number for f; what JSON cannot say is
// null.
func AppendNumber(dst []byte, f float64) []byte {
	if i := int64(f); float64(i) == f && i > -minExponent && i < minExponent {
		return strconv.AppendInt(dst, i, 10)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// appendDecimal is AppendNumber in languages that write 72.0.
func appendDecimal(dst []byte, f float64) []byte {
	dst = AppendNumber(dst, f)
	if math.Trunc(f) == f && math.Abs(f) < minExponent {
		dst = append(dst, ".0"...)
	}
	return dst
}
