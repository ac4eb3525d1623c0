package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// inbox is a webhook receiver with Go's net/http on loopback. It reads the body, records
// the time of arrival, and answers 204.
type inbox struct {
	server  *http.Server
	address string
	closing chan struct{}
	bytes   atomic.Int64
	posts   atomic.Int64

	mu   sync.Mutex
	came []time.Time // by the slot of the push; zero before the arrival
}

func openInbox() (*inbox, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // lives as long as the measure
	if err != nil {
		return nil, err
	}
	in := &inbox{address: listener.Addr().String(), closing: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /hook", in.hook)
	mux.HandleFunc("POST /bare", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the sender checks the answer
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /hang", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-in.closing:
		case <-r.Context().Done():
		}
	})
	in.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = in.server.Serve(listener) }() // ends with close
	return in, nil
}

func (in *inbox) url(path string) string { return "http://" + in.address + path }

func (in *inbox) close() {
	close(in.closing)
	_ = in.server.Close() // all senders have ended
}

func (in *inbox) hook(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	now := time.Now()
	in.bytes.Add(int64(len(body)))
	in.posts.Add(1)
	if slot, ok := slotOf(body); ok {
		in.arrived(slot, now)
	}
	w.WriteHeader(http.StatusNoContent)
}

// slotOf returns the number of the push that caused an event. It reads the number from
// the time of the event's sample.
func slotOf(body []byte) (int64, bool) {
	_, rest, ok := bytes.Cut(body, []byte(`"timestamp":"`))
	if !ok || !bytes.Contains(body, []byte(`"daily.data.heartrate.`)) {
		return 0, false
	}
	text, _, _ := bytes.Cut(rest, []byte(`"`))
	at, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return 0, false
	}
	slot := int64(at.Sub(firstSecond) / time.Second)
	return slot, slot >= 0
}

func (in *inbox) arrived(slot int64, now time.Time) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if missing := int(slot) + 1 - len(in.came); missing > 0 {
		in.came = append(in.came, make([]time.Time, missing)...)
	}
	if in.came[slot].IsZero() {
		in.came[slot] = now
	}
}

// wait waits for the events of the slots from first up to, but not including,
// end. It waits two minutes at most and returns the time at which the last
// event arrived.
func (in *inbox) wait(ctx context.Context, first, end int64) (last time.Time, err error) {
	deadline := time.Now().Add(2 * time.Minute)
	for {
		missing := 0
		last = time.Time{}
		in.mu.Lock()
		for slot := first; slot < end; slot++ {
			if slot >= int64(len(in.came)) || in.came[slot].IsZero() {
				missing++
			} else if in.came[slot].After(last) {
				last = in.came[slot]
			}
		}
		in.mu.Unlock()
		if missing == 0 {
			return last, nil
		}
		if time.Now().After(deadline) {
			return last, fmt.Errorf("%d of %d events did not come within two minutes", missing, end-first)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return last, ctx.Err()
		}
	}
}

// arrivals compares the times of events with the times at which their pushes were due and
// answered. An event that arrives before the answer counts as 0.
func (in *inbox) arrivals(first, end int64, due, answered []time.Time) arrivals {
	in.mu.Lock()
	defer in.mu.Unlock()
	var a arrivals
	for slot := first; slot < end; slot++ {
		came := in.came[slot]
		a.sinceAnswer = append(a.sinceAnswer, max(0, came.Sub(answered[slot-first])))
		a.sinceDue = append(a.sinceDue, came.Sub(due[slot-first]))
	}
	slices.Sort(a.sinceAnswer)
	slices.Sort(a.sinceDue)
	return a
}

// meanSize returns the mean size of the received events, in bytes.
func (in *inbox) meanSize() int {
	return int(in.bytes.Load() / max(1, in.posts.Load()))
}
