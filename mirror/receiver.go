package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// receiver receives webhooks into a replica. It behaves badly: it loses, doubles and
// delays some, and is away for moments.
type receiver struct {
	replica *replica
	address string
	server  *http.Server
	fresh   func() string // reads the current secret

	mu       sync.Mutex
	secrets  map[string]bool
	away     bool
	received int
	problems []string
}

func listen(into *replica, fresh func() string) (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // lives as long as the run
	if err != nil {
		return nil, err
	}
	r := &receiver{replica: into, address: listener.Addr().String(), fresh: fresh, secrets: map[string]bool{}}
	r.server = &http.Server{Handler: http.HandlerFunc(r.receive), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = r.server.Serve(listener) }() // ends with Close
	return r, nil
}

func (r *receiver) setAway(away bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = away
}

func (r *receiver) receive(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	seq, err := strconv.ParseInt(req.Header.Get("X-Event-Seq"), 10, 64)
	var envelope object
	if err != nil || decode(body, &envelope) != nil {
		r.complain("a webhook without a number or a body")
		return
	}
	r.mu.Lock()
	away := r.away
	r.received++
	r.mu.Unlock()
	x := rand.Float64()
	if away || x < .02 {
		w.WriteHeader(http.StatusServiceUnavailable) // it comes later, after newer ones
		return
	}
	if !r.verify(req.Header, body) {
		r.complain(fmt.Sprintf("webhook %d: no signature fits", seq))
	}
	w.WriteHeader(http.StatusNoContent)
	if x < .04 {
		return // lost after the answer
	}
	r.replica.take(seq, envelope)
	if x < .06 {
		r.replica.take(seq, envelope)
	}
}

func (r *receiver) complain(problem string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, problem)
}

// verify checks the signature. It reads the secret again if no known one fits.
func (r *receiver) verify(header http.Header, body []byte) bool {
	r.mu.Lock()
	secrets := make([]string, 0, len(r.secrets))
	for s := range r.secrets {
		secrets = append(secrets, s)
	}
	r.mu.Unlock()
	if isSigned(secrets, header, body) {
		return true
	}
	s := r.fresh()
	r.mu.Lock()
	r.secrets[s] = true
	r.mu.Unlock()
	return isSigned([]string{s}, header, body)
}

func isSigned(secrets []string, header http.Header, body []byte) bool {
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			continue
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", header.Get("webhook-id"), header.Get("webhook-timestamp"), body)
		want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for _, given := range strings.Fields(header.Get("webhook-signature")) {
			if hmac.Equal([]byte(given), []byte(want)) {
				return true
			}
		}
	}
	return false
}
