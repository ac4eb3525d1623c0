package mllp

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"
)

// Server answers messages. Handle must be set; zero values of the other fields
// mean their defaults.
type Server struct {
	// Handle answers a message. The slice is valid until it returns. It
	// returns only when the message is stored, because the answer says so; nil
	// sends no answer. Connections call it concurrently, and in order within
	// one connection.
	Handle func(ctx context.Context, message []byte) []byte
	// TooLarge answers a message over the limit, given its beginning. The
	// connection is closed after it. Without TooLarge it is closed without an
	// answer.
	TooLarge func(beginning []byte) []byte
	// OnAcceptError gets the error of a connection that could not be accepted.
	// The next try follows soon, so there may be many. It may be nil.
	OnAcceptError func(error)
	// TLS, when set, is used on every connection.
	TLS *tls.Config
	// MaxMessage bounds the bytes of one message; the default is 32 MiB.
	MaxMessage int
	// MaxConnections bounds the open connections; further ones wait to be
	// accepted. The default is 256.
	MaxConnections int
	// IdleTimeout bounds the silence of a connection, and the time in which a
	// message arrives; the default is 10 minutes.
	IdleTimeout time.Duration
	// AnswerTimeout bounds the time to answer a message, writing included; the
	// default is 1 minute.
	AnswerTimeout time.Duration
	// DrainTimeout bounds the wait of a stop for messages that are being
	// answered; the default is 15 seconds.
	DrainTimeout time.Duration
}

// longAgo is a deadline that ends a waiting read.
var longAgo = time.Unix(1, 0)

// Serve accepts connections on l until ctx ends. Then it stops reading, waits
// until open messages are answered, and returns nil. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if s.TLS != nil {
		l = tls.NewListener(l, s.TLS)
	}
	var (
		work, abort = context.WithCancel(context.WithoutCancel(ctx))
		slots       = make(chan struct{}, cmp.Or(s.MaxConnections, 256))
		open        = connections{list: map[net.Conn]struct{}{}}
		group       sync.WaitGroup
		failure     error
	)
	defer abort()
	stop := context.AfterFunc(ctx, func() { l.Close() }) // it may be closed already
	defer stop()
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		conn, err := s.accept(ctx, l)
		if err != nil {
			if ctx.Err() == nil {
				failure = err
			}
			break
		}
		if !open.add(conn) {
			break
		}
		group.Go(func() {
			defer func() { <-slots }()
			defer open.remove(conn)
			s.serve(work, conn, &open)
		})
	}
	l.Close() // closed above when ctx ended
	open.stop()
	drained := time.AfterFunc(cmp.Or(s.DrainTimeout, 15*time.Second), func() {
		abort()
		open.closeAll()
	})
	group.Wait()
	drained.Stop()
	return failure
}

// accept waits for a connection until ctx ends, when l is closed or about to
// be. Only a closed listener ends it. For a connection that was closed before
// it was accepted, or without free file descriptors, it tries again soon, as
// net/http does.
func (s *Server) accept(ctx context.Context, l net.Listener) (net.Conn, error) {
	for wait := minWait; ; wait = min(2*wait, maxWait) {
		conn, err := l.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) || ctx.Err() != nil {
			return conn, err
		}
		if s.OnAcceptError != nil {
			s.OnAcceptError(err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// The waits between two tries to accept.
const (
	minWait = 5 * time.Millisecond
	maxWait = time.Second
)

// serve answers the messages of one connection in order.
func (s *Server) serve(ctx context.Context, conn net.Conn, open *connections) {
	limit := cmp.Or(s.MaxMessage, 32<<20)
	idle, answer := cmp.Or(s.IdleTimeout, 10*time.Minute), cmp.Or(s.AnswerTimeout, time.Minute)
	// One timer closes a connection that waits too long. Deadlines would read the
	// clock for every message.
	watch := time.AfterFunc(idle, func() { conn.Close() }) // the peer is gone or too slow
	defer watch.Stop()
	reader := bufio.NewReaderSize(conn, 16<<10)
	var message, out []byte
	for {
		var err error
		message, err = readFrame(reader, message, limit)
		var reply []byte
		switch {
		case errors.Is(err, ErrTooLarge) && s.TooLarge != nil:
			reply = s.TooLarge(message)
		case err != nil:
			return
		default:
			watch.Reset(answer)
			reply = s.Handle(ctx, message)
		}
		if reply != nil {
			out = appendFrame(out[:0], reply)
			if _, err := conn.Write(out); err != nil {
				return
			}
		}
		if err != nil || open.isStopped() {
			return
		}
		watch.Reset(idle)
		message, out = shrink(message), shrink(out)
	}
}

// shrink releases a buffer that one large message grew.
func shrink(buffer []byte) []byte {
	if cap(buffer) > 1<<20 {
		return nil
	}
	return buffer
}

// connections holds the open connections, so that a stop can end their reads.
type connections struct {
	mu       sync.Mutex
	list     map[net.Conn]struct{}
	stopping bool
}

func (c *connections) add(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping {
		conn.Close() // it was never used
		return false
	}
	c.list[conn] = struct{}{}
	return true
}

func (c *connections) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.list, conn)
	conn.Close() // all answers are written
}

// stop ends waiting reads. A connection that is answering finishes first.
func (c *connections) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopping = true
	for conn := range c.list {
		conn.SetReadDeadline(longAgo) //nolint:errcheck // a closed one reads no more
	}
}

func (c *connections) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.list {
		conn.Close() // the drain timeout is over
	}
}

func (c *connections) isStopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopping
}
