package hl7v2

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

// How often an address that is in use is tried again, how long a node that is
// alone does so before it gives up (others become known within their lease, and
// a process that is being replaced needs a moment to end), and how often the
// log says that a node stands by.
const (
	listenAgain   = time.Second
	listenAlone   = 30 * time.Second
	sayStandingBy = time.Minute
)

// listen takes the address of the settings. Of several nodes on one machine
// one gets it; the others stand by, and one of them takes over within a second
// of the first one's end. To hold an address that a stranger has would be to
// lose results in silence, so a node that is alone says so and fails.
func (n *Network) listen(ctx context.Context) (net.Listener, error) {
	var config net.ListenConfig
	var alone, silent time.Duration
	for {
		l, err := config.Listen(ctx, "tcp", n.settings.Listen)
		switch {
		case err == nil:
			return l, nil
		case !errors.Is(err, syscall.EADDRINUSE):
			return nil, fmt.Errorf("hl7v2: listening: %w", err)
		case n.Peers != nil && n.Peers() > 1:
			alone = 0
		case alone >= listenAlone:
			return nil, fmt.Errorf("hl7v2: listening: %w, and not by another node of this service", err)
		default:
			alone += listenAgain
		}
		if silent <= 0 {
			n.log.Warn("the address for HL7 messages is in use; standing by to take it over", "listen", n.settings.Listen)
			silent = sayStandingBy
		}
		silent -= listenAgain
		select {
		case <-time.After(listenAgain):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
