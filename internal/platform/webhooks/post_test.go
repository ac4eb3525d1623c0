package webhooks

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log" //nolint:depguard // the test reads what net/http writes there
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// rawReceiver starts a receiver that writes its answers by hand. serve gets each
// connection with its number, from 0.
func rawReceiver(t *testing.T, serve func(n int, c net.Conn, in *bufio.Reader)) (to string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(n, c, bufio.NewReader(c))
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/hook"
}

// readPost reads one post and returns its body. ok is false if none comes.
func readPost(in *bufio.Reader) (body string, ok bool) {
	req, err := http.ReadRequest(in)
	if err != nil {
		return "", false
	}
	text, err := io.ReadAll(req.Body)
	return string(text), err == nil
}

func postTo(ctx context.Context, transport *http.Transport, to, body string) Outcome {
	u, err := url.Parse(to)
	if err != nil {
		panic(err)
	}
	return post(ctx, transport, &target{url: u}, http.Header{"Webhook-Id": {"evt_1"}}, []byte(body), time.Now)
}

func openTransport(t *testing.T) *http.Transport {
	transport := newTransport(Guard{AllowPrivate: true}, nil, nil)
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// Answers are read as the outcome of the post. A connection is used again unless
// the answer ended it.
func TestAnswers(t *testing.T) {
	const hint = "HTTP/1.1 103 Early Hints\r\n\r\n"
	long := strings.Repeat("x", 3*keptAnswer)
	for name, c := range map[string]struct {
		answer  string
		code    int
		problem Problem
		kept    string
		reused  bool
	}{
		"no content":          {"HTTP/1.1 204 No Content\r\n\r\n", 204, NoProblem, "", true},
		"short":               {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, NoProblem, "ok", true},
		"long":                {"HTTP/1.1 200 OK\r\nContent-Length: 3072\r\n\r\n" + long, 200, NoProblem, long[:keptAnswer], true},
		"chunked":             {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 200, NoProblem, "ok", true},
		"exactly 1 KiB":       {"HTTP/1.1 200 OK\r\nContent-Length: 1024\r\n\r\n" + long[:keptAnswer], 200, NoProblem, long[:keptAnswer], true},
		"after hints":         {"HTTP/1.1 100 Continue\r\n\r\n" + hint + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, NoProblem, "", true},
		"connection: close":   {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 200, NoProblem, "ok", false},
		"HTTP/1.0":            {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, NoProblem, "ok", false},
		"switching protocols": {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", 101, StatusProblem, "", false},
		"redirect":            {"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n", 302, RedirectProblem, "", true},
		"error":               {"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno", 500, StatusProblem, "no", true},
		"too many hints":      {strings.Repeat(hint, 2*maxHeader/len(hint)), 0, ConnectionFailed, "", false},
		"too long a header":   {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", 2*maxHeader) + "\r\n\r\n", 0, ConnectionFailed, "", false},
		"not HTTP":            {"hello\r\n\r\n", 0, ConnectionFailed, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			var conns atomic.Int32
			to := rawReceiver(t, func(_ int, conn net.Conn, in *bufio.Reader) {
				conns.Add(1)
				for {
					if _, ok := readPost(in); !ok {
						return
					}
					_, _ = io.WriteString(conn, c.answer)
				}
			})
			transport := openTransport(t)
			for range 2 {
				o := postTo(t.Context(), transport, to, `{"a":1}`)
				if o.Code != c.code || o.Problem != c.problem || string(o.Answer) != c.kept {
					t.Errorf("got %d %q %q", o.Code, o.Problem, o.Answer)
				}
			}
			if reused := conns.Load() == 1; reused != c.reused {
				t.Errorf("two posts took %d connections", conns.Load())
			}
		})
	}
}

// A post on an idle connection that the receiver closed is made again on a new
// connection. A new connection that closes is a failure.
func TestClosedIdleConnection(t *testing.T) {
	var posts atomic.Int32
	to := rawReceiver(t, func(n int, conn net.Conn, in *bufio.Reader) {
		if _, ok := readPost(in); !ok || n > 1 {
			return
		}
		posts.Add(1)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		if n == 0 {
			return
		}
		_, _ = readPost(in)
	})
	transport := openTransport(t)
	for i, want := range []Problem{NoProblem, NoProblem, ConnectionFailed} {
		if o := postTo(t.Context(), transport, to, strings.Repeat("b", 1000)); o.Problem != want {
			t.Errorf("post %d: %d %q, want %q", i, o.Code, o.Problem, want)
		}
	}
	if posts.Load() != 2 {
		t.Errorf("%d posts were answered", posts.Load())
	}
}

// Bytes that a receiver sends on an idle connection are no answer to the next
// post: the connection is closed.
func TestBytesOnIdleConnection(t *testing.T) {
	log.SetOutput(io.Discard) // net/http reports the bytes
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	for name, bytes := range map[string]string{
		"408 before closing": "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		"second answer":      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"empty line":         "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			closed := make(chan struct{})
			to := rawReceiver(t, func(n int, conn net.Conn, in *bufio.Reader) {
				if _, ok := readPost(in); !ok {
					return
				}
				_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
				if n > 0 {
					return
				}
				time.Sleep(20 * time.Millisecond) // until the answer was read by itself
				_, _ = io.WriteString(conn, bytes)
				_, _ = in.ReadByte() // until the sender closes the connection
				close(closed)
			})
			transport := openTransport(t)
			for i := range 2 {
				if o := postTo(t.Context(), transport, to, "1"); o.Code != 204 {
					t.Errorf("post %d: got %d %q", i, o.Code, o.Problem)
				}
				<-closed
			}
		})
	}
}

