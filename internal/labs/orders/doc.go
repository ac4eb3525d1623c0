// Package orders is lab ordering: what is ordered for whom, and what becomes
// of it.
//
// An order is of one lab test and goes one course (a method of collection). It
// belongs to a transaction, which the first order makes and which a redraw or
// a recreation joins. Where it is, is one of the statuses; which may follow
// which, and who may cause it, is a table, and [Advance] is the only function
// that moves an order: it changes the row, adds to the history, computes the
// transaction anew, announces the event and tells the listeners, all in the
// caller's transaction. What comes late or twice is recorded and moves nothing.
//
// Everything about a person is sealed with the user's key.
//
// # Reading order
//
//	table.go      the statuses and the moves between them; printed as docs/order-states.md
//	order.go      the types
//	rows.go       reading and writing them; load.go many at once
//	advance.go    the one way to move an order
//	listen.go     how other domains follow along
//	transactions.go, redraw.go   several orders for one need
//	document.go   the wire shape; document_values.go has its dates and nulls, document_of.go writes it
//	payload.go    what it needs beside the order's row, and the events that carry it
//	request.go, check*.go, create.go, kits.go, import.go   coming into being
//	place.go, fornetwork.go   handing orders to the lab's network, in the background
//	notice.go     whether a patient must be told that an insurance may not pay
//	collection.go when the sample was taken, and by when results are expected
//	calls.go      cancelling, scheduling, and what else a team may ask for
//	list.go       filters of lists; index.go answers them from memory, changes.go keeps it current
//	names.go      what searches for people look at
//	erasure.go    what deleting a user removes
package orders
