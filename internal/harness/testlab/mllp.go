package testlab

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// Listener receives orders over MLLP.
type Listener struct {
	Address string
	listen  net.Listener
	wait    sync.WaitGroup
	mu      sync.Mutex
	open    map[net.Conn]bool
}

// Listen receives orders on a loopback address; an empty one means a free port.
func (l *Lab) Listen(address string) (*Listener, error) {
	if address == "" {
		address = "127.0.0.1:0"
	}
	listen, err := net.Listen("tcp", address) //nolint:noctx // lives as long as the laboratory
	if err != nil {
		return nil, err
	}
	s := &Listener{Address: listen.Addr().String(), listen: listen, open: map[net.Conn]bool{}}
	s.wait.Go(func() {
		for {
			conn, err := listen.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.open[conn] = true
			s.mu.Unlock()
			s.wait.Go(func() { s.serve(l, conn) })
		}
	})
	return s, nil
}

func (s *Listener) serve(l *Lab, conn net.Conn) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, conn)
		_ = conn.Close()
	}()
	reader := bufio.NewReader(conn)
	for {
		message, err := readBlock(reader)
		if err != nil {
			return
		}
		if _, err := conn.Write([]byte("\v" + l.take(message) + "\x1c\r")); err != nil {
			return
		}
	}
}

// Close ends the listener and its connections.
func (s *Listener) Close() {
	_ = s.listen.Close()
	s.mu.Lock()
	for conn := range s.open {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.wait.Wait()
}

// readBlock reads one message between its marks.
func readBlock(r *bufio.Reader) (string, error) {
	begin, err := r.ReadByte()
	if err != nil {
		return "", err
	}
	if begin != '\v' {
		return "", fmt.Errorf("a block begins with %q", begin)
	}
	message, err := r.ReadString('\x1c')
	if err != nil {
		return "", err
	}
	if end, err := r.ReadByte(); err != nil || end != '\r' {
		return "", fmt.Errorf("a block ends with %q, %w", end, err)
	}
	return strings.TrimSuffix(message, "\x1c"), nil
}

// Send sends a message over a new connection, and returns MSA-1 of the answer.
// The answer must name the message.
func Send(ctx context.Context, address, message string) (string, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(90 * time.Second)); err != nil {
		return "", err
	}
	if _, err := conn.Write([]byte("\v" + message + "\x1c\r")); err != nil {
		return "", err
	}
	answer, err := readBlock(bufio.NewReader(conn))
	if err != nil {
		return "", err
	}
	segments, err := parse(answer)
	if err != nil {
		return "", err
	}
	sent, err := parse(message)
	if err != nil {
		return "", err
	}
	for _, s := range segments {
		if s[0] == "MSA" {
			if s.get(2, 1) != sent[0].get(10, 1) {
				return "", fmt.Errorf("the answer is to %s", s.get(2, 1))
			}
			return s.get(1, 1), nil
		}
	}
	return "", fmt.Errorf("the answer has no MSA")
}