// An answer counts although the receiver has not read the post to its end, over
// TLS as well.
func TestAnswerBeforeEndOfPost(t *testing.T) {
	answer := func(conn net.Conn) {
		in := bufio.NewReader(conn)
		if _, err := http.ReadRequest(in); err == nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
			<-t.Context().Done()
		}
	}
	secure := httptest.NewUnstartedServer(nil)
	secure.StartTLS()
	defer secure.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", secure.TLS)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answer(conn)
		}
	}()
	plain := rawReceiver(t, func(_ int, conn net.Conn, _ *bufio.Reader) { answer(conn) })
	dial := func(ctx context.Context, network, to string) (net.Conn, error) {
		if strings.HasPrefix(to, "example.com:") {
			to = l.Addr().String()
		}
		return (&net.Dialer{}).DialContext(ctx, network, to)
	}
	transport := newTransport(Guard{AllowPrivate: true}, dial, secure.Client().Transport.(*http.Transport).TLSClientConfig)
	defer transport.CloseIdleConnections()
	for _, to := range []string{plain, "https://example.com/"} {
		o := postTo(t.Context(), transport, to, strings.Repeat("b", 32<<20))
		if o.Code != 413 || o.Problem != StatusProblem || string(o.Answer) != "big" || o.Took >= Timeout {
			t.Errorf("%s: got %d %q %q after %v", to[:5], o.Code, o.Problem, o.Answer, o.Took)
		}
	}
}

func TestOverTLS(t *testing.T) {
	var conns atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %d", r.Proto, r.TLS.ServerName, len(body))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.EnableHTTP2 = true // offered, and not used
	s.StartTLS()
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.Listener.Addr().String())
	}
	trusting := s.Client().Transport.(*http.Transport).TLSClientConfig
	transport := newTransport(Guard{AllowPrivate: true}, dial, trusting)
	defer transport.CloseIdleConnections()
	for range 2 {
		if o := postTo(t.Context(), transport, "https://example.com:"+port+"/", "12345"); string(o.Answer) != "HTTP/1.1 example.com 5" || !o.OK() {
			t.Errorf("got %d %q %q", o.Code, o.Problem, o.Answer)
		}
	}
	if conns.Load() != 1 {
		t.Errorf("two posts took %d connections", conns.Load())
	}
	if o := postTo(t.Context(), transport, "https://elsewhere.test:"+port+"/", "1"); o.Problem != TLSProblem {
		t.Errorf("a certificate of another host: %d %q", o.Code, o.Problem)
	}
	stranger := newTransport(Guard{AllowPrivate: true}, dial, &tls.Config{MinVersion: tls.VersionTLS12})
	if o := postTo(t.Context(), stranger, "https://example.com:"+port+"/", "1"); o.Problem != TLSProblem {
		t.Errorf("a certificate of an unknown authority: %d %q", o.Code, o.Problem)
	}
}

