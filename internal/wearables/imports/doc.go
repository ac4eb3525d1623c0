// Package imports receives uploaded exports of health data and imports them in the
// background.
//
// An upload streams into the spool folder. It is on disk, with a row in the table imports
// and a job, before the caller has an answer. The job stores the data of the file. If the
// process is killed, the job starts again: data that is stored already changes nothing
// and causes no event.
//
//	imports.go      Create, Get, List, Cancel
//	spool.go        the folder of uploaded files
//	partial.go      uploads in parts, which can be resumed, their rows and chunks
//	ledger.go        the files in the ledger, and reprocessing them
//	kinds.go        the kinds of exports, and how they are recognised
//	run.go          the job
//	history.go        imports of a user's history
//	report.go       the data and the changes of an import
//	sql.go          rows
package imports
