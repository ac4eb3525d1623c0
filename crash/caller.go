package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// apiKey is the first team's, given to the server as its bootstrap key.
const apiKey = "sk_crash0000000000000000000000000000"

// caller sends requests as a well-behaved client does. It repeats a request without an
// answer, or with the answer 503, until the server is back.
type caller struct {
	nodes  []string // host:port; each request goes to any of them
	key    string   // of the team that asks
	http   *http.Client
	oracle *oracle
}

func newCaller(nodes []string, o *oracle) *caller {
	return &caller{
		nodes:  nodes,
		key:    apiKey,
		http:   &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true}},
		oracle: o,
	}
}

type reply struct {
	status int
	body   []byte
}

// refusal is an answer that a repeat of the request cannot change.
type refusal struct {
	reply
	what  string
	again bool // an attempt before it got no answer, and may have been carried out
}

func (e *refusal) Error() string {
	return fmt.Sprintf("%s was answered %d: %.400s", e.what, e.status, e.body)
}

// part is a piece of a file, with its offset in the file.
type part struct {
	at   int
	data []byte
}

// ask sends one request until there is an answer. body is sent as JSON unless
// it is bytes or a part. out, when not nil, receives the decoded answer.
func (c *caller) ask(ctx context.Context, method, path string, body any, out any) error {
	return c.askOnce(ctx, "", method, path, body, out)
}

// askOnce sends a request like ask, for a request that must take effect once, however
// often it is sent. It sends key as X-Idempotency-Key, unless key is empty.
func (c *caller) askOnce(ctx context.Context, key, method, path string, body any, out any) error {
	var text []byte
	header := http.Header{"Content-Type": {"application/json"}}
	if key != "" {
		header.Set("X-Idempotency-Key", key)
	}
	switch body := body.(type) {
	case nil:
	case []byte:
		text = body
		header.Set("Content-Type", "application/octet-stream")
	case part:
		text = body.data
		header.Set("Content-Type", "application/offset+octet-stream")
		header.Set("Upload-Offset", strconv.Itoa(body.at))
	default:
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	for again := false; ; again = true {
		got, err := c.once(ctx, method, path, header, text)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || got.status == http.StatusServiceUnavailable:
			c.oracle.retried()
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		case got.status/100 != 2:
			return &refusal{got, method + " " + path, again}
		case out == nil:
			return nil
		}
		if err := json.Unmarshal(got.body, out); err != nil {
			return fmt.Errorf("%s %s: the answer does not read: %w", method, path, err)
		}
		return nil
	}
}

func (c *caller) once(ctx context.Context, method, path string, header http.Header, body []byte) (reply, error) {
	node := c.nodes[rand.IntN(len(c.nodes))]
	request, err := http.NewRequestWithContext(ctx, method, "http://"+node+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	request.Header = header.Clone()
	request.Header.Set("x-service-api-key", c.key)
	response, err := c.http.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, text}, err // an answer cut short is no answer
}

// isStatus reports whether err is an answer with the status, and returns the body of the
// answer.
func isStatus(err error, status int) ([]byte, bool) {
	var r *refusal
	if errors.As(err, &r) && r.status == status {
		return r.body, true
	}
	return nil, false
}
