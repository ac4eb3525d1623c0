package rows

import (
	"encoding/binary"
	"errors"
	"fmt"

	"hale/internal/platform/blocks"
)

// Field is a place in a row where a value of the columns is written. Its number is part
// of the format.
type Field byte

// The kinds of fields.
const (
	Start   Field = 1 // Columns.Time, written by Clock
	End     Field = 2 // Columns.End, written by Clock
	Offset  Field = 3 // Columns.Offset: whole seconds, or null
	Value   Field = 4 // Columns.Value, written by AppendNumber
	Value2  Field = 5 // Columns.Value2, written by AppendNumber
	Decimal Field = 6 // Columns.Value; a whole number without an exponent ends in .0

	lastField = Decimal
)

// Table is text with one row per sample. The text is Head, then the fields of each row,
// then Tail. Separators[i] follows field i, except after the last field of the last
// row.
type Table struct {
	Head       []byte
	Fields     []Field
	Separators [][]byte // one for each field; the last one separates two rows
	Tail       []byte
	// Shift is added to an instant before it is written, in microseconds. It is used
	// for local times, and for decimals that are part of the common text.
	Shift   int64
	Columns blocks.Columns
}

// Append appends the text of the first n rows, as many as keep dst within most bytes,
// but at least one.
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

// Size estimates the length of the text. It is usually a little too high.
func (t *Table) Size() int {
	const instant, number = len("2006-01-02T15:04:05"), 5
	row := 0
	for i, field := range t.Fields {
		row += len(t.Separators[i])
		if field == Start || field == End {
			row += instant
		} else {
			row += number
		}
	}
	return len(t.Head) + len(t.Tail) + row*t.Columns.Len()
}

// Mark is the first byte of every packed Table.
const Mark = 1

var (
	errDamaged = errors.New("rows: the packed text is damaged")
	errYear    = errors.New("rows: a year needs more than four digits")
	errShape   = errors.New("rows: a table without fields, with unknown fields, or with a different number of separators")
)

// A packed Table contains Mark, Shift, Head, Tail, the number of fields, each field
// with the text after it, and the columns as a block. Numbers are varints. Texts follow
// their length.

// Pack appends the packed form of the table. It refuses tables that Unpack could not
// restore: instants out of order or outside the years 0 to 9999, and columns of
// different lengths.
func (t *Table) Pack(dst []byte) ([]byte, error) {
	if !t.valid() {
		return dst, errShape
	}
	for _, field := range t.Fields {
		if field == Start && !t.fourDigits(t.Columns.Time) || field == End && !t.fourDigits(t.Columns.End) {
			return dst, errYear
		}
	}
	dst = binary.AppendVarint(append(dst, Mark), t.Shift)
	dst = appendBytes(appendBytes(dst, t.Head), t.Tail)
	dst = binary.AppendUvarint(dst, uint64(len(t.Fields)))
	for i, field := range t.Fields {
		dst = appendBytes(append(dst, byte(field)), t.Separators[i])
	}
	packed, err := blocks.Append(dst, &t.Columns)
	if err != nil {
		return dst, fmt.Errorf("rows: %w", err)
	}
	return packed, nil
}

// The first and the last second whose year has four digits: 0 to 9999.
const earliestTime, latestTime = -62_167_219_200 * second, 253_402_300_799 * second

// fourDigits reports whether the years of all instants, as written, have four digits.
func (t *Table) fourDigits(all []int64) bool {
	for _, us := range all {
		if us += t.Shift; us < earliestTime || us > latestTime {
			return false
		}
	}
	return true
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// Unpack appends the text of a packed Table, which must not exceed most bytes.
func Unpack(dst, packed []byte, most int) ([]byte, error) {
	r := reader{packed}
	if r.byte() != Mark {
		return dst, errDamaged
	}
	t := Table{Shift: r.varint(), Head: r.bytes(), Tail: r.bytes()}
	for n := r.uvarint(); n > 0 && r.rest != nil; n-- {
		t.Fields, t.Separators = append(t.Fields, Field(r.byte())), append(t.Separators, r.bytes())
	}
	if r.rest == nil {
		return dst, errDamaged
	}
	if err := blocks.Decode(&t.Columns, r.rest); err != nil {
		return dst, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if !t.valid() {
		return dst, errDamaged
	}
	start := len(dst)
	text, n := t.Append(dst, start+most)
	if n < t.Columns.Len() || len(text) > start+most {
		return dst, errDamaged
	}
	return text, nil
}

// valid reports whether the rows can be written.
func (t *Table) valid() bool {
	for _, field := range t.Fields {
		if field < Start || field > lastField {
			return false
		}
	}
	return len(t.Fields) > 0 && len(t.Fields) == len(t.Separators)
}

// reader reads a packed Table. After the first error rest is nil and all reads return
// zero.
type reader struct{ rest []byte }

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.rest = nil
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) varint() int64 {
	x, n := binary.Varint(r.rest)
	return x * int64(r.skip(n))
}

func (r *reader) uvarint() uint64 {
	x, n := binary.Uvarint(r.rest)
	return x * uint64(r.skip(n))
}

// skip skips n bytes and returns 1, or 0 after an error.
func (r *reader) skip(n int) int {
	if n <= 0 {
		r.rest = nil
		return 0
	}
	r.rest = r.rest[n:]
	return 1
}

func (r *reader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.rest = nil
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}
