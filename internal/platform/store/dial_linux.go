package store

import (
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitLoss sets TCP_USER_TIMEOUT: a connection fails when the other side confirms no data
// for lossLimit.
func limitLoss(network, _ string, socket syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var failed error
	err := socket.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(lossLimit.Milliseconds()))
	})
	return errors.Join(err, failed)
}
