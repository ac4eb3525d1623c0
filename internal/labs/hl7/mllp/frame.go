package mllp

import (
	"bufio"
	"errors"
	"io"
)

// A frame is startBlock, the message, endBlock and carriageReturn.
const (
	startBlock     = 0x0b
	endBlock       = 0x1c
	carriageReturn = '\r'
)

// ErrTooLarge is returned for a message over the limit, together with the
// bytes read so far.
var ErrTooLarge = errors.New("mllp: the message is larger than allowed")

// ErrNoFrame is returned for a peer that sends another protocol, such as TLS
// or HTTP.
var ErrNoFrame = errors.New("mllp: bytes outside of a frame")

// readFrame reads one message into buffer, which it returns grown. Line ends
// between frames are skipped; some senders write a CR LF there.
func readFrame(r *bufio.Reader, buffer []byte, limit int) ([]byte, error) {
	buffer = buffer[:0]
	for {
		c, err := r.ReadByte()
		if err != nil {
			return buffer, err
		}
		if c == startBlock {
			break
		}
		if c != '\r' && c != '\n' {
			return buffer, ErrNoFrame
		}
	}
	for {
		part, err := r.ReadSlice(endBlock)
		buffer = append(buffer, part...)
		if len(buffer) > limit+1 {
			return buffer[:limit], ErrTooLarge
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return buffer, io.ErrUnexpectedEOF
		case err != nil:
			return buffer, err
		}
		return buffer[:len(buffer)-1], nil // the CR after it is a line end between frames
	}
}

// appendFrame appends the frame of a message to out.
func appendFrame(out, message []byte) []byte {
	out = append(out, startBlock)
	out = append(out, message...)
	return append(out, endBlock, carriageReturn)
}
