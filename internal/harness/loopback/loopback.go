// Package loopback finds free addresses on the loopback interface.
package loopback

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// The ports are below those that the system gives to listeners on port 0 and to
// connections. So no other test takes the port before its user listens.
const (
	firstPort = 10_000
	lastPort  = 30_000
	attempts  = 1000
)

// returnedAddresses has the addresses that FreeAddress returned. Some have no listener yet.
var returnedAddresses sync.Map

// FreeAddress returns a host:port on which nothing listens. It returns each address once.
func FreeAddress() (string, error) {
	err := errors.New("all ports were returned before")
	for range attempts {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(lastPort-firstPort))
		if _, before := returnedAddresses.LoadOrStore(address, true); before {
			continue
		}
		var l net.Listener
		if l, err = net.Listen("tcp", address); err == nil { //nolint:noctx // closed at once
			return address, l.Close()
		}
	}
	return "", fmt.Errorf("loopback: no free port: %w", err)
}
