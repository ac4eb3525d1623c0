package sheet

import (
	"io"

	"hale/internal/fault"
)

// MaxRecord bounds one row or object of a file, in bytes. Real ones have some
// hundred; without a bound one open quote would take the whole file into memory.
const MaxRecord = 1 << 20

var errTooLong = fault.Newf(fault.Unprocessable, "a record of the file is longer than %d bytes", MaxRecord)

// Bounded reads a document in which no record may be longer than MaxRecord.
// Whoever splits it into records calls Next after each.
type Bounded struct {
	Bytes int64 // read so far

	in   io.Reader
	left int64
}

// NewBounded wraps a document.
func NewBounded(in io.Reader) *Bounded { return &Bounded{in: in, left: MaxRecord} }

// Next says that a record ended.
func (b *Bounded) Next() { b.left = MaxRecord }

// Read reads on, unless the present record is too long.
func (b *Bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	b.Bytes += int64(n)
	return n, err
}
