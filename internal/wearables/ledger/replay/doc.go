// Package replay reprocesses the payloads of the ledger with the current mapping, and
// changes only the data that differs.
//
// It reads all payloads of one user, in the order in which they were received, into a
// scratch database with the stored summaries. The result is the data that the current
// mapping would have stored. It is then stored as further batches: equal data changes
// nothing, other data is updated with events. So a value that later payloads revised does
// not pass through its older versions.
//
//	runs.go     a run: Create, Get, List
//	report.go   the changes of a run
//	job.go      the job, with a cursor over users
//	person.go   one user
//	order.go    the order of payloads
//	rules.go    the rule if the order is ambiguous
//	stored.go   the data of a user in a database
//	scratch.go  the temporary database, and the sink that fills it
//	apply.go    from pushed bodies to batches; from the scratch database to the store
//
// Data that the current mapping no longer produces stays. There is no event for its
// removal, and it may come from a payload that was removed.
package replay
