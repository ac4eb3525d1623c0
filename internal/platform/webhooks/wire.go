package webhooks

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/net/idna"
)

// wire posts to one endpoint over HTTP/1.1, on connections that carry one post
// at a time and are kept. It works on the goroutine of whoever posts, where
// http.Transport hands each post to two goroutines of its connection and back,
// at more than the cost of the post itself.
//
// Each endpoint has its own, so that connections are never shared between teams,
// nothing taken from the environment applies, and no endpoint can use up
// another's.
type wire struct {
	dial Dial
	tls  *tls.Config

	mu    sync.Mutex
	idle  []*connection // the one used last is used next
	sweep *time.Timer   // closes those that stay idle
	shut  bool          // what becomes idle is closed
}

// newWire makes one. The dialer's guard looks at each address; roots may be nil.
func newWire(g Guard, dial Dial, roots *tls.Config) *wire {
	if dial == nil {
		dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: g.Control}).DialContext
	}
	if roots == nil {
		roots = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return &wire{dial: dial, tls: roots}
}

// connection carries one exchange at a time.
type connection struct {
	net.Conn
	raw  net.Conn // what carries it, which differs over TLS
	to   string   // scheme and address
	in   *bufio.Reader
	out  *bufio.Writer
	left int64 // how much of an answer's head may still come
	lost error // why nothing more can be read
	used bool  // carried a post before
	old  bool  // has been idle since the last sweep
}

// errLongHead refuses an answer whose head does not end.
var errLongHead = errors.New("webhooks: the head of the answer is too long")

// Read reads no more than the head of an answer may have.
func (c *connection) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errLongHead
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	c.lost = err
	return n, err
}

// Close closes what carries the connection. TLS would first say goodbye, for
// which it waits as long as the other side does not read.
func (c *connection) Close() error { return c.raw.Close() }

// RoundTrip makes one exchange; see http.RoundTripper. The context's deadline
// counts to the end of the answer's body, which must be closed. A connection that
// is closed at the moment it is used again is no failure: the post is made once
// more on a new one, which is safe, since the message id tells the receiver of a
// repetition.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	c, err := w.take(ctx, req.URL)
	if err != nil {
		return nil, err
	}
	res, begun, err := w.exchange(c, req)
	var timeout net.Error
	if err == nil || !c.used || begun || ctx.Err() != nil || errors.As(err, &timeout) && timeout.Timeout() {
		return res, err
	}
	if req.Body, err = req.GetBody(); err != nil {
		return nil, err
	}
	if c, err = w.connect(ctx, req.URL); err != nil {
		return nil, err
	}
	res, _, err = w.exchange(c, req)
	return res, err
}

// exchange writes the request and reads the head of the answer. begun says that
// some of it came.
func (w *wire) exchange(c *connection, req *http.Request) (res *http.Response, begun bool, err error) {
	ctx := req.Context()
	err = c.limit(ctx)
	spared := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	if err == nil {
		c.left = maxHeader
		wrote := req.Write(c.out)
		if wrote == nil {
			wrote = c.out.Flush()
		}
		if _, err = c.in.Peek(1); err == nil { // an answer counts even when not all of the post was wanted
			begun = true
			res, err = c.answer(req)
		} else if wrote != nil {
			err = wrote
		}
		if wrote != nil && res != nil {
			res.Close = true
		}
	}
	if err != nil {
		spared()
		_ = c.Close()
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case c.lost != nil: // what it left unfinished is no fault of its own
			err = c.lost
		}
		return nil, begun, err
	}
	keep := !res.Close && res.StatusCode != http.StatusSwitchingProtocols
	res.Body = &answerBody{body: res.Body, whole: res.Body == http.NoBody, end: func(whole bool) {
		if spared() && whole && keep && c.in.Buffered() == 0 {
			w.put(c)
		} else {
			_ = c.Close()
		}
	}}
	return res, begun, nil
}

