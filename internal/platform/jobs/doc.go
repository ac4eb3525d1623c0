// Package jobs runs work in the background, durably: a job is a row, written
// in the transaction of the change that asks for it, and it is there until it
// has succeeded, failed for good or been canceled.
//
//	node.go    a process's lease on the rows that it has claimed
//	batch.go   results recorded in groups
//	kinds.go   Define, Named: a kind of job, its function and its limits
//	enqueue.go asking for a job
//	runner.go, run.go   claiming what is due, running it, recording how it went
//	sweep.go   what dead nodes left, and what was claimed without an answer
//	waiting.go what is due and has not begun, for whoever watches
//	clock.go   a warning when the clocks differ
//	claim.go   the SQL of that
//	list.go    what is there to see
//
// # Leases
//
// Claiming writes the node's id into the row, once. The lease itself is one
// row of the table nodes that the process keeps renewing: when a process dies,
// its row lapses, the others remove it, and everything it had claimed is free
// again at once. They know when that is and look at that moment. The clock of the
// database alone says when a lease ends. Work
// always looks for due rows that nobody holds, and never remembers how far it
// got: a position in the order of due times would step over rows that become
// due behind it.
//
// Webhook deliveries are claimed with the same lease.
package jobs
