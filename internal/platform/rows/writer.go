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
	text   *Text
	leads  int // holes before the first number
	stamp  []byte
	clocks []clockAt
	offset int32
	good   bool // the stamp serves further rows
	start  Clock
	end    Clock
}

// clockAt is where in the stamp a time of day is.
type clockAt struct {
	at  int
	end bool // of Columns.End
	day int64
}

// stampSize is the room that most stamps need.
const stampSize = 192

// Writer makes one for the rows of t, which must stay as it is.
func (t *Text) Writer() Writer {
	w := Writer{text: t}
	for w.leads < len(t.Holes) && t.Holes[w.leads] <= Offset {
		w.leads++
	}
	return w
}

// Row appends row i.
func (w *Writer) Row(dst []byte, i int) []byte {
	t := w.text
	if at := len(dst); w.good && w.serves(i) {
		dst = append(dst, w.stamp...)
		for k := range w.clocks {
			c := &w.clocks[k]
			writeClock(dst[at+c.at:], uint32((w.instant(c.end, i)-c.day)/second))
		}
	} else {
		w.makeStamp(i)
		dst = append(dst, w.stamp...)
	}
	for k := w.leads; k < len(t.Holes); k++ {
		if k > w.leads {
			dst = append(dst, t.Between[k-1]...)
		}
		dst = w.hole(dst, t.Holes[k], i)
	}
	return dst
}

// serves tells whether row i differs from the stamp in nothing but times of day.
func (w *Writer) serves(i int) bool {
	if o := w.text.Columns.Offset; len(o) > 0 && o[i] != w.offset {
		return false
	}
	for k := range w.clocks {
		c := &w.clocks[k]
		if rest := uint64(w.instant(c.end, i) - c.day); rest >= day || rest%second != 0 {
			return false
		}
	}
	return true
}

// makeStamp makes the stamp from row i.
func (w *Writer) makeStamp(i int) {
	t := w.text
	if w.stamp == nil {
		w.stamp, w.clocks = make([]byte, 0, stampSize), make([]clockAt, 0, len(t.Holes))
	}
	w.stamp, w.clocks, w.good, w.offset = w.stamp[:0], w.clocks[:0], true, blocks.NoOffset
	if o := t.Columns.Offset; len(o) > 0 {
		w.offset = o[i]
	}
	for k, hole := range t.Holes[:w.leads] {
		if hole != Offset {
			us := w.instant(hole == End, i)
			w.clocks = append(w.clocks, clockAt{len(w.stamp) + len("2006-01-02T"), hole == End, floorDiv(us, day) * day})
			w.good = w.good && us%second == 0
		}
		w.stamp = append(w.hole(w.stamp, hole, i), t.Between[k]...)
	}
	if w.leads == len(t.Holes) && w.leads > 0 { // the last hole has no number behind it
		w.stamp = w.stamp[:len(w.stamp)-len(t.Between[w.leads-1])]
	}
}

// instant is when row i starts or ends, as it is written.
func (w *Writer) instant(end bool, i int) int64 {
	c := &w.text.Columns
	if end && len(c.End) > 0 {
		return c.End[i] + w.text.Shift
	}
	return c.Time[i] + w.text.Shift
}

// hole appends what stands in a hole of row i.
func (w *Writer) hole(dst []byte, hole Hole, i int) []byte {
	c := &w.text.Columns
	switch hole {
	case Start:
		return w.start.Append(dst, w.instant(false, i))
	case End:
		return w.end.Append(dst, w.instant(true, i))
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
