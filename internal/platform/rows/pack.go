package rows

import (
	"encoding/binary"
	"errors"
	"fmt"

	"hale/internal/platform/blocks"
)

// Mark is the first byte of every packed Text.
const Mark = 1

var (
	errDamaged = errors.New("rows: what was packed is damaged")
	errYear    = errors.New("rows: a year needs more than four digits")
	errShape   = errors.New("rows: a shape without holes, with unknown ones, or with other text between them")
)

// A packed Text is, with numbers as varints and bytes behind their length: Mark,
// Shift, the head, the tail, how many holes there are, each hole with what is
// between it and the next, and the columns as a block.

// Pack appends the packed form of the Text. It refuses what would not come back:
// instants out of order or of other ages, columns of several lengths.
func (t *Table) Pack(dst []byte) ([]byte, error) {
	if !t.valid() {
		return dst, errShape
	}
	for _, hole := range t.Fields {
		if hole == Start && !t.fourDigits(t.Columns.Time) || hole == End && !t.fourDigits(t.Columns.End) {
			return dst, errYear
		}
	}
	dst = binary.AppendVarint(append(dst, Mark), t.Shift)
	dst = appendBytes(appendBytes(dst, t.Head), t.Tail)
	dst = binary.AppendUvarint(dst, uint64(len(t.Fields)))
	for i, hole := range t.Fields {
		dst = appendBytes(append(dst, byte(hole)), t.Separators[i])
	}
	packed, err := blocks.Append(dst, &t.Columns)
	if err != nil {
		return dst, fmt.Errorf("rows: %w", err)
	}
	return packed, nil
}

// The first and the last second whose year has four digits: 0 to 9999.
const earliest, latest = -62_167_219_200 * second, 253_402_300_799 * second

// fourDigits tells whether the years of all instants have four digits as they
// are written.
func (t *Table) fourDigits(all []int64) bool {
	for _, us := range all {
		if us += t.Shift; us < earliest || us > latest {
			return false
		}
	}
	return true
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// Unpack appends the text of what Pack has made, of most bytes at most.
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

// valid tells whether rows of the shape can be written.
func (t *Table) valid() bool {
	for _, hole := range t.Fields {
		if hole < Start || hole > lastField {
			return false
		}
	}
	return len(t.Fields) > 0 && len(t.Fields) == len(t.Separators)
}

// reader takes a packed Text apart. After the first fault rest is nil and all
// it reads is zero.
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

// skip goes over n bytes and is 1, or 0 for a fault.
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
