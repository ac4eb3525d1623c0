// Package continuous keeps the results of a team's stored queries up to date
// for every user whose data changes.
//
//	Create, List, Get, Update, Archive   the queries themselves
//	Changed     called in the transaction that changes a user's data
//	Reordered   called in the transaction that changes the team's order of sources
//	Job         brings one query up to date for one user
//	Result      the whole table of a user
//	History     the runs
//
// The order of reading:
//
//	definition.go  the stored queries, and their cache
//	staleness.go   marks a query stale for a user and schedules the job
//	backfill.go    runs a new query over existing data
//	gap.go         changes the minimum gap, and reschedules waiting runs
//	job.go         one run: begin, compute on a snapshot, store
//	results.go     stored result pages, changed rows and their events
//	history.go     the list of runs
//
// # Transactions
//
// The transaction that stores data also marks the query stale for the user and
// schedules the job, so a crash loses neither. A run takes over the stale time
// and reads one snapshot. One commit then stores the result, the events about
// new and changed rows and the line in the history, and ends the stale time. A
// run that fails leaves the stale time to the next run. A change during a run
// adds stale time for the next run only. So each run covers only new data, even
// when data arrives all the time.
//
// Reference 7.12, 8.3, 9.6.
package continuous
