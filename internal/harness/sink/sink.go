// Package sink is a webhook receiver for crash and bench runs. It checks every
// signature, remembers the messages, and fails as often as its configuration
// asks.
//
// Its judgement is its own. It computes signatures from the Standard Webhooks
// text and shares no code with the sender, so that a mistake there is not
// repeated here.
package sink

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Faults are the shares, 0 to 1, of events whose first delivery goes wrong. The
// receiver accepts later deliveries of the same event. So the end of a run need
// not wait for the long steps of the retry schedule.
type Faults struct {
	Unavailable float64 // answered 503
	Reset       float64 // read, then the connection is reset
	Hang        float64 // read, then no answer for HangFor
	HangFor     time.Duration
}

// Message holds the attempts received for one event id.
type Message struct {
	Digest   [sha256.Size]byte // of the body, the same for every delivery
	Seq      string            // x-event-seq, the event's number in the feed
	Tries    int               // deliveries that reached us
	Accepted int               // deliveries that we answered 2xx
	FirstAt  time.Time
}

// Sink receives on a loopback port of its own. Make it with Listen.
type Sink struct {
	faults   Faults
	server   *http.Server
	address  string
	closing  chan struct{}
	mu       sync.Mutex
	secret   []byte
	messages map[string]*Message
	problems []string
}

// Listen starts a receiver that accepts everything until SetSecret.
func Listen(faults Faults) (*Sink, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // lives as long as the run
	if err != nil {
		return nil, fmt.Errorf("sink: %w", err)
	}
	s := &Sink{faults: faults, address: listener.Addr().String(), closing: make(chan struct{}), messages: map[string]*Message{}}
	s.server = &http.Server{Handler: http.HandlerFunc(s.receive), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(listener) }() // ends with Close
	return s, nil
}

// URL returns the address for webhooks.
func (s *Sink) URL() string { return "http://" + s.address + "/hook" }

// SetSecret makes every later delivery prove itself with a whsec_ secret.
func (s *Sink) SetSecret(secret string) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return errors.New("sink: the secret is not whsec_ and base64")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secret = key
	return nil
}

// Close stops receiving.
func (s *Sink) Close() error {
	close(s.closing)
	return s.server.Close()
}

// Messages returns a copy of the received messages, by event id.
func (s *Sink) Messages() map[string]Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]Message, len(s.messages))
	for id, m := range s.messages {
		out[id] = *m
	}
	return out
}

// Problems lists deliveries that broke a promise: a wrong signature, a missing
// header, another body under a known id.
func (s *Sink) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.problems...)
}

type fault int

const (
	none fault = iota
	unavailable
	reset
	hang
)

func (s *Sink) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender was killed in mid-sentence
	}
	switch s.record(r.Header, body) {
	case unavailable:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case reset:
		drop(w)
		return
	case hang:
		s.wait(r.Context())
		drop(w) // returning would answer 200 to a sender that still waits
		return
	case none:
		w.WriteHeader(http.StatusNoContent)
	}
}

// record records a delivery and returns the fault to simulate.
func (s *Sink) record(header http.Header, body []byte) fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := header.Get("webhook-id")
	if problem := s.check(header, id, body); problem != "" {
		s.problems = append(s.problems, problem)
		return none
	}
	digest := sha256.Sum256(body)
	m, known := s.messages[id]
	if !known {
		m = &Message{Digest: digest, Seq: header.Get("x-event-seq"), FirstAt: time.Now()}
		s.messages[id] = m
	}
	if m.Digest != digest || m.Seq != header.Get("x-event-seq") {
		s.problems = append(s.problems, id+": a delivery with another body or number")
	}
	m.Tries++
	if !known {
		if f := s.draw(); f != none {
			return f
		}
	}
	m.Accepted++
	return none
}

func (s *Sink) draw() fault {
	switch x := rand.Float64(); {
	case x < s.faults.Unavailable:
		return unavailable
	case x < s.faults.Unavailable+s.faults.Reset:
		return reset
	case x < s.faults.Unavailable+s.faults.Reset+s.faults.Hang:
		return hang
	}
	return none
}

// check returns the fault of a delivery, or an empty text.
func (s *Sink) check(header http.Header, id string, body []byte) string {
	if id == "" {
		return "a delivery without webhook-id"
	}
	for _, name := range []string{"id", "timestamp", "signature"} {
		if header.Get("webhook-"+name) != header.Get("svix-"+name) {
			return id + ": webhook-" + name + " and svix-" + name + " differ"
		}
	}
	if s.secret == nil {
		return ""
	}
	mac := hmac.New(sha256.New, s.secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, header.Get("webhook-timestamp"), body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, given := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(given), []byte(want)) {
			return ""
		}
	}
	return id + ": no signature fits"
}

func (s *Sink) wait(ctx context.Context) {
	timer := time.NewTimer(s.faults.HangFor)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.closing:
	case <-ctx.Done():
	}
}

// drop resets the connection, as a crashing receiver would.
func drop(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // close with RST
	}
	_ = conn.Close()
}
