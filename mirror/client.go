package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// apiKey is the first team's, given to the server as its bootstrap key.
const apiKey = "sk_mirror000000000000000000000000000"

// object is a JSON object. Its numbers are json.Number.
type object = map[string]any

// client asks the server until there is an answer.
type client struct {
	address string
	http    *http.Client
}

func newClient(address string) *client {
	return &client{address, &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}
}

// answer is an answer of the API. seq is the number of the last event that it contains.
type answer struct {
	status int
	seq    int64
	body   object
	text   []byte
}

// ask sends a request until there is an answer other than 429 and 503. key is its
// Idempotency-Key; empty for none.
func (c *client) ask(ctx context.Context, method, path, key string, body any) (a answer, err error) {
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return a, err
		}
	}
	return c.askText(ctx, method, path, key, text)
}

// askText sends a request like ask, with text as the body.
func (c *client) askText(ctx context.Context, method, path, key string, text []byte) (a answer, err error) {
	for {
		a, err = c.once(ctx, method, path, key, text)
		if ctx.Err() != nil {
			return a, ctx.Err()
		}
		if err == nil && a.status != http.StatusServiceUnavailable && a.status != http.StatusTooManyRequests {
			return a, nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func (c *client) once(ctx context.Context, method, path, key string, text []byte) (a answer, err error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+c.address+path, bytes.NewReader(text))
	if err != nil {
		return a, err
	}
	request.Header.Set("x-service-api-key", apiKey)
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	a.status = response.StatusCode
	a.seq, _ = strconv.ParseInt(response.Header.Get("X-Hale-Event-Seq"), 10, 64) // 0 without one
	if a.text, err = io.ReadAll(response.Body); err != nil {
		return a, err
	}
	_ = decode(a.text, &a.body) // lists and texts stay undecoded
	return a, nil
}

// get reads a record. An answer other than 200 is an error.
func (c *client) get(ctx context.Context, path string) (answer, error) {
	a, err := c.ask(ctx, http.MethodGet, path, "", nil)
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("GET %s: %d %.300s", path, a.status, a.text)
	}
	return a, err
}

func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// textOf returns the JSON of a value with sorted keys.
func textOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	return string(text)
}

func field(o object, path ...string) any {
	var v any = o
	for _, name := range path {
		o, ok := v.(object)
		if !ok {
			return nil
		}
		v = o[name]
	}
	return v
}

func textField(o object, path ...string) string {
	s, _ := field(o, path...).(string)
	return s
}

func listField(o object, path ...string) (all []object) {
	list, _ := field(o, path...).([]any)
	for _, one := range list {
		if o, ok := one.(object); ok {
			all = append(all, o)
		}
	}
	return all
}
