package webhooks

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// answering is a receiver that speaks by hand: serve gets each connection.
func answering(t *testing.T, serve func(n int, c net.Conn, in *bufio.Reader)) (to string) {
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

// read reads one post and returns its body; ok is false when none comes.
func read(in *bufio.Reader) (body string, ok bool) {
	req, err := http.ReadRequest(in)
	if err != nil {
		return "", false
	}
	text, err := io.ReadAll(req.Body)
	return string(text), err == nil
}

func postTo(ctx context.Context, w *wire, to, body string) Outcome {
	u, err := url.Parse(to)
	if err != nil {
		panic(err)
	}
	return post(ctx, w, &target{url: u}, http.Header{"Webhook-Id": {"evt_1"}}, []byte(body), time.Now)
}

func openWire(t *testing.T) *wire {
	w := newWire(Guard{AllowPrivate: true}, nil, nil)
	t.Cleanup(w.CloseIdleConnections)
	return w
}

// What a receiver may answer, and whether the connection is used again.
func TestAnswers(t *testing.T) {
	long := strings.Repeat("x", 3*keptAnswer)
	for name, c := range map[string]struct {
		answer  string
		code    int
		problem Problem
		kept    string
		again   bool
	}{
		"nothing to say":       {"HTTP/1.1 204 No Content\r\n\r\n", 204, NoProblem, "", true},
		"a short answer":       {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, NoProblem, "ok", true},
		"a long answer":        {"HTTP/1.1 200 OK\r\nContent-Length: 3072\r\n\r\n" + long, 200, NoProblem, long[:keptAnswer], true},
		"in pieces":            {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 200, NoProblem, "ok", true},
		"exactly what is kept": {"HTTP/1.1 200 OK\r\nContent-Length: 1024\r\n\r\n" + long[:keptAnswer], 200, NoProblem, long[:keptAnswer], true},
		"hints before":         {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, NoProblem, "", true},
		"said to be the last":  {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 200, NoProblem, "ok", false},
		"an old one":           {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, NoProblem, "ok", false},
		"more than was said":   {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!", 200, NoProblem, "ok", false},
		"another way to speak": {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", 101, StatusProblem, "", false},
		"elsewhere":            {"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n", 302, RedirectProblem, "", true},
		"trouble":              {"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno", 500, StatusProblem, "no", true},
		"hints without end":    {strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 9), 0, ConnectionFailed, "", false},
		"a head without end":   {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", 2*maxHeader) + "\r\n\r\n", 0, ConnectionFailed, "", false},
		"not HTTP":             {"hello\r\n\r\n", 0, ConnectionFailed, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			var conns atomic.Int32
			to := answering(t, func(_ int, conn net.Conn, in *bufio.Reader) {
				conns.Add(1)
				for {
					if _, ok := read(in); !ok {
						return
					}
					_, _ = io.WriteString(conn, c.answer)
				}
			})
			w := openWire(t)
			for range 2 {
				o := postTo(t.Context(), w, to, `{"a":1}`)
				if o.Code != c.code || o.Problem != c.problem || string(o.Answer) != c.kept {
					t.Errorf("got %d %q %q", o.Code, o.Problem, o.Answer)
				}
			}
			if again := conns.Load() == 1; again != c.again {
				t.Errorf("two posts took %d connections", conns.Load())
			}
		})
	}
}

// A connection that the receiver closed while it lay idle costs nothing but
// another one; the same on a new connection is a failure.
func TestAnIdleConnectionThatWasClosed(t *testing.T) {
	var posts atomic.Int32
	to := answering(t, func(n int, conn net.Conn, in *bufio.Reader) {
		if _, ok := read(in); !ok || n > 1 {
			return
		}
		posts.Add(1)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		if n == 0 {
			return // closes without a word
		}
		_, _ = read(in)
	})
	w := openWire(t)
	for i, want := range []Problem{NoProblem, NoProblem, ConnectionFailed} {
		if o := postTo(t.Context(), w, to, strings.Repeat("b", 100_000)); o.Problem != want {
			t.Errorf("post %d: %d %q, want %q", i, o.Code, o.Problem, want)
		}
	}
	if posts.Load() != 2 {
		t.Errorf("%d posts were answered", posts.Load())
	}
}

// What a receiver says on an idle connection is no answer to the next post:
// the connection is not used again.
func TestWordsOnAnIdleConnection(t *testing.T) {
	for name, words := range map[string]string{
		"hangs up with a word":   "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		"answers what never was": "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"an empty line more":     "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			said := make(chan struct{})
			var posts atomic.Int32
			to := answering(t, func(_ int, conn net.Conn, in *bufio.Reader) {
				for {
					if _, ok := read(in); !ok {
						return
					}
					first := posts.Add(1) == 1
					_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
					if first {
						time.Sleep(20 * time.Millisecond) // until the answer was read by itself
						_, _ = io.WriteString(conn, words)
						close(said)
					}
				}
			})
			w := openWire(t)
			for i := range 2 {
				if o := postTo(t.Context(), w, to, "1"); o.Code != 204 {
					t.Errorf("post %d: got %d %q", i, o.Code, o.Problem)
				}
				<-said
			}
			if posts.Load() != 2 {
				t.Errorf("the receiver had %d posts", posts.Load())
			}
		})
	}
}

