// Package jobs runs durable background work. A job is a row, written in the transaction
// of the change that needs it. It exists until it has succeeded, failed or been
// canceled.
//
//	kinds.go   a kind of job: its function and its limits
//	enqueue.go enqueueing and canceling jobs
//	runner.go  claiming due jobs, recording their outcomes, jobs of dead nodes
//	run.go     one attempt of a job
//	claim.go   the SQL of the runner
//	sweep.go   jobs of dead nodes, and strays
//	waiting.go counts of waiting jobs
//	clock.go   a warning when clocks differ
//	list.go    jobs for callers of the API
//	node.go    the lease of a process on the rows that it has claimed
//	batch.go   recording results in groups
//
// # Leases
//
// Claiming writes the id of the node into the row. The lease is one row of the table
// nodes, which the process renews. When a process dies, its lease ends, the other nodes
// remove its row, and all its claims are free at once. The other nodes know this time
// and look for free rows then. Only the clock of the database decides when a lease ends.
//
// A worker always looks for due rows that no node holds, and never stores a position. A
// position in the order of due times would skip rows that become due behind it.
//
// Webhook deliveries use the same lease.
package jobs
