package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Limits of one exchange.
const (
	// Timeout limits the whole exchange, from the dial to the end of the answer's body.
	// So a receiver that answers slowly cannot hold a worker.
	Timeout     = 15 * time.Second
	maxAnswer   = 64 << 10 // bytes read of an answer
	keptAnswer  = 1 << 10  // bytes kept of it
	maxHeader   = 64 << 10
	idleTimeout = 50 * time.Second
	// connectTimeout limits the dial, and again the TLS handshake.
	connectTimeout = 10 * time.Second
	userAgent      = "Hale-Webhooks/1.0"
)

// Problem names the reason of a failed attempt in one word. It is empty for success.
type Problem string

// The problems. Status means an answer other than 2xx.
const (
	NoProblem        Problem = ""
	StatusProblem    Problem = "status"
	RedirectProblem  Problem = "redirect"   // 3xx is not followed
	TimeoutProblem   Problem = "timeout"    // no full answer within Timeout
	AddressProblem   Problem = "address"    // not on the public internet
	NameProblem      Problem = "name"       // there is no such host name
	LookupProblem    Problem = "lookup"     // DNS gave no answer about the host name
	RefusedProblem   Problem = "refused"    // no process listens at the address
	TLSProblem       Problem = "tls"        // no trusted connection
	ConnectionFailed Problem = "connection" // the connection broke, or the answer is not HTTP
)

// Sentence returns the problem in words.
func (p Problem) Sentence() string {
	switch p {
	case RedirectProblem:
		return "the answer is a redirect, which is not followed"
	case TimeoutProblem:
		return "no answer in time"
	case AddressProblem:
		return "the address is not on the public internet"
	case NameProblem:
		return "DNS: no such host"
	case LookupProblem:
		return "DNS: the host name cannot be looked up"
	case RefusedProblem:
		return "connection refused"
	case TLSProblem:
		return "TLS: no trusted connection"
	case ConnectionFailed:
		return "the connection broke"
	case NoProblem, StatusProblem: // the answer's status says it
	}
	return string(p)
}

// Outcome holds the result of one exchange.
type Outcome struct {
	Code       int // 0 if no answer came
	Problem    Problem
	Answer     []byte        // first KiB
	RetryAfter time.Duration // 0 if the answer asked for none
	Took       time.Duration
}

// OK reports a 2xx answer.
func (o Outcome) OK() bool { return o.Problem == NoProblem }

// overloaded reports that the receiver, or the way to it, is overloaded.
func (o Outcome) overloaded() bool {
	switch o.Code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	}
	return o.Problem == TimeoutProblem
}

// gone reports that the receiver wants no more events.
func (o Outcome) gone() bool { return o.Code == http.StatusGone }

// Dial makes a connection; see net.Dialer.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// newTransport makes the connections to one endpoint. Each endpoint has its own
// transport: teams never share a connection, and no endpoint uses up another's
// connections. A zero config is good.
//
// The transport speaks HTTP/1.1 only: a connection that dies silently holds up
// one post. It uses no proxy, since the guard must see the address of the
// receiver, and follows no redirect, since post uses it without a client.
func newTransport(g Guard, dial Dial, config *tls.Config) *http.Transport {
	if dial == nil {
		dial = (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second, Control: g.Control}).DialContext
	}
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            dial,
		TLSClientConfig:        config.Clone(),
		TLSHandshakeTimeout:    connectTimeout,
		Protocols:              protocols,
		MaxConnsPerHost:        maxInFlight,
		MaxIdleConns:           maxInFlight,
		MaxIdleConnsPerHost:    maxInFlight,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true,
		WriteBufferSize:        8 << 10, // most posts need one write
	}
}

// message holds an event that is ready to be signed and posted.
type message struct {
	id   string
	seq  int64 // 0 leaves the header out
	body []byte
}