// Whoever answers and reads no further is heard, over TLS too, and costs no more
// time than a post may take.
func TestAnAnswerByOneWhoDoesNotRead(t *testing.T) {
	answer := func(conn net.Conn) {
		in := bufio.NewReader(conn)
		if _, err := http.ReadRequest(in); err == nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n")
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
	plain := answering(t, func(_ int, conn net.Conn, in *bufio.Reader) { answer(conn) })
	dial := func(ctx context.Context, network, to string) (net.Conn, error) {
		if strings.HasPrefix(to, "example.com:") {
			to = l.Addr().String()
		}
		return (&net.Dialer{}).DialContext(ctx, network, to)
	}
	w := newWire(Guard{AllowPrivate: true}, dial, secure.Client().Transport.(*http.Transport).TLSClientConfig)
	defer w.CloseIdleConnections()
	for _, to := range []string{plain, "https://example.com/"} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		o := postTo(ctx, w, to, strings.Repeat("b", 32<<20))
		cancel()
		if o.Code != 410 || o.Took > 2*time.Second {
			t.Errorf("%s: got %d %q after %v", to[:5], o.Code, o.Problem, o.Took)
		}
	}
}

// An answer that comes before all of the post was read counts.
func TestAnEarlyAnswer(t *testing.T) {
	to := answering(t, func(_ int, conn net.Conn, in *bufio.Reader) {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
		_, _ = io.CopyN(io.Discard, in, 1<<20) // lingers
	})
	o := postTo(t.Context(), openWire(t), to, strings.Repeat("b", 8<<20))
	if o.Code != 413 || o.Problem != StatusProblem || string(o.Answer) != "big" {
		t.Errorf("got %d %q %q", o.Code, o.Problem, o.Answer)
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
	s.EnableHTTP2 = true // it is offered, and not taken
	s.StartTLS()
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.Listener.Addr().String())
	}
	trusting := s.Client().Transport.(*http.Transport).TLSClientConfig
	w := newWire(Guard{AllowPrivate: true}, dial, trusting)
	defer w.CloseIdleConnections()
	for range 2 {
		if o := postTo(t.Context(), w, "https://example.com:"+port+"/", "12345"); string(o.Answer) != "HTTP/1.1 example.com 5" || !o.OK() {
			t.Errorf("got %d %q %q", o.Code, o.Problem, o.Answer)
		}
	}
	if conns.Load() != 1 {
		t.Errorf("two posts took %d connections", conns.Load())
	}
	if o := postTo(t.Context(), w, "https://elsewhere.test:"+port+"/", "1"); o.Problem != TLSProblem {
		t.Errorf("a certificate of another host: %d %q", o.Code, o.Problem)
	}
	stranger := newWire(Guard{AllowPrivate: true}, dial, &tls.Config{MinVersion: tls.VersionTLS12})
	if o := postTo(t.Context(), stranger, "https://example.com:"+port+"/", "1"); o.Problem != TLSProblem {
		t.Errorf("a certificate that nobody vouches for: %d %q", o.Code, o.Problem)
	}
}

