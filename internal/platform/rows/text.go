package rows

import "hale/internal/platform/blocks"

// Field is a place in a row where something of the columns stands. Its number is
// part of the format.
type Field byte

// What stands in a hole.
const (
	Start   Field = 1 // Columns.Time as Clock writes it
	End     Field = 2 // Columns.End, likewise
	Offset  Field = 3 // Columns.Offset: whole seconds, or null
	Value   Field = 4 // Columns.Value as AppendNumber writes it
	Value2  Field = 5 // Columns.Value2, likewise
	Decimal Field = 6 // Columns.Value; a whole number without an exponent ends in .0

	lastField = Decimal
)

// Table is rows of one shape: Head, then for each row what is in its holes with
// Between[i] behind hole i, but behind the last hole of the last row Tail.
type Table struct {
	Head       []byte
	Fields     []Field
	Separators [][]byte // as many as Holes; the last one joins a row to the next
	Tail       []byte
	// Shift is how much later than Columns says an instant is written,
	// microseconds: for local times, and for decimals that are part of the shape.
	Shift   int64
	Columns blocks.Columns
}

// Append appends the text of as many rows as leave dst no longer than most
// bytes, but of one at least. It tells how many those are.
func (t *Table) Append(dst []byte, most int) (text []byte, n int) {
	dst = append(dst, t.Head...)
	most -= len(t.Tail)
	w := t.Writer()
	n = t.Columns.Len()
	for i := range n {
		before := len(dst)
		if i > 0 {
			dst = append(dst, t.Separators[len(t.Separators)-1]...)
		}
		dst = w.Row(dst, i)
		if len(dst) > most && i > 0 {
			dst, n = dst[:before], i
			break
		}
	}
	return append(dst, t.Tail...), n
}

// Size is about how long the text is; a little more than that, as a rule.
func (t *Table) Size() int {
	const instant, number = len("2006-01-02T15:04:05"), 5
	row := 0
	for i, hole := range t.Fields {
		row += len(t.Separators[i])
		if hole == Start || hole == End {
			row += instant
		} else {
			row += number
		}
	}
	return len(t.Head) + len(t.Tail) + row*t.Columns.Len()
}
