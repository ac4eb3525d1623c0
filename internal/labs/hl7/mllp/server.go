package mllp

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
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
	// MaxPerAddress bounds the open connections of one IPv4 address or one IPv6
	// network of 64 bits; further ones are closed at once. The default is 32.
	MaxPerAddress int
	// OnCrowded gets the address of a connection that was closed because of
	// MaxPerAddress. It may be nil.
	OnCrowded func(address string)
	// FirstMessageTimeout bounds the time to the first message of a connection,
	// with the TLS handshake; the default is 30 seconds.
	FirstMessageTimeout time.Duration
	// IdleTimeout bounds the silence of a connection after a message, and the
	// time in which the next one arrives; the default is 10 minutes.
	IdleTimeout time.Duration
	// AnswerTimeout bounds the time to answer a message, writing included; the
	// default is 1 minute.
	AnswerTimeout time.Duration
	// DrainTimeout bounds the wait of a stop for messages that are being
	// answered; the default is 15 seconds.
	DrainTimeout time.Duration
}

// Peer is the other end of a connection.
type Peer struct {
	Address netip.Addr
	// Certificate is the verified certificate of the peer; nil without one.
	Certificate *x509.Certificate
}

type peerKey struct{}

// PeerOf returns the peer of the message that Handle answers, given the context
// of Handle. It is the zero Peer for any other context.
func PeerOf(ctx context.Context) Peer {
	peer, _ := ctx.Value(peerKey{}).(Peer)
	return peer
}

// peerOf returns the peer of a connection whose TLS handshake is over.
func peerOf(conn net.Conn) Peer {
	p := Peer{Address: addressOf(conn)}
	if secure, ok := conn.(*tls.Conn); ok {
		if chains := secure.ConnectionState().VerifiedChains; len(chains) > 0 {
			p.Certificate = chains[0][0]
		}
	}
	return p
}

func addressOf(conn net.Conn) netip.Addr {
	at, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// networkOf returns the address that MaxPerAddress counts. For IPv6 it begins the
// /64 network, because one machine may have 2^64 addresses.
func networkOf(at netip.Addr) netip.Addr {
	if !at.Is6() {
		return at
	}
	return netip.PrefixFrom(at.WithZone(""), 64).Masked().Addr()
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
		open        = connections{list: map[net.Conn]netip.Addr{}, count: map[netip.Addr]int{}, limit: cmp.Or(s.MaxPerAddress, 32)}
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
		added, crowded := open.add(conn)
		if crowded {
			<-slots
			if s.OnCrowded != nil {
				s.OnCrowded(addressOf(conn).String())
			}
			continue
		}
		if !added {
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
	first := cmp.Or(s.FirstMessageTimeout, 30*time.Second)
	// One timer closes a connection that waits too long. Deadlines would read the
	// clock for every message.
	watch := time.AfterFunc(min(first, idle), func() { conn.Close() }) // the peer is gone or too slow
	defer watch.Stop()
	reader := bufio.NewReaderSize(conn, 16<<10)
	var message, out []byte
	for known := false; ; {
		var err error
		message, err = readFrame(reader, message, limit)
		if !known { // the handshake is over
			ctx, known = context.WithValue(ctx, peerKey{}, peerOf(conn)), true
		}
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

// connections holds the open connections, so that a stop can end their reads,
// and counts them by networkOf.
type connections struct {
	mu       sync.Mutex
	list     map[net.Conn]netip.Addr
	count    map[netip.Addr]int
	limit    int
	stopping bool
}

// add adds a connection, or closes it: crowded means that its address has too
// many.
func (c *connections) add(conn net.Conn) (added, crowded bool) {
	from := networkOf(addressOf(conn))
	c.mu.Lock()
	defer c.mu.Unlock()
	crowded = !c.stopping && from.IsValid() && c.count[from] >= c.limit
	if c.stopping || crowded {
		conn.Close() // it was never used
		return false, crowded
	}
	c.list[conn] = from
	c.count[from]++
	return true, false
}

func (c *connections) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	from := c.list[conn]
	delete(c.list, conn)
	if c.count[from]--; c.count[from] == 0 {
		delete(c.count, from)
	}
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