// The time of an exchange ends a post that hangs at any point, and so does
// whoever asked for it.
func TestAPostThatHangs(t *testing.T) {
	for name, answer := range map[string]string{
		"says nothing": "", "half a head": "HTTP/1.1 200 OK\r\nX-", "half a body": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dial := func(context.Context, string, string) (net.Conn, error) {
					here, there := net.Pipe()
					go func() {
						defer there.Close()
						in := bufio.NewReader(there)
						if _, ok := read(in); ok {
							_, _ = io.WriteString(there, answer)
							_, _ = in.ReadByte() // until the sender hangs up
						}
					}()
					return here, nil
				}
				w := newWire(Guard{}, dial, nil)
				began := time.Now()
				if o := postTo(t.Context(), w, "http://receiver.test/", "1"); o.Problem != TimeoutProblem || o.Took != Timeout || time.Since(began) != Timeout {
					t.Errorf("got %d %q after %v", o.Code, o.Problem, o.Took)
				}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				if o := postTo(ctx, w, "http://receiver.test/", "1"); o.OK() || o.Took != time.Second {
					t.Errorf("called off: got %d %q after %v", o.Code, o.Problem, o.Took)
				}
				if len(w.idle) > 0 {
					t.Error("a connection that hung was kept")
				}
			})
		})
	}
}

// Connections that nobody uses are closed within the idle time, and those to
// where the endpoint was before are not used.
func TestIdleConnectionsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, dialled := atomic.Int32{}, atomic.Int32{}
		dial := func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			open.Add(1)
			dialled.Add(1)
			go func() {
				defer open.Add(-1)
				for in := bufio.NewReader(there); ; {
					if _, ok := read(in); !ok {
						return
					}
					_, _ = io.WriteString(there, "HTTP/1.1 204 No Content\r\n\r\n")
				}
			}()
			return here, nil
		}
		w := newWire(Guard{}, dial, nil)
		try := func(to string) {
			t.Helper()
			if o := postTo(t.Context(), w, to, "1"); !o.OK() {
				t.Errorf("%s: %q", to, o.Problem)
			}
			synctest.Wait()
		}
		counts := func(wantOpen, wantDialled int32) {
			t.Helper()
			if open.Load() != wantOpen || dialled.Load() != wantDialled {
				t.Errorf("%d open of %d, want %d of %d", open.Load(), dialled.Load(), wantOpen, wantDialled)
			}
		}
		try("http://one.test/")
		time.Sleep(idleTimeout / 3)
		try("http://one.test/a")
		counts(1, 1)
		try("http://two.test/")
		counts(1, 2)
		time.Sleep(2 * idleTimeout)
		synctest.Wait()
		counts(0, 2)
		try("http://two.test/")
		counts(1, 3)
		w.CloseIdleConnections()
		synctest.Wait()
		counts(0, 3)
		try("http://two.test/")
		w.CloseIdleConnections()
		synctest.Wait()
		counts(0, 4)
	})
}

// Names in letters beyond ASCII are dialled as DNS has them.
func TestNamesAreDialledInASCII(t *testing.T) {
	for to, want := range map[string]string{
		"https://bücher.example/a": "xn--bcher-kva.example:443", "http://EXAMPLE.test": "example.test:80",
		"http://[::1]:81/": "[::1]:81", "http://under_score.test/": "under_score.test:80", "http://127.0.0.1/": "127.0.0.1:80",
	} {
		var dialled string
		w := newWire(Guard{}, func(_ context.Context, _, address string) (net.Conn, error) {
			dialled = address
			return nil, net.ErrClosed
		}, nil)
		if o := postTo(t.Context(), w, to, "1"); o.Problem != ConnectionFailed || dialled != want {
			t.Errorf("%s: dialled %q, %q", to, dialled, o.Problem)
		}
	}
}

// The post on the wire is what the receiver's library reads.
func TestThePostOnTheWire(t *testing.T) {
	got := make(chan string, 1)
	to := answering(t, func(_ int, conn net.Conn, in *bufio.Reader) {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(req.Body)
		got <- fmt.Sprintf("%s %s %s %s %d %v", req.Method, req.RequestURI, req.Header.Get("Webhook-Id"), body, req.ContentLength, req.Header["Idempotency-Key"])
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
	})
	if o := postTo(t.Context(), openWire(t), to+"?a=b%20c", `{"x":1}`); !o.OK() {
		t.Fatal(o.Problem)
	}
	if want, was := `POST /hook?a=b%20c evt_1 {"x":1} 7 []`, <-got; was != want {
		t.Errorf("got %s, want %s", was, want)
	}
}