// headersOf returns the headers of one attempt: the endpoint's custom headers and those
// of the service. Each of the three headers of the signature has a second name, which
// older receivers know.
func headersOf(custom http.Header, m message, timestamp, signature string) http.Header {
	h := make(http.Header, len(custom)+12)
	for name, values := range custom {
		h[name] = values
	}
	id, ts, sig := []string{m.id}, []string{timestamp}, []string{signature}
	h["Webhook-Id"], h["Svix-Id"] = id, id
	h["Webhook-Timestamp"], h["Svix-Timestamp"] = ts, ts
	h["Webhook-Signature"], h["Svix-Signature"] = sig, sig
	h["Content-Type"] = []string{"application/json"}
	h["User-Agent"] = []string{userAgent}
	if m.seq != 0 {
		h["X-Event-Seq"] = []string{strconv.FormatInt(m.seq, 10)}
	}
	return h
}

// post makes one exchange. It never follows a redirect.
func post(ctx context.Context, rt http.RoundTripper, t *target, h http.Header, body []byte, now func() time.Time) Outcome {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	// The transport does not send a key without values. The key allows it to repeat
	// a post on a new connection if the receiver closed the idle connection at the
	// moment of its use. A repetition is safe: it has the same message id.
	h["Idempotency-Key"] = []string{}
	req := (&http.Request{
		Method: http.MethodPost, URL: t.url, Host: t.url.Host, Header: h, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		ContentLength: int64(len(body)),
		Body:          io.NopCloser(bytes.NewReader(body)),
		GetBody:       func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}).WithContext(ctx)
	began := now()
	o := exchange(rt, req, now)
	o.Took = now().Sub(began)
	return o
}

func exchange(rt http.RoundTripper, req *http.Request, now func() time.Time) Outcome {
	res, err := rt.RoundTrip(req)
	if err != nil {
		return Outcome{Problem: problemOf(err)}
	}
	defer res.Body.Close()
	o := Outcome{Code: res.StatusCode}
	o.Answer, err = readAnswer(res)
	switch {
	case err != nil:
		o.Problem = problemOf(err)
	case o.Code >= 300 && o.Code < 400:
		o.Problem = RedirectProblem
	case o.Code < 200 || o.Code > 299:
		o.Problem = StatusProblem
	}
	if !o.OK() {
		o.RetryAfter = parseRetryAfter(res.Header.Get("Retry-After"), now())
	}
	return o
}

// readAnswer reads the body to its end or to 64 KiB, so that the connection can be
// used again. It returns the first KiB.
func readAnswer(res *http.Response) ([]byte, error) {
	if res.ContentLength == 0 || res.Body == http.NoBody {
		return nil, nil
	}
	kept := make([]byte, keptAnswer)
	n, err := io.ReadFull(res.Body, kept)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if errors.Is(err, io.ErrUnexpectedEOF) && res.ContentLength > int64(n) {
			return kept[:n], err // cut short
		}
		return kept[:n], nil
	}
	if err != nil {
		return kept[:n], err
	}
	if _, err := io.CopyN(io.Discard, res.Body, maxAnswer-keptAnswer); err != nil && !errors.Is(err, io.EOF) {
		return kept, err
	}
	return kept, nil
}

// parseRetryAfter reads seconds or a date. It returns 0 for anything that is neither.
func parseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// problemOf classifies an error of the transport. Its text may contain addresses and
// names, and is not kept.
func problemOf(err error) Problem {
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var alert tls.AlertError
	var record tls.RecordHeaderError
	var timeout net.Error
	switch {
	case errors.Is(err, ErrForbiddenAddress):
		return AddressProblem
	case errors.Is(err, context.DeadlineExceeded):
		return TimeoutProblem
	case errors.As(err, &dns) && dns.IsNotFound:
		return NameProblem
	case errors.As(err, &dns):
		return LookupProblem
	case errors.As(err, &timeout) && timeout.Timeout():
		return TimeoutProblem
	case errors.Is(err, syscall.ECONNREFUSED):
		return RefusedProblem
	case errors.As(err, &cert), errors.As(err, &alert), errors.As(err, &record):
		return TLSProblem
	}
	return ConnectionFailed
}
