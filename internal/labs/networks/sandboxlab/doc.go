// Package sandboxlab is the lab network that is built in: carriers,
// phlebotomists, service centers and laboratories that behave like the real
// ones, for the orders of sandbox teams. Orders of production teams never get
// here.
//
// What it is going to do with an order is written down as steps, each with the
// time at which it is due by the team's own clock. That clock is the real one
// put forward: turning it makes everything happen that is due by then, in
// order, and nothing happens by itself. Everything is a function of the order's
// id, so the same order fares the same each time.
//
// What a lab says leaves here as the bytes of an HL7 message and comes in again
// through the reader of package hl7v2, the way a real lab's does; what carriers
// and phlebotomists say is a report as it is. Both go through the Inbox.
//
// # Reading order
//
//	lab.go        taking orders: networks.Network and networks.Shipper
//	step.go       what can happen
//	course.go     what happens to an order, and when
//	script.go     what can go wrong, on demand
//	clock.go      the clock, and doing what is due
//	simulate.go   the shortest way to a status: POST /v3/order/{order_id}/test
//	perform.go    saying it to the Inbox
//	values.go     inventing results from the catalogue's ranges
//	message.go, pdf.go   writing them as a lab does
//	slots.go, booking.go   appointments: networks.Booker
//
// Reference 1.15.
package sandboxlab
