// Package client calls Hale's own HTTP API for the command line.
//
// The client handles the key, the body and the errors of requests, and knows no
// resource. Commands name paths and print the answers. So a field that the
// server adds appears without a change here.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hale/internal/platform/fault"
)

// Options name the server to call and the key to use.
type Options struct {
	URL string // base URL, such as http://127.0.0.1:8080
	Key string // API key; empty sends none
	// Header carries the key; empty means Authorization: Bearer. Every server
	// accepts that, even if it has a key header of another name.
	Header string
	Agent  string // User-Agent
}

// Client calls one server with one key.
type Client struct {
	base   *url.URL
	key    string
	header string
	agent  string
	http   *http.Client
}

// New checks the address. It makes no request.
func New(o Options) (*Client, error) {
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fault.New(fault.Invalid, "the server's address must be a URL such as http://127.0.0.1:8080")
	}
	base.Path = strings.TrimRight(base.Path, "/")
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 0 // long polls and uploads wait; contexts bound the rest
	return &Client{
		base: base, key: o.Key, header: o.Header, agent: o.Agent,
		http: &http.Client{
			Transport: transport,
			// A redirect would carry the key to another place.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// URL returns the server's base URL.
func (c *Client) URL() string { return c.base.String() }

// Request is one call. Body is marshaled as JSON unless Raw is set.
type Request struct {
	Method string
	// Path is already escaped and begins with a slash; see the function Path.
	Path  string
	Query url.Values
	Body  any
	// Raw is sent unchanged, with Header's Content-Type.
	Raw io.Reader
	// Length of Raw in bytes, when known; 0 means unknown.
	Length int64
	Header http.Header
	// Timeout limits the call; 0 means 30 s, and a negative value means no limit.
	Timeout time.Duration
}

// Path joins path segments, escaping each: Path("v2", "user", id).
func Path(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(s))
	}
	return b.String()
}

// Call sends a request and returns the body of a 2xx answer. Any other answer
// is an *Error.
func (c *Client) Call(ctx context.Context, r Request) (json.RawMessage, error) {
	answer, err := c.Send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, connectionError(ctx, err)
	}
	if err := Refusal(answer, body); err != nil {
		return nil, err
	}
	return body, nil
}

// Get calls a path and decodes the answer into v.
func (c *Client) Get(ctx context.Context, path string, query url.Values, v any) error {
	body, err := c.Call(ctx, Request{Method: http.MethodGet, Path: path, Query: query})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("client: the answer of %s is not what was expected: %w", path, err)
	}
	return nil
}

// Send sends a request and returns the answer with any status. The caller must
// close its body.
func (c *Client) Send(ctx context.Context, r Request) (*http.Response, error) {
	request, err := c.request(ctx, r)
	if err != nil {
		return nil, err
	}
	cancel := context.CancelFunc(func() {})
	if r.Timeout >= 0 {
		timeout := r.Timeout
		if timeout == 0 {
			timeout = 30 * time.Second
		}
		var bounded context.Context
		bounded, cancel = context.WithTimeout(ctx, timeout)
		request = request.WithContext(bounded)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		cancel()
		return nil, connectionError(ctx, err)
	}
	answer.Body = &cancelOnClose{answer.Body, cancel}
	return answer, nil
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	body := r.Raw
	if body == nil && r.Body != nil {
		text, err := json.Marshal(r.Body)
		if err != nil {
			return nil, fmt.Errorf("client: marshalling: %w", err)
		}
		body = bytes.NewReader(text)
	}
	target := c.base.String() + r.Path
	if len(r.Query) > 0 {
		target += "?" + r.Query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, target, body)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the path is not one that can be called")
	}
	if r.Raw != nil && r.Length > 0 {
		request.ContentLength = r.Length
	}
	if r.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Accept", "application/json")
	for name, values := range r.Header {
		request.Header[name] = values
	}
	request.Header.Set("User-Agent", c.agent)
	switch {
	case c.key == "":
	case c.header != "":
		request.Header.Set(c.header, c.key)
	default:
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	return request, nil
}

// connectionError returns the error for a request without an answer. ctx is the caller's context:
// if it has ended, broken returns its error.
func connectionError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{kind: fault.Unavailable, text: "the server did not answer in time"}
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the wrapper repeats the address, which may hold an id
	}
	return &Error{kind: fault.Unavailable, text: "the server does not answer: " + err.Error(), cause: err}
}

type cancelOnClose struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *cancelOnClose) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
