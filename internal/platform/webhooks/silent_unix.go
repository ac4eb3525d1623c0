//go:build unix

package webhooks

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// silent says that a connection is open and that nothing has come on it.
func silent(c net.Conn) bool {
	s, ok := c.(syscall.Conn)
	if !ok {
		return true // not of the system's
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	var one [1]byte
	var came error
	err = raw.Control(func(fd uintptr) {
		_, _, came = unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	})
	return err == nil && (errors.Is(came, unix.EAGAIN) || errors.Is(came, unix.EWOULDBLOCK))
}