// limit gives the exchange until the context's deadline, and writing seven eighths
// of it: whoever answers without reading the post to its end is heard in the rest.
func (c *connection) limit(ctx context.Context) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		return c.SetDeadline(time.Time{})
	}
	return errors.Join(c.SetReadDeadline(deadline), c.SetWriteDeadline(deadline.Add(-time.Until(deadline)/8)))
}

// mostHints is how many answers of 1xx may come before the answer.
const mostHints = 5

// answer reads the head of the answer.
func (c *connection) answer(req *http.Request) (*http.Response, error) {
	for range mostHints + 1 {
		c.left = maxHeader
		res, err := http.ReadResponse(c.in, req)
		if err != nil {
			return nil, err
		}
		if res.StatusCode >= 200 || res.StatusCode == http.StatusSwitchingProtocols {
			c.left = math.MaxInt64
			return res, nil
		}
	}
	return nil, errors.New("webhooks: no answer after the hints")
}

// answerBody is the body of an answer, which frees the connection in the end.
type answerBody struct {
	body  io.Reader
	whole bool // read to its end
	end   func(whole bool)
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if errors.Is(err, io.EOF) {
		b.whole = true
	}
	return n, err
}

func (b *answerBody) Close() error {
	b.end(b.whole)
	return nil
}

// take gives a connection that lay idle, or a new one. One on which something
// came meanwhile is not used again: a receiver that hangs up may say so first, and
// what it says is no answer to the next post.
func (w *wire) take(ctx context.Context, to *url.URL) (*connection, error) {
	name := nameOf(to)
	w.mu.Lock()
	w.shut = false
	for len(w.idle) > 0 {
		last := len(w.idle) - 1
		c := w.idle[last]
		w.idle = w.idle[:last]
		if c.to == name && silent(c.raw) { // else the endpoint moved, or hung up
			w.mu.Unlock()
			c.used, c.old = true, false
			return c, nil
		}
		_ = c.Close()
	}
	w.mu.Unlock()
	return w.connect(ctx, to)
}

// connect makes a connection, over TLS for https.
func (w *wire) connect(ctx context.Context, to *url.URL) (*connection, error) {
	host, err := idna.Lookup.ToASCII(to.Hostname())
	if err != nil { // an address, or a name that DNS decides about
		host = to.Hostname()
	}
	raw, err := w.dial(ctx, "tcp", net.JoinHostPort(host, portOf(to)))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, net.ErrClosed
	}
	conn := raw
	if to.Scheme == "https" {
		config := w.tls.Clone()
		config.ServerName = host
		secure := tls.Client(raw, config)
		shaking, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err := secure.HandshakeContext(shaking); err != nil {
			_ = raw.Close()
			return nil, err
		}
		conn = secure
	}
	c := &connection{Conn: conn, raw: raw, to: nameOf(to), out: bufio.NewWriterSize(conn, 8<<10)}
	c.in = bufio.NewReader(c)
	return c, nil
}

// nameOf tells where connections lead to.
func nameOf(u *url.URL) string { return u.Scheme + "://" + u.Host }

func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}

// put keeps a connection for the next post.
func (w *wire) put(c *connection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shut || len(w.idle) >= maxInFlight {
		_ = c.Close()
		return
	}
	w.idle = append(w.idle, c)
	if w.sweep == nil {
		w.sweep = time.AfterFunc(idleTimeout/2, w.closeOld)
	}
}

// closeOld closes what has been idle from one sweep to the next.
func (w *wire) closeOld() {
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := w.idle[:0]
	for _, c := range w.idle {
		if c.old {
			_ = c.Close()
			continue
		}
		c.old = true
		kept = append(kept, c)
	}
	clear(w.idle[len(kept):])
	w.idle, w.sweep = kept, nil
	if len(kept) > 0 {
		w.sweep = time.AfterFunc(idleTimeout/2, w.closeOld)
	}
}

// CloseIdleConnections closes what is idle, and what becomes idle before the
// next post.
func (w *wire) CloseIdleConnections() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shut = true
	for _, c := range w.idle {
		_ = c.Close()
	}
	w.idle = nil
	if w.sweep != nil {
		w.sweep.Stop()
		w.sweep = nil
	}
}
