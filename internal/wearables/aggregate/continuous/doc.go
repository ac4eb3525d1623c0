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
//	definition.go, sql.go, known.go   queries, and what a process remembers of them
//	changed.go   what a change of data makes stale, and the job that it asks for
//	backfill.go  a new query, and the data that was there before it
//	gap.go       a new gap, and the runs that wait for the end of the old one
//	job.go       one run: begin, compute on a snapshot, store
//	compute.go   the rows of the stale time, stretch by stretch
//	pages.go     results at rest
//	delta.go     what is new, and its events
//	history.go   runs
//
// # What commits together
//
// The transaction that stores data also marks the query stale for the user and
// asks for the job; a process that dies the next moment loses neither. A run
// takes the stale time over and reads one snapshot. What it found, the events
// about the rows that are new or changed, and its line in the history are one
// commit, which ends that time; a run that fails leaves it to the next one. What
// a change of data makes stale meanwhile is the next run's, and no more than
// that: however steadily data comes in, the work shrinks to what is new.
//
// Reference 7.12, 8.3, 9.6.
package continuous