// A post that hangs at any point ends after Timeout, or when its context ends.
func TestHangingPost(t *testing.T) {
	for name, answer := range map[string]string{
		"no answer": "", "half a header": "HTTP/1.1 200 OK\r\nX-", "half a body": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var open atomic.Int32
				dial := func(context.Context, string, string) (net.Conn, error) {
					here, there := net.Pipe()
					open.Add(1)
					go func() {
						defer open.Add(-1)
						defer there.Close()
						in := bufio.NewReader(there)
						if _, ok := readPost(in); ok {
							_, _ = io.WriteString(there, answer)
							_, _ = in.ReadByte() // until the sender closes the connection
						}
					}()
					return here, nil
				}
				transport := newTransport(Guard{}, dial, nil)
				began := time.Now()
				if o := postTo(t.Context(), transport, "http://receiver.test/", "1"); o.Problem != TimeoutProblem || o.Took != Timeout || time.Since(began) != Timeout {
					t.Errorf("got %d %q after %v", o.Code, o.Problem, o.Took)
				}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				if o := postTo(ctx, transport, "http://receiver.test/", "1"); o.OK() || o.Took != time.Second {
					t.Errorf("canceled: got %d %q after %v", o.Code, o.Problem, o.Took)
				}
				synctest.Wait()
				if n := open.Load(); n > 0 {
					t.Errorf("%d connections stay open", n)
				}
			})
		})
	}
}

// A connection that is idle for idleTimeout is closed, and so is every idle
// connection of a queue that is closed.
func TestIdleConnectionsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open, dialed atomic.Int32
		dial := func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			open.Add(1)
			dialed.Add(1)
			go func() {
				defer open.Add(-1)
				for in := bufio.NewReader(there); ; {
					if _, ok := readPost(in); !ok {
						return
					}
					_, _ = io.WriteString(there, "HTTP/1.1 204 No Content\r\n\r\n")
				}
			}()
			return here, nil
		}
		transport := newTransport(Guard{}, dial, nil)
		try := func(to string) {
			t.Helper()
			if o := postTo(t.Context(), transport, to, "1"); !o.OK() {
				t.Errorf("%s: %q", to, o.Problem)
			}
			synctest.Wait()
		}
		counts := func(wantOpen, wantDialed int32) {
			t.Helper()
			if open.Load() != wantOpen || dialed.Load() != wantDialed {
				t.Errorf("%d open of %d, want %d of %d", open.Load(), dialed.Load(), wantOpen, wantDialed)
			}
		}
		try("http://one.test/")
		time.Sleep(idleTimeout / 3)
		try("http://one.test/a")
		counts(1, 1)
		time.Sleep(2 * idleTimeout)
		synctest.Wait()
		counts(0, 1)
		try("http://one.test/")
		counts(1, 2)
		transport.CloseIdleConnections()
		synctest.Wait()
		counts(0, 2)
		try("http://one.test/")
		transport.CloseIdleConnections()
		synctest.Wait()
		counts(0, 3)
	})
}

// At most maxInFlight connections lead to an endpoint, also while posts hang.
func TestConnectionsPerEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dialed atomic.Int32
		dial := func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			dialed.Add(1)
			go func() { _, _ = io.Copy(io.Discard, there) }()
			return here, nil
		}
		transport := newTransport(Guard{}, dial, nil)
		var posts sync.WaitGroup
		for range 2 * maxInFlight {
			posts.Go(func() {
				if o := postTo(t.Context(), transport, "http://one.test/", "1"); o.Problem != TimeoutProblem {
					t.Errorf("got %d %q", o.Code, o.Problem)
				}
			})
		}
		synctest.Wait()
		if n := dialed.Load(); n != maxInFlight {
			t.Errorf("%d connections", n)
		}
		posts.Wait()
		transport.CloseIdleConnections()
	})
}

