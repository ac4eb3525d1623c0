// Package replay reads the ledger again with today's mapping and changes what
// comes out differently, and nothing else.
//
// One user at a time: all payloads are read, in the order in which they came,
// into a scratch database that nobody sees, where the stored summaries lie
// already. What stands there in the end is what the store would hold had today's
// mapping been there from the start.
// The store then takes it as one batch more: what is equal stays silent, what
// differs is updated and announced. So a value that later payloads revised
// does not flicker through its older versions.
//
//	runs.go     a run: Create, Get, List
//	report.go   what it changed, or would
//	job.go      the job: user after user, with a cursor
//	person.go   one user
//	order.go    in which order payloads are read, and which
//	rules.go    what counts of one where the order does not tell
//	shelf.go    what lies in a database
//	scratch.go  the database that is thrown away
//	recorder.go what reading brought, by what it is about
//	bodies.go   from pushed bodies to batches
//	apply.go    from the scratch database to the store
//
// What today's mapping no longer makes is not removed: the service has no
// event that says so, and a payload that was forgotten may have told it.
package replay
