package mllp

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Client sends messages to one peer over connections that it keeps. Address
// must be set; zero values of the other fields mean their defaults. It is safe
// for concurrent use; each message has its own connection until its answer
// arrives.
type Client struct {
	// Address is host:port.
	Address string
	// TLS, when set, is spoken on every connection.
	TLS *tls.Config
	// MaxMessage bounds an answer; the default is 4 MiB.
	MaxMessage int
	// ConnectTimeout bounds the time to connect; the default is 10 seconds.
	ConnectTimeout time.Duration
	// AnswerTimeout bounds the time to an answer; the default is 30 seconds.
	AnswerTimeout time.Duration
	// MaxIdle is the number of idle connections to keep; the default is 4.
	MaxIdle int

	mu   sync.Mutex
	idle []*connection
}

type connection struct {
	net.Conn
	reader *bufio.Reader
	// reused reports that the connection carried a message before, so the peer
	// may have closed it since.
	reused bool
}

// Exchange sends a message and returns its answer: the first that accepts
// reports true for. Answers to abandoned messages are skipped.
//
// After an error it is unknown whether the peer has the message, so a message
// must be safe to send again.
func (c *Client) Exchange(ctx context.Context, message []byte, accepts func(answer []byte) bool) ([]byte, error) {
	for {
		conn, err := c.acquire(ctx)
		if err != nil {
			return nil, err
		}
		used := conn.reused
		answer, err := c.exchange(ctx, conn, message, accepts)
		if err == nil {
			c.release(conn)
			return answer, nil
		}
		conn.Close() // it is broken
		if used && ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
			continue // the peer closed the idle connection: try a new one
		}
		return nil, fmt.Errorf("mllp: exchanging with %s: %w", c.Address, err)
	}
}

// Close closes the idle connections.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.idle {
		conn.Close() // it was idle
	}
	c.idle = nil
}

func (c *Client) acquire(ctx context.Context) (*connection, error) {
	c.mu.Lock()
	if n := len(c.idle); n > 0 {
		conn := c.idle[n-1]
		c.idle = c.idle[:n-1]
		c.mu.Unlock()
		return conn, nil
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.ConnectTimeout, 10*time.Second))
	defer cancel()
	var dialer interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	} = &net.Dialer{}
	if c.TLS != nil {
		dialer = &tls.Dialer{Config: c.TLS}
	}
	conn, err := dialer.DialContext(ctx, "tcp", c.Address)
	if err != nil {
		return nil, fmt.Errorf("mllp: connecting: %w", err)
	}
	return &connection{Conn: conn, reader: bufio.NewReaderSize(conn, 4<<10)}, nil
}

func (c *Client) release(conn *connection) {
	conn.reused = true
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle) < cmp.Or(c.MaxIdle, 4) {
		c.idle = append(c.idle, conn)
		return
	}
	conn.Close() // there are enough
}

func (c *Client) exchange(ctx context.Context, conn *connection, message []byte, accepts func([]byte) bool) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.AnswerTimeout, 30*time.Second))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(longAgo) }) //nolint:errcheck // a closed one waits no longer
	answer, err := conn.exchange(message, cmp.Or(c.MaxMessage, 4<<20), accepts)
	if !stop() && err == nil { // the deadline would stay set on a connection that is kept
		err = ctx.Err()
	}
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return answer, err
}

func (c *connection) exchange(message []byte, limit int, accepts func([]byte) bool) ([]byte, error) {
	if _, err := c.Write(appendFrame(make([]byte, 0, len(message)+3), message)); err != nil {
		return nil, err
	}
	for {
		answer, err := readFrame(c.reader, nil, limit)
		if err != nil {
			return nil, err
		}
		if accepts == nil || accepts(answer) {
			return answer, nil
		}
	}
}