// The guard sees the address of the receiver: a proxy of the environment is not
// used.
func TestGuardSeesReceiver(t *testing.T) {
	proxy := rawReceiver(t, func(int, net.Conn, *bufio.Reader) { t.Error("the proxy was used") })
	t.Setenv("HTTP_PROXY", proxy)
	t.Setenv("HTTPS_PROXY", proxy)
	transport := newTransport(Guard{}, nil, nil)
	for _, to := range []string{"http://127.0.0.1:1/", "http://[::1]:1/", "https://localhost:1/", "http://10.0.0.1:1/"} {
		if o := postTo(t.Context(), transport, to, "1"); o.Problem != AddressProblem {
			t.Errorf("%s: %q", to, o.Problem)
		}
	}
}

// Host names beyond ASCII are dialed in the form that DNS has.
func TestNamesAreDialedInASCII(t *testing.T) {
	for to, want := range map[string]string{
		"https://bücher.example/a": "xn--bcher-kva.example:443", "http://example.test": "example.test:80",
		"http://[::1]:81/": "[::1]:81", "http://under_score.test/": "under_score.test:80", "http://127.0.0.1/": "127.0.0.1:80",
	} {
		var dialed string
		transport := newTransport(Guard{}, func(_ context.Context, _, address string) (net.Conn, error) {
			dialed = address
			return nil, net.ErrClosed
		}, nil)
		if o := postTo(t.Context(), transport, to, "1"); o.Problem != ConnectionFailed || dialed != want {
			t.Errorf("%s: dialed %q, %q", to, dialed, o.Problem)
		}
	}
}

// A receiver reads the post as an ordinary request. Idempotency-Key is not sent.
func TestPostAsReceived(t *testing.T) {
	got := make(chan string, 1)
	to := rawReceiver(t, func(_ int, conn net.Conn, in *bufio.Reader) {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(req.Body)
		got <- fmt.Sprintf("%s %s %s %s %d %v", req.Method, req.RequestURI, req.Header.Get("Webhook-Id"), body, req.ContentLength, req.Header["Idempotency-Key"])
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
	})
	if o := postTo(t.Context(), openTransport(t), to+"?a=b%20c", `{"x":1}`); !o.OK() {
		t.Fatal(o.Problem)
	}
	if want, was := `POST /hook?a=b%20c evt_1 {"x":1} 7 []`, <-got; was != want {
		t.Errorf("got %s, want %s", was, want)
	}
}

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, " 7 ": 7 * time.Second, "-1": 0, "1.5": 0, "soon": 0,
		"Sun, 01 Mar 2026 12:01:00 GMT": time.Minute, "Sun, 01 Mar 2026 11:00:00 GMT": 0, "99999999999999999999": 0,
	} {
		if got := parseRetryAfter(value, now); got != want {
			t.Errorf("%q is %v, want %v", value, got, want)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	f.Add("120")
	f.Add("Sun, 01 Mar 2026 12:01:00 GMT")
	f.Fuzz(func(t *testing.T, value string) {
		if got := parseRetryAfter(value, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)); got < 0 {
			t.Errorf("%q is %v", value, got)
		}
	})
}

// Only the answer that there is no such name says so.
func TestProblemsOfNames(t *testing.T) {
	for text, c := range map[string]struct {
		err  net.DNSError
		want Problem
	}{
		"DNS: no such host":                       {net.DNSError{Err: "no such host", IsNotFound: true}, NameProblem},
		"DNS: the host name cannot be looked up":  {net.DNSError{Err: "server misbehaving", IsTemporary: true}, LookupProblem},
		"DNS: the host name cannot be looked up ": {net.DNSError{Err: "i/o timeout", IsTimeout: true}, LookupProblem},
	} {
		if got := problemOf(fmt.Errorf("dial: %w", &c.err)); got != c.want || got.Sentence() != strings.TrimSpace(text) {
			t.Errorf("%s: %q, %q", c.err.Err, got, got.Sentence())
		}
	}
}
