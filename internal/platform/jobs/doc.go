// Package jobs runs durable background work. A job is a row, written in the transaction
// of the change that needs it. It exists until it has succeeded, failed or been
// canceled.
//
//	kinds.go   kinds of jobs: function and limits
//	jobs.go    jobs for their users: enqueue, cancel, read, list
//	runner.go  claiming due jobs, recording outcomes, sweeping, counting waiting jobs
//	run.go     one attempt of a job
//	claim.go   the SQL of the runner
//	node.go    the lease of a process on its claimed rows, and the check of its clock
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
