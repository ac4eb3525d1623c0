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
// must be set; the zero values of the rest mean the defaults they name. It may
// be used by many at once; each message has a connection of its own while it
// waits for its answer.
type Client struct {
	// Address is host:port.
	Address string
	// TLS, when set, is spoken on every connection.
	TLS *tls.Config
	// MaxMessage bounds an answer: 4 MiB.
	MaxMessage int
	// Connect is how long a connection may take to stand: 10 seconds.
	Connect time.Duration
	// Answer is how long an answer may take: 30 seconds.
	Answer time.Duration
	// Keep is how many idle connections are kept: 4.
	Keep int

	mu   sync.Mutex
	idle []*connection
}

type connection struct {
	net.Conn
	reader *bufio.Reader
	// used reports that a message went over it before, so that the peer may have
	// hung up since.
	used bool
}

// Exchange sends a message and returns its answer: the first that mine
// accepts. Answers to messages that somebody gave up on are passed over.
//
// After an error nobody knows whether the peer has the message. A message must
// be one that can be sent again.
func (c *Client) Exchange(ctx context.Context, message []byte, mine func(answer []byte) bool) ([]byte, error) {
	for {
		conn, err := c.take(ctx)
		if err != nil {
			return nil, err
		}
		used := conn.used
		answer, err := c.exchange(ctx, conn, message, mine)
		if err == nil {
			c.keep(conn)
			return answer, nil
		}
		conn.Close() // it is broken
		if used && ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
			continue // it was idle, and the peer hung up: a fresh one decides
		}
		return nil, fmt.Errorf("mllp: exchanging with %s: %w", c.Address, err)
	}
}

// Close ends the idle connections.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.idle {
		conn.Close() // it was idle
	}
	c.idle = nil
}

func (c *Client) take(ctx context.Context) (*connection, error) {
	c.mu.Lock()
	if n := len(c.idle); n > 0 {
		conn := c.idle[n-1]
		c.idle = c.idle[:n-1]
		c.mu.Unlock()
		return conn, nil
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Connect, 10*time.Second))
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

func (c *Client) keep(conn *connection) {
	conn.used = true
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle) < cmp.Or(c.Keep, 4) {
		c.idle = append(c.idle, conn)
		return
	}
	conn.Close() // there are enough
}

func (c *Client) exchange(ctx context.Context, conn *connection, message []byte, mine func([]byte) bool) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Answer, 30*time.Second))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(longAgo) }) //nolint:errcheck // a closed one waits no more either
	answer, err := conn.exchange(message, cmp.Or(c.MaxMessage, 4<<20), mine)
	if !stop() && err == nil { // the deadline fell on a connection that is about to be kept
		err = ctx.Err()
	}
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return answer, err
}

func (c *connection) exchange(message []byte, limit int, mine func([]byte) bool) ([]byte, error) {
	if _, err := c.Write(appendFrame(make([]byte, 0, len(message)+3), message)); err != nil {
		return nil, err
	}
	for {
		answer, err := readFrame(c.reader, nil, limit)
		if err != nil {
			return nil, err
		}
		if mine == nil || mine(answer) {
			return answer, nil
		}
	}
}
