package mllp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hale/internal/labs/hl7"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start serves on loopback until the test ends, or stop is called.
func start(t testing.TB, s *Server) (address string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() { stop() })
	return l.Addr().String(), stop
}

func echo(_ context.Context, message []byte) []byte { return bytes.ToUpper(message) }

func TestMessagesAreAnswered(t *testing.T) {
	address, stop := start(t, &Server{Handle: echo})
	c := &Client{Address: address}
	t.Cleanup(c.Close)
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			for j := range 20 {
				text := fmt.Sprintf("message %d of %d", j, i)
				answer, err := c.Exchange(t.Context(), []byte(text), nil)
				if err != nil || string(answer) != strings.ToUpper(text) {
					t.Errorf("%q, %v", answer, err)
					return
				}
			}
		})
	}
	group.Wait()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exchange(t.Context(), []byte("x"), nil); err == nil {
		t.Error("a stopped server still answers")
	}
}

func TestFramesAreReadInPieces(t *testing.T) {
	address, _ := start(t, &Server{Handle: echo})
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, piece := range []string{"\x0bon", "e\x1c", "\r\r\n\x0btwo\x1c\r\x0bthr", "ee\x1c\r"} {
		if _, err := io.WriteString(conn, piece); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	want := "\x0bONE\x1c\r\x0bTWO\x1c\r\x0bTHREE\x1c\r"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
		t.Fatalf("%q, %v", got, err)
	}
}

func TestOtherProtocolsAreClosed(t *testing.T) {
	address, _ := start(t, &Server{Handle: echo})
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET / HTTP/1.1\r\n\r\n")
	if answer, err := io.ReadAll(conn); len(answer) > 0 {
		t.Errorf("it was answered %q, %v", answer, err)
	}
}

func TestMessageOverTheLimit(t *testing.T) {
	address, _ := start(t, &Server{
		Handle:     echo,
		MaxMessage: 20_000,
		TooLarge:   func(beginning []byte) []byte { return fmt.Appendf(nil, "%d of %s", len(beginning), beginning[:3]) },
	})
	c := &Client{Address: address}
	t.Cleanup(c.Close)
	answer, err := c.Exchange(t.Context(), bytes.Repeat([]byte("x"), 20_000), nil)
	if err != nil || len(answer) != 20_000 {
		t.Fatalf("at the limit: %d bytes, %v", len(answer), err)
	}
	answer, err = c.Exchange(t.Context(), bytes.Repeat([]byte("y"), 20_001), nil)
	if err != nil || string(answer) != "20000 of yyy" {
		t.Fatalf("over the limit: %q, %v", answer, err)
	}
	// The server closed the connection; the client notices it and connects again.
	if _, err := c.Exchange(t.Context(), []byte("z"), nil); err != nil {
		t.Fatal(err)
	}
	c.MaxMessage = 10
	if _, err := c.Exchange(t.Context(), []byte("an answer that is too long"), nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a long answer: %v", err)
	}
}

