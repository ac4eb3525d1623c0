// Package mllp carries messages over TCP in the minimal lower layer protocol:
// a start byte, a message, two end bytes, and an answer in the same frame
// before the next message.
//
// It knows nothing of what a message says. The Server hands each to a function
// and sends what that returns; the Client sends one and returns its answer.
// Both bound what a peer can cost: bytes of a message, seconds of silence,
// connections.
//
// frame.go is the wire, server.go and client.go its two ends.
package mllp
