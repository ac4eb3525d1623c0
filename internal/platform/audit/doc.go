// Package audit records who read or changed whose data. A row for each access has the
// person whose data it is, the caller, the operation and its outcome.
//
// A change inserts its row in its own transaction (InTransactions), into the table
// audit_pending. A read queues its row, and the queue is written within a second
// (Log.Add). The writer moves both into blocks of the table audit_log, a chain for each
// team. The code of a block covers its rows and the code of the block before. Its key
// comes from the root key. Rows of audit_pending have codes too, and a list has the first
// and the last block of each chain. A person who can write to the database but has no
// root key cannot change, remove or add rows without a report of Verify. Two things are
// not found: the removal of rows that still wait, and an older copy of the whole log.
//
//	entry.go   an access, and how the code of a request notes it
//	log.go     the queue, blocks and their codes
//	chains.go  the list of chains
//	verify.go  checks the chain
//	list.go    reads and ends the retention
//
// Source: HIPAA, 45 CFR 164.312(b) and 164.316(b)(2)(i): six years.
package audit