func TestStopAnswersOpenMessages(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	address, stop := start(t, &Server{Handle: func(ctx context.Context, message []byte) []byte {
		close(began)
		<-release
		if ctx.Err() != nil {
			return []byte("cancelled")
		}
		return []byte("stored")
	}})
	idle, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	c := &Client{Address: address}
	t.Cleanup(c.Close)
	answered := make(chan string, 1)
	go func() {
		answer, err := c.Exchange(context.Background(), []byte("x"), nil)
		answered <- fmt.Sprint(string(answer), " ", err)
	}()
	<-began
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	if _, err := io.ReadAll(idle); err != nil {
		t.Errorf("the idle connection: %v", err)
	}
	select {
	case <-stopped:
		t.Fatal("it stopped before a message was answered")
	default:
	}
	close(release)
	if got := <-answered; got != "stored <nil>" {
		t.Errorf("the open message: %s", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestStopWaitsForDrainTimeout(t *testing.T) {
	began := make(chan struct{})
	address, stop := start(t, &Server{DrainTimeout: 20 * time.Millisecond, Handle: func(ctx context.Context, _ []byte) []byte {
		close(began)
		<-ctx.Done()
		return nil
	}})
	go (&Client{Address: address}).Exchange(context.Background(), []byte("x"), nil)
	<-began
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestSilenceEnds(t *testing.T) {
	address, _ := start(t, &Server{Handle: echo, IdleTimeout: 20 * time.Millisecond})
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "\x0bhalf a mess")
	if answer, _ := io.ReadAll(conn); len(answer) > 0 {
		t.Errorf("half a message was answered with %q", answer)
	}
}

func TestConnectionsOverTheBoundWait(t *testing.T) {
	address, _ := start(t, &Server{Handle: echo, MaxConnections: 1})
	first := &Client{Address: address}
	if _, err := first.Exchange(t.Context(), []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	second := &Client{Address: address, AnswerTimeout: 30 * time.Millisecond}
	t.Cleanup(second.Close)
	if _, err := second.Exchange(t.Context(), []byte("x"), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("beside a full server: %v", err)
	}
	first.Close()
	second.AnswerTimeout = 5 * time.Second
	if _, err := second.Exchange(t.Context(), []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
}

// One address cannot keep the others out with idle connections: further ones are
// closed, and a connection without a message ends soon.
func TestIdleConnectionsOfAnAddress(t *testing.T) {
	var crowded atomic.Int32
	address, _ := start(t, &Server{Handle: echo, MaxPerAddress: 2, FirstMessageTimeout: 2 * time.Second, OnCrowded: func(from string) {
		if from == "127.0.0.1" {
			crowded.Add(1)
		}
	}})
	var open []net.Conn
	for range 3 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		open = append(open, conn)
	}
	for i, conn := range slices.Backward(open) {
		conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("connection %d stays open: %v", i, err)
		}
	}
	if crowded.Load() != 1 {
		t.Errorf("%d connections were closed as crowded", crowded.Load())
	}
	c := &Client{Address: address}
	t.Cleanup(c.Close)
	for range 2 { // the second message after the time for a first one
		if _, err := c.Exchange(t.Context(), []byte("x"), nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2100 * time.Millisecond)
	}
}

// remote is a connection from an address.
type remote struct {
	net.Conn
	address string
}

func (r remote) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(r.address))
}

func (remote) Close() error { return nil }

// An IPv6 machine may have any address of its network. The bound counts the network.
func TestConnectionsOfANetwork(t *testing.T) {
	open := connections{list: map[net.Conn]netip.Addr{}, count: map[netip.Addr]int{}, limit: 2}
	var all []net.Conn
	for _, c := range []struct {
		address string
		crowded bool
	}{
		{"[2001:db8:0:1::1]:1", false},
		{"[2001:db8:0:1:ffff::2]:1", false},
		{"[2001:db8:0:1::3]:1", true},
		{"[2001:db8:0:2::3]:1", false},
		{"192.0.2.1:1", false},
		{"[::ffff:192.0.2.1]:2", false},
		{"192.0.2.1:3", true},
		{"192.0.2.2:1", false},
	} {
		conn := remote{address: c.address}
		if added, crowded := open.add(conn); crowded != c.crowded || added == crowded {
			t.Errorf("%s: added %t, crowded %t", c.address, added, crowded)
		}
		if !c.crowded {
			all = append(all, conn)
		}
	}
	for _, conn := range all {
		open.remove(conn)
	}
	if len(open.count)+len(open.list) != 0 {
		t.Errorf("%v and %v are left", open.count, open.list)
	}
}

// poorListener is a listener of a process without free file descriptors for a while.
type poorListener struct {
	net.Listener
	failures atomic.Int32
}

func (l *poorListener) Accept() (net.Conn, error) {
	if l.failures.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

// A connection that cannot be accepted uses no slot: the next one is served even
// if there is only one slot.
func TestAcceptingIsTriedAgain(t *testing.T) {
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &poorListener{Listener: plain}
	l.failures.Store(3)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	var refused atomic.Int32
	s := Server{Handle: echo, MaxConnections: 1, OnAcceptError: func(error) { refused.Add(1) }}
	go func() { done <- s.Serve(ctx, l) }()
	c := &Client{Address: plain.Addr().String()}
	t.Cleanup(c.Close)
	if answer, err := c.Exchange(t.Context(), []byte("x"), nil); err != nil || string(answer) != "X" {
		t.Errorf("%q, %v", answer, err)
	}
	cancel()
	if err := <-done; err != nil || refused.Load() != 3 {
		t.Errorf("%d were refused, %v", refused.Load(), err)
	}
}

// A stop ends the wait for the next try. A listener that was closed from outside
// is a failure.
func TestAcceptingEnds(t *testing.T) {
	for name, end := range map[string]func(cancel func(), l net.Listener){
		"stopped": func(cancel func(), _ net.Listener) { cancel() },
		"closed":  func(_ func(), l net.Listener) { l.Close() },
	} {
		plain, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l := &poorListener{Listener: plain}
		if name == "stopped" {
			l.failures.Store(1 << 20)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- (&Server{Handle: echo}).Serve(ctx, l) }()
		end(cancel, l)
		if err := <-done; errors.Is(err, net.ErrClosed) != (name == "closed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheClientGivesUp(t *testing.T) {
	release := make(chan struct{})
	var calls atomic.Int32
	address, _ := start(t, &Server{Handle: func(_ context.Context, message []byte) []byte {
		if calls.Add(1) == 1 {
			<-release
		}
		return message
	}})
	c := &Client{Address: address, AnswerTimeout: 30 * time.Millisecond}
	t.Cleanup(c.Close)
	if _, err := c.Exchange(t.Context(), []byte("slow"), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no answer: %v", err)
	}
	close(release)
	c.AnswerTimeout = 5 * time.Second
	if answer, err := c.Exchange(t.Context(), []byte("fast"), nil); err != nil || string(answer) != "fast" {
		t.Errorf("the next one: %q, %v", answer, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Exchange(ctx, []byte("x"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who left: %v", err)
	}
}

func TestAnswersToOtherMessagesAreSkipped(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		readFrame(bufio.NewReader(conn), nil, 100)
		io.WriteString(conn, "\x0blate\x1c\r\x0bmine\x1c\r")
	}()
	c := &Client{Address: l.Addr().String()}
	t.Cleanup(c.Close)
	answer, err := c.Exchange(t.Context(), []byte("x"), func(a []byte) bool { return string(a) == "mine" })
	if err != nil || string(answer) != "mine" {
		t.Errorf("%q, %v", answer, err)
	}
}

func TestTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"lab.test"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(certificate)
	pair := []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}
	var peer atomic.Pointer[Peer]
	handle := func(ctx context.Context, message []byte) []byte {
		p := PeerOf(ctx)
		peer.Store(&p)
		return echo(ctx, message)
	}
	address, _ := start(t, &Server{Handle: handle, TLS: &tls.Config{Certificates: pair, ClientCAs: trusted, ClientAuth: tls.VerifyClientCertIfGiven}})
	own := &Client{Address: address, TLS: &tls.Config{RootCAs: trusted, ServerName: "lab.test", Certificates: pair}}
	t.Cleanup(own.Close)
	if _, err := own.Exchange(t.Context(), []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	if p := peer.Load(); p.Address.String() != "127.0.0.1" || p.Certificate == nil || !p.Certificate.Equal(certificate) {
		t.Errorf("the peer is %+v", p)
	}
	c := &Client{Address: address, TLS: &tls.Config{RootCAs: trusted, ServerName: "lab.test"}}
	t.Cleanup(c.Close)
	if answer, err := c.Exchange(t.Context(), []byte("x"), nil); err != nil || string(answer) != "X" {
		t.Errorf("%q, %v", answer, err)
	}
	if p := peer.Load(); p.Certificate != nil {
		t.Errorf("a peer without a certificate is %+v", p)
	}
	wrong := &Client{Address: address, TLS: &tls.Config{RootCAs: trusted, ServerName: "another.test"}}
	if _, err := wrong.Exchange(t.Context(), []byte("x"), nil); err == nil {
		t.Error("a certificate of another name was taken")
	}
}

const oru = "MSH|^~\\&|LAB|NORTH|HALE|US|20260301081500-0500||ORU^R01^ORU_R01|C-1|P|2.5.1\rPID|1||77^^^LAB^PI||Quill^Ada||19800101|F\r" +
	"OBR|1|P-1|F-1|CMP^Metabolic panel^L|||20260301070000-0500|||||||||||||||20260301081500-0500|||F\r" +
	"OBX|1|NM|GLU^Glucose^L^2345-7^Glucose^LN||91|mg/dL|70-99|N|||F\rOBX|2|NM|NA^Sodium^L^2951-2^Sodium^LN||140|mmol/L|136-145|N|||F\r"

// One round trip is a result message sent, parsed, acknowledged and its answer
// read, over loopback with several connections.
func BenchmarkRoundTrip(b *testing.B) {
	at := time.Unix(1_770_000_000, 0)
	address, stop := start(b, &Server{Handle: func(_ context.Context, message []byte) []byte {
		m, err := hl7.Parse(message)
		if err != nil {
			return nil
		}
		answer, err := m.Acknowledge(hl7.Accepted, "A-1", at, nil).Emit()
		if err != nil {
			return nil
		}
		return answer
	}})
	c := &Client{Address: address, MaxIdle: 64}
	b.ReportAllocs()
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if answer, err := c.Exchange(context.Background(), []byte(oru), nil); err != nil || !bytes.Contains(answer, []byte("MSA|AA|C-1")) {
				b.Errorf("%q, %v", answer, err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "trips/s")
	c.Close()
	stop()
}
