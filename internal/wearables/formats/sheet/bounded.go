package sheet

import (
	"bufio"
	"bytes"
	"io"

	"hale/internal/platform/fault"
)

// MaxRecord bounds one row or object of a file, in bytes. Real ones have some
// hundred; without a bound one open quote would take the whole file into memory.
const MaxRecord = 1 << 20

var errTooLong = NewTooLongError(MaxRecord)

// NewTooLongError refuses a record of more than some bytes.
func NewTooLongError(most int64) error {
	return fault.Newf(fault.Unprocessable, "a record of the file is longer than %d bytes", most)
}

// ByteOrderMark is the byte order mark, which some programs write before a text.
var ByteOrderMark = []byte("\xef\xbb\xbf")

// BoundedReader reads a document in which no record may be longer than some bytes. The caller
// splits it into records and calls Next after each. It skips a byte order mark at the
// start.
type BoundedReader struct {
	Bytes int64 // read so far

	in         *bufio.Reader
	begun      bool
	most, left int64
	tooLong    error
}

// NewBounded wraps a document whose records have up to MaxRecord bytes.
func NewBounded(in io.Reader) *BoundedReader {
	return newBounded(in, MaxRecord, errTooLong)
}

// NewBoundedTo wraps a document whose records have up to most bytes.
func NewBoundedTo(in io.Reader, most int64) *BoundedReader {
	return newBounded(in, most, NewTooLongError(most))
}

func newBounded(in io.Reader, most int64, tooLong error) *BoundedReader {
	// The buffer holds the mark; longer reads go past it.
	return &BoundedReader{in: bufio.NewReaderSize(in, 16), most: most, left: most, tooLong: tooLong}
}

// Next starts the next record, with the full limit.
func (b *BoundedReader) Next() { b.left = b.most }

// Read reads on, unless the present record is too long.
func (b *BoundedReader) Read(p []byte) (int, error) {
	if !b.begun {
		b.begun = true
		if start, _ := b.in.Peek(len(ByteOrderMark)); bytes.Equal(start, ByteOrderMark) { // an error comes again with the next read
			n, _ := b.in.Discard(len(ByteOrderMark))
			b.Bytes += int64(n)
		}
	}
	if b.left <= 0 {
		return 0, b.tooLong
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	b.Bytes += int64(n)
	return n, err
}
