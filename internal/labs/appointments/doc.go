// Package appointments books visits: of a phlebotomist at the patient's home,
// or of the patient at a lab's service center.
//
// Free slots come from a network (networks.Booker). Each slot is returned with
// a booking key. The key is sealed, holds all that the booking needs, expires
// and works once. Booking it creates an appointment. The table in types.go has
// the moves of an appointment. A move changes the order as well
// (orders.Advance), in one transaction with the history, the event and the
// message to the patient.
//
// # Asking the network
//
// No transaction is open during a request to a network. The request (a Call)
// is stored in the appointment first, and the answer is stored after it. If
// the process dies in between, a job continues. A network books a slot once
// for an order, even if it is asked again, so retrying is always safe:
//
//	store the call  →  ask  →  store the answer
//	      └── killed here: the job asks again and stores the answer
//
// An appointment without an answer has no status, is not shown, and blocks
// other appointments of its order. When the network does not answer in time,
// the booking may or may not exist. The caller gets an error. The job asks
// until it knows the outcome, and then releases the slot. Slots are released
// the same way when an appointment is cancelled or rescheduled.
//
// # Reading order
//
//	types.go      the types, statuses and moves; providers, reasons, settings
//	rows.go       storing them
//	advance.go    the only way to move an appointment
//	document.go   the wire shape, which events carry too
//	keys.go       booking keys
//	slots.go, sitecache.go   free slots
//	service.go    the networks
//	book.go       booking, rescheduling, cancelling
//	answer.go, booking_jobs.go  storing a network's answer; the job that retries
//	follow.go     reports of networks, and changes of orders
package appointments
