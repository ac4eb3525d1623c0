package app

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"hale/internal/platform/config"
	"hale/internal/platform/ops"
)

// fullListener is a listener of a process that has too many files open, and then ends.
type fullListener struct {
	net.Listener
	times int
}

type tooManyError struct{ error }

func (tooManyError) Timeout() bool   { return false }
func (tooManyError) Temporary() bool { return true }

func (l *fullListener) Accept() (net.Conn, error) {
	if l.times++; l.times == 1 {
		return nil, tooManyError{errors.New("too many open files")}
	}
	return nil, net.ErrClosed
}

// A server that accepts no more connections says so, and nothing of what clients
// send it.
func TestFailuresToAcceptAreLogged(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var log bytes.Buffer
	a := &App{Options: Options{Config: new(config.Config), Log: ops.NewLogger(&log, "text", "info")}}
	server := a.newServer(http.NotFoundHandler())
	if err := server.Serve(&fullListener{Listener: listener}); !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}
	server.ErrorLog.Print("http: panic serving 192.0.2.1: something personal")
	if got := log.String(); !strings.Contains(got, "level=WARN") || !strings.Contains(got, "too many open files") || strings.Contains(got, "personal") {
		t.Errorf("the log says %s", got)
	}
}
