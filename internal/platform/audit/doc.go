// Package audit records who read or changed whose data: a row for each access, with the
// person that it was about, the caller, the operation and its outcome.
//
// A change inserts its row in its own transaction (InTransactions), into the table
// audit_pending. A read queues its row, and the queue is written within a second
// (Log.Add). The writer moves both into blocks of the table audit_log, a chain for each
// team: the code of a block covers its rows and the code of the block before, keyed
// with a key that the root key gives. A person who can write to the database but has no
// root key cannot change, remove or add rows without a report of Verify. Only the rows
// of the last second are without a code.
//
//	entry.go   an access, and how the code of a request notes it
//	log.go     the queue, blocks and their codes
//	verify.go  checks the chain
//	list.go    reads and ends the retention
//
// Source: HIPAA, 45 CFR 164.312(b) and 164.316(b)(2)(i): six years.
package audit
