// Package rawhttp is an HTTP/1.1 client that costs little. It is for programs that put load
// on a server and share its cores. CPU time that the client uses is not available to the
// server, and lowers the throughput that they measure.
//
// One Conn is one keep-alive connection, used by one goroutine. A request is bytes,
// written by hand or by Head. The answer is read in place, and its body is valid until
// the next request. The client understands the answers of Hale and of net/http, and fails
// on others.
package rawhttp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// Conn is a connection to one server. Make it with Dial.
type Conn struct {
	net     net.Conn
	read    *bufio.Reader
	out     []byte
	body    []byte
	timeout time.Duration
}

// Response is an answer. Body belongs to the connection and is overwritten by
// the next request.
type Response struct {
	Status int
	Body   []byte
}

// Dial connects to host:port. Every exchange must end within timeout.
func Dial(ctx context.Context, address string, timeout time.Duration) (*Conn, error) {
	dialer := net.Dialer{Timeout: timeout}
	c, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("rawhttp: %w", err)
	}
	return &Conn{net: c, read: bufio.NewReaderSize(c, 64<<10), timeout: timeout}, nil
}

// Close ends the connection.
func (c *Conn) Close() error { return c.net.Close() }

// Head returns the part of a request that stays the same: the method, the path and the
// headers up to the length of the body. Each header is a full line without its end, such
// as "x-service-api-key: sk_…".
func Head(method, path, host string, headers ...string) []byte {
	head := []byte(method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n")
	for _, line := range headers {
		head = append(append(head, line...), "\r\n"...)
	}
	return head
}

// Do sends head and body and reads the answer. A body, even an empty one, is announced as
// JSON; nil means none. After an error the connection cannot be used again.
func (c *Conn) Do(head, body []byte) (Response, error) {
	return c.DoAs("application/json", head, body)
}

// DoAs sends a request like Do, and announces the body as another media type.
func (c *Conn) DoAs(media string, head, body []byte) (Response, error) {
	if err := c.net.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return Response{}, fmt.Errorf("rawhttp: %w", err)
	}
	c.out = append(c.out[:0], head...)
	if body != nil {
		c.out = append(append(c.out, "Content-Type: "...), media...)
		c.out = append(c.out, "\r\nContent-Length: "...)
		c.out = strconv.AppendInt(c.out, int64(len(body)), 10)
		c.out = append(c.out, "\r\n"...)
	}
	c.out = append(append(c.out, "\r\n"...), body...)
	if _, err := c.net.Write(c.out); err != nil {
		return Response{}, fmt.Errorf("rawhttp: sending: %w", err)
	}
	r, err := c.answer()
	if err != nil {
		return Response{}, fmt.Errorf("rawhttp: reading the answer: %w", err)
	}
	return r, nil
}

var errMalformed = errors.New("malformed HTTP/1.1 answer")

func (c *Conn) answer() (Response, error) {
	line, err := c.line()
	if err != nil {
		return Response{}, err
	}
	// "HTTP/1.1 200 OK"
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return Response{}, errMalformed
	}
	status, err := strconv.Atoi(string(line[9:12]))
	if err != nil {
		return Response{}, errMalformed
	}
	length, chunked := -1, false
	for {
		if line, err = c.line(); err != nil {
			return Response{}, err
		}
		if len(line) == 0 {
			break
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case !ok:
			return Response{}, errMalformed
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 {
				return Response{}, errMalformed
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = bytes.EqualFold(value, []byte("chunked"))
		}
	}
	c.body = c.body[:0]
	switch {
	case status == 204 || status == 304:
	case chunked:
		err = c.chunks()
	case length >= 0:
		err = c.take(length)
	default:
		err = errors.New("an answer without a length")
	}
	return Response{status, c.body}, err
}

// line returns the next line without its end. The line is valid until the next read.
func (c *Conn) line() ([]byte, error) {
	line, err := c.read.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// take appends the next n bytes to the body.
func (c *Conn) take(n int) error {
	start := len(c.body)
	if need := start + n; need > cap(c.body) {
		grown := make([]byte, start, max(need, 2*cap(c.body)))
		copy(grown, c.body)
		c.body = grown
	}
	c.body = c.body[:start+n]
	_, err := io.ReadFull(c.read, c.body[start:])
	return err
}

// chunks reads a chunked body and its trailer.
func (c *Conn) chunks() error {
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		digits, _, _ := bytes.Cut(line, []byte(";"))
		size, err := strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, 31)
		if err != nil {
			return errMalformed
		}
		if size == 0 {
			break
		}
		if err := c.take(int(size)); err != nil {
			return err
		}
		if line, err = c.line(); err != nil || len(line) > 0 {
			return errors.Join(errMalformed, err)
		}
	}
	for {
		line, err := c.line()
		if err != nil || len(line) == 0 {
			return err
		}
	}
}
