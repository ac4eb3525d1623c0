package store_test

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"hale/internal/platform/store"
)

// A connection ends when the network loses all packets for 20 seconds. A test cannot lose
// packets on loopback, so it reads the options of the socket.
func TestLostPacketsEndAConnection(t *testing.T) {
	server, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := store.DialPostgres(t.Context(), server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	tcp, ok := client.(*net.TCPConn)
	if !ok {
		t.Fatalf("%T", client)
	}
	socket, err := tcp.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = socket.Control(func(fd uintptr) {
		for _, option := range []struct{ level, name, want int }{
			{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
			{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 5},
			{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 5},
			{unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3},
			{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 20_000},
		} {
			if got, err := unix.GetsockoptInt(int(fd), option.level, option.name); err != nil || got != option.want {
				t.Errorf("option %d is %d, want %d: %v", option.name, got, option.want, err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
