// Package mllp carries messages over TCP in the minimal lower layer protocol:
// a start byte, a message, two end bytes, and an answer in the same frame
// before the next message.
//
// It does not read messages. The Server passes each to a function and sends
// the function's answer; the Client sends one and returns its answer. Both
// bound what a peer can cost: bytes of a message, seconds of silence,
// connections.
//
// frame.go has the wire format, server.go and client.go the two ends.
package mllp
