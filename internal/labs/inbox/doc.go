// Package inbox stores the messages of lab networks and applies their reports
// to orders.
//
// A message is stored whole before it is acknowledged. A message that arrives twice is
// stored once. Each report of a message is handled in a queue. Reports about one order
// run in the order of their arrival. Reports about different orders run at the same
// time.
//
// A report names its order by our order number or by the sample id. It must
// come through the order's network, from the order's laboratory, and must name
// the order's patient (package identity). It moves the order with orders.Advance, which
// ignores late reports. Its results and visits go to the packages that keep
// them, in the same transaction. Results that match no order go to the queue
// of unmatched results.
//
// Reading order:
//
//	inbox.go      storing messages
//	process.go    handling reports, and the owner of a report
//	match.go      finding the order
//	interpret.go  the meaning of a report for its order
//	apply.go      changing the order
package inbox
