package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/fault"
)

// serve starts a server with one handler and a client for it.
func serve(t *testing.T, o Options, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	o.URL = server.URL + "/"
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRequestCarriesKeyBodyAndEscapedPath(t *testing.T) {
	c := serve(t, Options{Key: "sk_1", Agent: "hale/test"}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Authorization") != "Bearer sk_1" || r.Header.Get("User-Agent") != "hale/test" {
			t.Errorf("headers %v", r.Header)
		}
		if got := r.Method + " " + r.URL.EscapedPath() + "?" + r.URL.RawQuery + " " + string(body); got != `POST /v2/user/resolve/a%2Fb%20c?x=1 {"n":1}` {
			t.Errorf("request %s", got)
		}
		_, _ = io.WriteString(w, `{"ok":true}`)
	})
	body, err := c.Call(t.Context(), Request{
		Method: "POST", Path: Path("v2", "user", "resolve", "a/b c"), Query: map[string][]string{"x": {"1"}}, Body: map[string]int{"n": 1},
	})
	if err != nil || string(body) != `{"ok":true}` {
		t.Errorf("answer %s, %v", body, err)
	}
}

func TestKeyHeaderOfChoice(t *testing.T) {
	c := serve(t, Options{Key: "sk_1", Header: "x-own"}, func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Own") != "sk_1" || r.Header.Get("Authorization") != "" {
			t.Errorf("headers %v", r.Header)
		}
	})
	if _, err := c.Call(t.Context(), Request{Method: "GET", Path: "/"}); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	cases := []struct {
		name   string
		status int
		body   string
		kind   fault.Kind
		text   string
	}{
		{"sentence", 404, `{"detail":"User not found"}`, fault.NotFound, "User not found"},
		{"object", 400, `{"detail":{"error_type":"X","error_message":"Not now"}}`, fault.Refused, "Not now"},
		{
			"taken id", 400, `{"detail":{"error_message":"Client user id already exists.","user_id":"u1","created_on":"2026"},"user_id":"u1"}`,
			fault.Conflict, "Client user id already exists (user u1)",
		},
		{
			"fields", 422, `{"detail":[{"type":"missing","loc":["body","a"],"msg":"Field required"},{"loc":["query","n",0],"msg":"bad"}]}`,
			fault.Invalid, "a: Field required; n.0: bad",
		},
		{"state", 422, `{"detail":"no demographics"}`, fault.Unprocessable, "no demographics"},
		{"version", 412, `{"detail":"the user has changed"}`, fault.Changed, "the user has changed"},
		{"key", 401, `{"detail":"invalid token"}`, fault.Unauthenticated, "invalid token"},
		{"no JSON", 502, `<html>`, fault.Unavailable, "bad gateway"},
		{"empty", 500, ``, fault.Internal, "internal server error"},
		{"unheard of", 599, `{}`, fault.Internal, "status 599"},
		{"method", 405, `{"detail":"Method Not Allowed"}`, fault.Invalid, "Method Not Allowed"},
		{"redirect", 307, ``, fault.Internal, "temporary redirect"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Request-Id", "r-1")
				w.Header().Set("Location", "http://elsewhere.invalid/")
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			})
			_, err := c.Call(t.Context(), Request{Method: "GET", Path: "/"})
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if e.Kind() != tc.kind || e.Error() != tc.text || e.RequestID != "r-1" || e.Status != tc.status {
				t.Errorf("got kind %d, %q, id %q", e.Kind(), e.Error(), e.RequestID)
			}
		})
	}
}

// The server derives the status from the kind, and the client the kind from the status.
func TestEveryKindOfTheServerIsKnown(t *testing.T) {
	for kind := fault.Internal; kind <= fault.Unavailable; kind++ {
		if kind == fault.Invalid {
			continue // its answer has a list of problems
		}
		if got := kindOf(kind.Status()); got != kind {
			t.Errorf("status %d of kind %d is of kind %d", kind.Status(), kind, got)
		}
	}
}

// Bad fields are listed one by one too, without the first word of their place.
func TestProblems(t *testing.T) {
	c := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"detail":[{"loc":["query","status",0],"msg":"bad"},{"loc":["body"],"msg":"worse"}]}`)
	})
	_, err := c.Call(t.Context(), Request{Method: "GET", Path: "/"})
	var e *Error
	if !errors.As(err, &e) || fmt.Sprint(e.Problems) != "[{[status 0] bad} {[] worse}]" {
		t.Errorf("%v", err)
	}
}

func TestNoServer(t *testing.T) {
	c, err := New(Options{URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Call(t.Context(), Request{Method: "GET", Path: "/v2/user/resolve/canary"})
	if fault.KindOf(err) != fault.Unavailable || strings.Contains(err.Error(), "canary") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Call(ctx, Request{Method: "GET", Path: "/"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestTimeout(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	c := serve(t, Options{}, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	_, err := c.Call(t.Context(), Request{Method: "GET", Path: "/", Timeout: 20 * time.Millisecond})
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "in time") {
		t.Errorf("error %v", err)
	}
}

func TestAddressIsChecked(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1:8080", "ftp://x", "http://", "http://%zz"} {
		if _, err := New(Options{URL: address}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", address, err)
		}
	}
}
