package rows

import (
	"math"

	"hale/internal/platform/blocks"
)

// Writer writes single rows of a Text, from their first hole to their last.
//
// Neighbours differ little before their first number: the hour, the minute and
// the second. So that part is kept as a stamp, into which the time of day is
// written; it is made anew with the day and the offset.
type Writer struct {
	text          *Table
	leadingFields int // holes before the first number
	prefix        []byte
	clocks        []prefixClock
	offset        int32
	prefixValid   bool // the stamp serves further rows
	start         Clock
	end           Clock
}

// prefixClock is where in the stamp a time of day is.
type prefixClock struct {
	at  int
	end bool // of Columns.End
	day int64
}

// prefixSize is the room that most stamps need.
const prefixSize = 192

// Writer makes one for the rows of t, which must stay as it is.
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
			writeClock(dst[at+c.at:], uint32((w.instantAt(c.end, i)-c.day)/second))
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

// prefixFits tells whether row i differs from the stamp in nothing but times of day.
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

// makePrefix makes the stamp from row i.
func (w *Writer) makePrefix(i int) {
	t := w.text
	if w.prefix == nil {
		w.prefix, w.clocks = make([]byte, 0, prefixSize), make([]prefixClock, 0, len(t.Fields))
	}
	w.prefix, w.clocks, w.prefixValid, w.offset = w.prefix[:0], w.clocks[:0], true, blocks.NoOffset
	if o := t.Columns.Offset; len(o) > 0 {
		w.offset = o[i]
	}
	for k, hole := range t.Fields[:w.leadingFields] {
		if hole != Offset {
			us := w.instantAt(hole == End, i)
			w.clocks = append(w.clocks, prefixClock{len(w.prefix) + len("2006-01-02T"), hole == End, floorDiv(us, day) * day})
			w.prefixValid = w.prefixValid && us%second == 0
		}
		w.prefix = append(w.appendField(w.prefix, hole, i), t.Separators[k]...)
	}
	if w.leadingFields == len(t.Fields) && w.leadingFields > 0 { // the last hole has no number behind it
		w.prefix = w.prefix[:len(w.prefix)-len(t.Separators[w.leadingFields-1])]
	}
}

// instantAt is when row i starts or ends, as it is written.
func (w *Writer) instantAt(end bool, i int) int64 {
	c := &w.text.Columns
	if end && len(c.End) > 0 {
		return c.End[i] + w.text.Shift
	}
	return c.Time[i] + w.text.Shift
}

// appendField appends what stands in a hole of row i.
func (w *Writer) appendField(dst []byte, hole Field, i int) []byte {
	c := &w.text.Columns
	switch hole {
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
