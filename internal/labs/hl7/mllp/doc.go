// Package mllp carries messages over TCP in the minimal lower layer protocol. A
// message has a start byte before it and two end bytes after it. The answer
// has a frame of the same form, and comes before the next message.
//
// It does not read messages. The Server passes each to a function and sends
// the function's answer; the Client sends one and returns its answer. Both
// bound what a peer can cost: bytes of a message, seconds of silence,
// connections.
//
// frame.go has the wire format, server.go and client.go the two ends.
package mllp
