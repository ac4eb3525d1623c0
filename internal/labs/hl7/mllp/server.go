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

// Server answers messages. Handle must be set; the zero values of the rest
// mean the defaults they name.
type Server struct {
	// Handle answers a message, which is its own until it returns. It returns
	// only when the message is safe, because the answer says so; nil sends none.
	// It is called by many connections at once, and in order within one.
	Handle func(ctx context.Context, message []byte) []byte
	// TooLarge answers a message that is over the limit, given its beginning.
	// The connection ends after it. Nil ends it without an answer.
	TooLarge func(beginning []byte) []byte
	// Refused is told why a connection could not be accepted. The next try is
	// made soon, so this may be often. Nil tells nobody.
	Refused func(error)
	// TLS, when set, is spoken on every connection.
	TLS *tls.Config
	// MaxMessage bounds the bytes of one message: 32 MiB.
	MaxMessage int
	// MaxConnections bounds how many are open at once; more wait to be
	// accepted: 256.
	MaxConnections int
	// Idle is how long a connection may be silent, and a message may take to
	// arrive: 10 minutes.
	Idle time.Duration
	// Answer is how long a message may take to be answered, writing included: 1
	// minute.
	Answer time.Duration
	// Drain is how long a stop waits for messages in hand: 15 seconds.
	Drain time.Duration
}

// long ago: a deadline there ends a read that waits.
var longAgo = time.Unix(1, 0)

// Serve accepts connections on l until ctx ends. Then it reads no more, lets
// the messages in hand be answered, and returns nil. It closes l.
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
	stop := context.AfterFunc(ctx, func() { l.Close() }) // a listener that is closed already is what we want
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
			defer open.drop(conn)
			s.serve(work, conn, &open)
		})
	}
	l.Close() // closed above when ctx ended
	open.stop()
	drained := time.AfterFunc(cmp.Or(s.Drain, 15*time.Second), func() {
		abort()
		open.cut()
	})
	group.Wait()
	drained.Stop()
	return failure
}

// accept waits for a connection until ctx is over, when l is closed or about to
// be. Only a closed listener ends it: for a connection that was gone before it
// was taken, or that nothing is left to hold, it tries again soon, as net/http
// does.
func (s *Server) accept(ctx context.Context, l net.Listener) (net.Conn, error) {
	for wait := shortestWait; ; wait = min(2*wait, longestWait) {
		conn, err := l.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) || ctx.Err() != nil {
			return conn, err
		}
		if s.Refused != nil {
			s.Refused(err)
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
	shortestWait = 5 * time.Millisecond
	longestWait  = time.Second
)

// serve answers the messages of one connection, one after another.
func (s *Server) serve(ctx context.Context, conn net.Conn, open *connections) {
	limit := cmp.Or(s.MaxMessage, 32<<20)
	idle, answer := cmp.Or(s.Idle, 10*time.Minute), cmp.Or(s.Answer, time.Minute)
	// One timer ends a connection that waits too long for anything. Deadlines
	// would have to read the clock for every message.
	watch := time.AfterFunc(idle, func() { conn.Close() }) // nobody is left to tell
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
		if err != nil || open.stopped() {
			return
		}
		watch.Reset(idle)
		message, out = shrink(message), shrink(out)
	}
}

// shrink lets go of a buffer that one large message grew.
func shrink(buffer []byte) []byte {
	if cap(buffer) > 1<<20 {
		return nil
	}
	return buffer
}

// connections are the open ones, so that a stop can end their waiting.
type connections struct {
	mu   sync.Mutex
	list map[net.Conn]struct{}
	over bool
}

func (c *connections) add(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		conn.Close() // it was never used
		return false
	}
	c.list[conn] = struct{}{}
	return true
}

func (c *connections) drop(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.list, conn)
	conn.Close() // its work is done
}

// stop ends the reads that wait. A connection that is at work answers first.
func (c *connections) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for conn := range c.list {
		conn.SetReadDeadline(longAgo) //nolint:errcheck // a closed one reads no more either
	}
}

func (c *connections) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.list {
		conn.Close() // its time is over
	}
}

func (c *connections) stopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}
