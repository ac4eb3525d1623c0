// Package appointments arranges visits: of a phlebotomist at the patient's
// home, or of the patient at a service center of a lab.
//
// Free times come from a network (networks.Booker). Each is handed out under a
// booking key, which is sealed, holds all that the booking needs, expires and
// works once. Booking it makes an appointment, which goes its way by the table
// in status.go and takes its order along (orders.Advance), in one transaction
// with its history, its event and what the patient is told.
//
// # Asking the network
//
// No transaction is open while a network is asked. What is to be asked stands
// in the appointment (a Call) before, and its answer is written after; a job
// carries on where a process died. Networks book a slot once for an order
// however often they are asked, so asking again is always safe:
//
//	write the call  →  ask  →  write the answer
//	      └── killed here: the job asks again and writes the answer
//
// An appointment that is being asked for has no status, is shown to nobody and
// holds its order's place. When the network does not answer in time nobody
// knows whether it booked: the caller is refused, and the job asks until it
// knows and gives the slot back. Slots are given back the same way when an
// appointment is cancelled or moved.
//
// # Reading order
//
//	status.go     the words and the moves
//	providers.go, reasons.go, settings.go   facts and switches
//	appointment.go, rows.go                 the types, and how they are stored
//	advance.go    the one way to move an appointment
//	document.go   the wire shape, which events carry too
//	tickets.go    booking keys
//	slots.go, centers.go, stale.go          free times
//	service.go, nobody.go                   the networks that can be asked
//	rules.go, book.go, change.go, resume.go what callers do
//	carry.go, settle.go                     asking the network, and the job that never forgets
//	visits.go, follow.go                    what networks say, and what happens to orders
package appointments
