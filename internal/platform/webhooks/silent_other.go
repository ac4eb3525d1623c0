//go:build !unix

package webhooks

import "net"

// silent cannot be told here: that a connection was closed is found out by using it.
func silent(net.Conn) bool { return true }
