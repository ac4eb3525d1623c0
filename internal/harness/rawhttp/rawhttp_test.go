package rawhttp_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hale/internal/harness/rawhttp"
)

// The standard library's server judges what the client sends. The client must
// read its answers: with a length, in chunks, and without a body.
func TestAgainstTheStandardServer(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(append([]byte(r.Header.Get("x-key")+" "), body...))
	})
	mux.HandleFunc("GET /chunks", func(w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			_, _ = io.WriteString(w, strings.Repeat("c", 5000))
			w.(http.Flusher).Flush()
		}
	})
	mux.HandleFunc("DELETE /none", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	server := httptest.NewServer(mux)
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	conn, err := rawhttp.Dial(t.Context(), host, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	tests := []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/echo", `{"a":1}`, 201, `k {"a":1}`},
		{"GET", "/chunks", "", 200, strings.Repeat("c", 15000)},
		{"DELETE", "/none", "", 204, ""},
		{"GET", "/nowhere", "", 404, "404 page not found\n"},
		{"POST", "/echo", strings.Repeat("x", 300_000), 201, "k " + strings.Repeat("x", 300_000)},
	}
	for _, tt := range tests { // all on the one connection
		var body []byte
		if tt.body != "" {
			body = []byte(tt.body)
		}
		got, err := conn.Do(rawhttp.Head(tt.method, tt.path, host, "x-key: k"), body)
		if err != nil {
			t.Fatalf("%s %s: %v", tt.method, tt.path, err)
		}
		if got.Status != tt.status || string(got.Body) != tt.want {
			t.Errorf("%s %s = %d with %d bytes, want %d with %d", tt.method, tt.path, got.Status, len(got.Body), tt.status, len(tt.want))
		}
	}
}

func TestUnreadableValuesAreRefused(t *testing.T) {
	for name, answer := range map[string]string{
		"not HTTP":          "SSH-2.0-OpenSSH\r\n",
		"no length":         "HTTP/1.1 200 OK\r\n\r\nbody",
		"negative length":   "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"header of no kind": "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n",
		"bad chunk size":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"cut short":         "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := rawhttp.Dial(t.Context(), answering(t, answer), 5*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if r, err := conn.Do(rawhttp.Head("GET", "/", "x"), nil); err == nil {
				t.Errorf("read %d %q, want an error", r.Status, r.Body)
			}
		})
	}
}

// answering listens for one connection, reads one request and sends answer.
func answering(t *testing.T, answer string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = io.WriteString(conn, answer)
	}()
	return listener.Addr().String()
}
