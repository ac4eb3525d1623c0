package mllp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// For any bytes from a peer, messages keep to the limit and contain no end of a
// block. The stream ends in one of four ways. The outcome does not depend on
// how the bytes are split.
func FuzzFrames(f *testing.F) {
	const limit = 64
	f.Add(appendFrame(appendFrame(nil, []byte("MSH|^~\\&|A\rPID|1\r")), nil))
	f.Add([]byte("\r\n\x0bMSH|\x1c\r\n\x0bMSH|\x1c"))
	f.Add(appendFrame(nil, bytes.Repeat([]byte("x"), limit)))
	f.Add(appendFrame(nil, bytes.Repeat([]byte("x"), limit+1)))
	f.Add([]byte("GET / HTTP/1.1\r\n"))
	f.Add([]byte("\x16\x03\x01\x02\x00"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		whole, end := frames(bufio.NewReader(bytes.NewReader(stream)), limit)
		drops, endOfDrops := frames(bufio.NewReaderSize(iotest.OneByteReader(bytes.NewReader(stream)), 16), limit)
		if !errors.Is(end, endOfDrops) || len(whole) != len(drops) {
			t.Fatalf("%d messages and %v at once, %d and %v byte by byte", len(whole), end, len(drops), endOfDrops)
		}
		if end != io.EOF && end != io.ErrUnexpectedEOF && end != ErrTooLarge && end != ErrNoFrame { //nolint:errorlint // as they are
			t.Fatal(end)
		}
		for i, message := range whole {
			if len(message) > limit || bytes.IndexByte(message, endBlock) >= 0 || !bytes.Equal(message, drops[i]) {
				t.Fatalf("message %d is %q, byte by byte %q", i, message, drops[i])
			}
		}
		var again []byte
		for _, message := range whole {
			again = appendFrame(again, message)
		}
		if got, end := frames(bufio.NewReader(bytes.NewReader(again)), limit); end != io.EOF || len(got) != len(whole) { //nolint:errorlint // as it is
			t.Fatalf("framed again: %d of %d messages and %v", len(got), len(whole), end)
		}
	})
}

// frames reads all messages of a stream, and the error that ends it.
func frames(r *bufio.Reader, limit int) (all [][]byte, end error) {
	var buffer []byte
	for {
		buffer, end = readFrame(r, buffer, limit)
		if end != nil {
			return all, end
		}
		all = append(all, bytes.Clone(buffer))
	}
}
