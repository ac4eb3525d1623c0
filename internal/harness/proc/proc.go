// Package proc runs the real binary as a separate process, for crash and bench runs. It
// builds the binary, starts it on a free loopback port and waits until it is ready. It
// reads the costs of the process from /proc, and kills it.
package proc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"hale/internal/harness/loopback"
)

// Build compiles cmd/hale into dir and returns the binary's path. If HALE_BINARY is set,
// it returns that path instead.
func Build(ctx context.Context, dir string) (string, error) {
	if given := os.Getenv("HALE_BINARY"); given != "" {
		return filepath.Abs(given)
	}
	binary := filepath.Join(dir, "hale")
	// Build without -trimpath, so that the compiled packages of the tests are used again.
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "hale/cmd/hale")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("proc: building: %w\n%s", err, out)
	}
	return binary, nil
}

// Options describe how to run the server.
type Options struct {
	Binary   string
	Dir      string // --data
	Database string // --database; empty for SQLite
	APIKey   string // of the first team
	Args     []string
}

// Server is one installation: a data folder and an address that stay the same when
// processes are replaced.
type Server struct {
	options Options
	address string
	log     *os.File
	cmd     *exec.Cmd
	exited  chan struct{}
	exit    error
}

// New prepares an installation on a free loopback port. Everything the
// processes print goes to server.log in its data folder.
func New(o Options) (*Server, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("proc: %w", err)
	}
	address, err := loopback.FreeAddress()
	if err != nil {
		return nil, fmt.Errorf("proc: %w", err)
	}
	log, err := os.OpenFile(filepath.Join(o.Dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("proc: %w", err)
	}
	return &Server{options: o, address: address, log: log}, nil
}

// Address returns the host:port of the API.
func (s *Server) Address() string { return s.address }

// Environ returns the variables with which client commands of the binary reach this
// server.
func (s *Server) Environ() []string {
	return append(plainEnviron(), "HALE_URL=http://"+s.address, "HALE_API_KEY="+s.options.APIKey)
}

// Start starts a process and waits, at most a minute, until /readyz answers
// 200. It returns how long that took.
func (s *Server) Start(ctx context.Context) (time.Duration, error) {
	args := append([]string{
		"serve", "--listen", s.address, "--data", s.options.Dir,
		"--metrics-listen", "off", "--webhook-allow-private",
	}, s.options.Args...)
	// Not CommandContext: a run that is cancelled stops its server itself.
	cmd := exec.Command(s.options.Binary, args...) //nolint:noctx // see above
	cmd.Stdout, cmd.Stderr = s.log, s.log
	cmd.Env = append(plainEnviron(), "HALE_BOOTSTRAP_API_KEY="+s.options.APIKey, "HALE_LOG_LEVEL=warn")
	if s.options.Database != "" {
		cmd.Env = append(cmd.Env, "HALE_DATABASE="+s.options.Database)
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("proc: starting: %w", err)
	}
	exited := make(chan struct{})
	s.cmd, s.exited = cmd, exited
	go func() {
		s.exit = cmd.Wait()
		close(exited)
	}()
	if err := s.waitReady(ctx); err != nil {
		s.Kill()
		return 0, err
	}
	return time.Since(start), nil
}

// waitReady polls often, because the time to readiness is measured.
func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/readyz", http.NoBody)
		if err != nil {
			return fmt.Errorf("proc: %w", err)
		}
		if response, err := client.Do(request); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-s.exited:
			return fmt.Errorf("proc: the server ended before it was ready: %w\n%s", s.exit, s.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("proc: the server is not ready: %w\n%s", ctx.Err(), s.lastWords())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// Kill ends the process at once, as a crash does, and waits until it has ended.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Stop asks the process to end, and kills it if it has not ended within 40 seconds.
func (s *Server) Stop() error {
	if s.cmd == nil {
		return nil
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	select {
	case <-s.exited:
		s.cmd = nil
		return s.exit
	case <-time.After(40 * time.Second):
		s.Kill()
		return errors.New("proc: the server did not stop within 40 s")
	}
}

func (s *Server) end(signal syscall.Signal) {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(signal) // it may have ended by itself
	<-s.exited
	s.cmd = nil
}

// Close kills a running process and closes the log.
func (s *Server) Close() error {
	s.Kill()
	return s.log.Close()
}

// Log returns everything that the processes of this installation printed.
func (s *Server) Log() (string, error) {
	text, err := os.ReadFile(s.log.Name())
	return string(text), err
}

func (s *Server) lastWords() string {
	text, _ := s.Log() // best effort: it explains another failure
	return text[max(0, len(text)-4000):]
}

// Command runs the binary as a client of this server, or as a tool on its data, and
// returns its standard output.
func (s *Server) Command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.options.Binary, args...)
	cmd.Env = append(s.Environ(), "HALE_DATA="+s.options.Dir, "HALE_DATABASE="+s.options.Database)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("proc: hale %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}

// plainEnviron returns the environment without settings of Hale, so that a run does not
// depend on the user's settings.
func plainEnviron() []string {
	var kept []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "HALE_") {
			kept = append(kept, entry)
		}
	}
	return kept
}
