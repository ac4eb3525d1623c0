package hl7v2

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"hale/internal/labs/hl7/mllp"
)

// occupyAddress listens on an address until release.
func occupyAddress(t *testing.T) (address string, release func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	release = func() { _ = l.Close() }
	t.Cleanup(release)
	return l.Addr().String(), release
}

// Of two nodes with the same settings on one machine, the second takes over
// after the first one ends.
func TestTheSecondNodeTakesOver(t *testing.T) {
	address, release := occupyAddress(t)
	release() // so that the port is free, and most likely stays so
	type node struct {
		in   *inbox
		stop context.CancelFunc
		done chan error
	}
	start := func() node {
		n, _ := receiver(t, Settings{Listen: address})
		n.Peers, n.log = func() int { return 2 }, slog.New(slog.DiscardHandler)
		ctx, stop := context.WithCancel(context.Background())
		one := node{&inbox{}, stop, make(chan error, 1)}
		go func() { one.done <- n.Run(ctx, one.in) }()
		return one
	}
	send := func() {
		t.Helper()
		for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			client := mllp.Client{Address: address}
			_, err := client.Exchange(t.Context(), []byte(result), func([]byte) bool { return true })
			client.Close()
			if err == nil {
				return
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
	}
	first := start()
	send()
	second := start()
	send()
	if len(first.in.messages) != 1 || len(second.in.messages) != 0 {
		t.Errorf("%d and %d messages while both live", len(first.in.messages), len(second.in.messages))
	}
	first.stop()
	if err := <-first.done; err != nil {
		t.Error(err)
	}
	send()
	second.stop()
	if err := <-second.done; err != nil {
		t.Error(err)
	}
	if len(second.in.messages) != 1 {
		t.Error("the second node did not take over")
	}
}

// A node without peers whose address is in use fails, with the reason.
func TestListenAddressInUse(t *testing.T) {
	address, _ := occupyAddress(t)
	synctest.Test(t, func(t *testing.T) {
		n, log := receiver(t, Settings{Listen: address})
		began := time.Now()
		n.Peers = func() int {
			if time.Since(began) < 5*time.Minute {
				return 2
			}
			return 1
		}
		err := n.Run(t.Context(), &inbox{})
		if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), "not by another node") {
			t.Errorf("ended with %v", err)
		}
		if waited := time.Since(began); waited < 5*time.Minute+listenTimeout || waited > 6*time.Minute {
			t.Errorf("after %s", waited)
		}
		if said := strings.Count(log.String(), "standing by"); said != 6 {
			t.Errorf("said %d times", said)
		}
	})
}
