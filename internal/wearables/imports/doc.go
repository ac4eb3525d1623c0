// Package imports takes uploaded exports of health data and works through them
// in the background.
//
// An upload streams into the spool folder and is on disk, with a row in the
// table imports and a job, before the caller has an answer. The job reads the
// file into the store. Killed at any moment, it starts again: what is stored
// already changes nothing and announces nothing.
//
//	imports.go      what an import is: Create, Get, List, Cancel
//	spool.go        the folder of uploaded files
//	partial.go      uploads in parts, which go on after the line broke
//	partial_sql.go  their rows, and what arrived
//	keep.go         the files in the ledger, and reading them again
//	kinds.go        which exports there are and how they are told apart
//	run.go          the job
//	past.go         imports that bring the past of a user's data
//	report.go       what an import found and changed
//	sql.go          rows
package imports
