package cli

import (
	"errors"
	"net"
	"syscall"
)

// notify tells systemd about this service (Type=notify) through the socket that it
// names. Without one nothing happens. It ignores failures: systemd then times out and
// reports them.
func (s *shell) notify(state string) {
	path, ok := s.lookupEnv("NOTIFY_SOCKET")
	if !ok || path == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(state))
}

func addressInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
