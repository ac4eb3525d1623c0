package rows

import (
	"math"
	"strconv"

	"hale/internal/platform/blocks"
)

// Writer writes single rows of a Table, from their first field to their last.
//
// Successive rows differ little before their first number: in the hour, the minute and
// the second. Writer keeps this prefix and only replaces the time of day in it. It
// creates a new prefix when the day or the offset changes.
type Writer struct {
	text          *Table
	leadingFields int // fields before the first number
	prefix        []byte
	clocks        []prefixClock
	offset        int32
	prefixValid   bool // the prefix fits further rows
	start         Clock
	end           Clock
}

// prefixClock is the position of a time of day in the prefix.
type prefixClock struct {
	position int
	end      bool // of Columns.End
	day      int64
}

// prefixSize is the capacity for most prefixes.
const prefixSize = 192

// Writer returns a writer for the rows of t, which must not change meanwhile.
func (t *Table) Writer() Writer {
	w := Writer{text: t}
	for w.leadingFields < len(t.Fields) && t.Fields[w.leadingFields] <= Offset {
		w.leadingFields++
	}
	return w
}

// Row appends row i.
func (w *Writer) Row(dst []byte, i int) []byte {
	t := w.text
	if at := len(dst); w.prefixValid && w.prefixFits(i) {
		dst = append(dst, w.prefix...)
		for k := range w.clocks {
			c := &w.clocks[k]
			writeClock(dst[at+c.position:], uint32((w.instantAt(c.end, i)-c.day)/second))
		}
	} else {
		w.makePrefix(i)
		dst = append(dst, w.prefix...)
	}
	for k := w.leadingFields; k < len(t.Fields); k++ {
		if k > w.leadingFields {
			dst = append(dst, t.Separators[k-1]...)
		}
		dst = w.appendField(dst, t.Fields[k], i)
	}
	return dst
}

// prefixFits reports whether row i differs from the prefix only in the time of day.
func (w *Writer) prefixFits(i int) bool {
	if o := w.text.Columns.Offset; len(o) > 0 && o[i] != w.offset {
		return false
	}
	for k := range w.clocks {
		c := &w.clocks[k]
		if rest := uint64(w.instantAt(c.end, i) - c.day); rest >= day || rest%second != 0 {
			return false
		}
	}
	return true
}

// makePrefix creates the prefix from row i.
func (w *Writer) makePrefix(i int) {
	t := w.text
	if w.prefix == nil {
		w.prefix, w.clocks = make([]byte, 0, prefixSize), make([]prefixClock, 0, len(t.Fields))
	}
	w.prefix, w.clocks, w.prefixValid, w.offset = w.prefix[:0], w.clocks[:0], true, blocks.NoOffset
	if o := t.Columns.Offset; len(o) > 0 {
		w.offset = o[i]
	}
	for k, field := range t.Fields[:w.leadingFields] {
		if field != Offset {
			us := w.instantAt(field == End, i)
			w.clocks = append(w.clocks, prefixClock{len(w.prefix) + len("2006-01-02T"), field == End, floorDiv(us, day) * day})
			w.prefixValid = w.prefixValid && us%second == 0
		}
		w.prefix = append(w.appendField(w.prefix, field, i), t.Separators[k]...)
	}
	if w.leadingFields == len(t.Fields) && w.leadingFields > 0 { // no number follows the last field
		w.prefix = w.prefix[:len(w.prefix)-len(t.Separators[w.leadingFields-1])]
	}
}

// instantAt returns the start or the end of row i, as it is written.
func (w *Writer) instantAt(end bool, i int) int64 {
	c := &w.text.Columns
	if end && len(c.End) > 0 {
		return c.End[i] + w.text.Shift
	}
	return c.Time[i] + w.text.Shift
}

// appendField appends the value of a field of row i.
func (w *Writer) appendField(dst []byte, field Field, i int) []byte {
	c := &w.text.Columns
	switch field {
	case Start:
		return w.start.Append(dst, w.instantAt(false, i))
	case End:
		return w.end.Append(dst, w.instantAt(true, i))
	case Offset:
		if len(c.Offset) > 0 {
			return AppendOffset(dst, c.Offset[i])
		}
		return AppendOffset(dst, blocks.NoOffset)
	case Value:
		return AppendNumber(dst, c.Value[i])
	case Value2:
		if len(c.Value2) > 0 {
			return AppendNumber(dst, c.Value2[i])
		}
		return AppendNumber(dst, math.NaN())
	case Decimal:
		return appendDecimal(dst, c.Value[i])
	}
	return dst
}

const (
	second = 1_000_000 // microseconds
	day    = 86_400 * second
)

// Clock writes instants. Successive instants of the same day share the text of the
// date.
type Clock struct {
	day  int64
	date [11]byte // 2006-01-02T
	set  bool
}

// Append appends an instant, in UTC microseconds, as 2006-01-02T15:04:05. It adds six
// decimals if the instant is not a whole second.
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

// writeClock writes a time of day over the text 00:00:00.
func writeClock(to []byte, sec uint32) {
	_ = to[7]
	h, m, s := sec/3600, sec/60%60, sec%60
	to[0], to[1] = byte('0'+h/10), byte('0'+h%10)
	to[3], to[4] = byte('0'+m/10), byte('0'+m%10)
	to[6], to[7] = byte('0'+s/10), byte('0'+s%10)
}

// dateText returns the date of a day number since 1970, followed by T.
func dateText(day int64) (text [11]byte) {
	// Days are counted from 0000-03-01, so that a leap day is the last day of a year.
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

// AppendOffset appends seconds east of UTC, or null for NoOffset.
func AppendOffset(dst []byte, offset int32) []byte {
	if offset == blocks.NoOffset {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, int64(offset), 10)
}

// minExponent is the least whole number that is written with an exponent.
const minExponent = 1e15

// AppendNumber appends the shortest JSON number for f, or null for NaN and infinities.
func AppendNumber(dst []byte, f float64) []byte {
	if i := int64(f); float64(i) == f && i > -minExponent && i < minExponent {
		return strconv.AppendInt(dst, i, 10)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// appendDecimal appends a number like AppendNumber, in the notation of languages that
// print 72.0 for 72.
func appendDecimal(dst []byte, f float64) []byte {
	dst = AppendNumber(dst, f)
	if math.Trunc(f) == f && math.Abs(f) < minExponent {
		dst = append(dst, ".0"...)
	}
	return dst
}
