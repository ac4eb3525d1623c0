// Package sandboxlab is the built-in lab network: carriers, phlebotomists,
// service centers and laboratories that behave like real ones, for the orders
// of sandbox teams. Orders of production teams never get here.
//
// The future of an order is stored as steps, each due at a time of the team's
// own clock, package labclock. Advancing it runs every step that is due by
// then, in order; nothing happens on its own. While a step runs, the clock
// shows its time, so that everything that follows from it has that time. Every
// value follows from the order's id, so an order always has the same course.
//
// A lab's report is written as the bytes of an HL7 message and read by package
// hl7v2, like a real lab's. Reports of carriers and phlebotomists are not
// encoded. Both go through the Inbox.
//
// # Reading order
//
//	lab.go        taking orders: networks.Network and networks.Shipper
//	steps.go      the steps, and the course of an order
//	script.go     courses with a fault, on request
//	clock.go      the clock, and running the due steps
//	simulate.go   the shortest path to a status: POST /v3/order/{order_id}/test
//	held.go       orders of deleted users wait
//	perform.go    running a step: sending its report to the Inbox
//	values.go     the rows of a report
//	quantities.go numbers within the catalogue's ranges that agree
//	relations.go  results that are calculated from others
//	message.go    writing them as a lab does, with its PDF
//	booking.go    appointments: networks.Booker
//
// Reference 1.15.
package sandboxlab
