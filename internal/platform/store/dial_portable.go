//go:build !linux

package store

import "syscall"

// limitLoss does nothing, because other systems have no TCP_USER_TIMEOUT. They notice lost
// packets with keep-alive probes, and after a time of their own for unconfirmed data.
func limitLoss(string, string, syscall.RawConn) error { return nil }
