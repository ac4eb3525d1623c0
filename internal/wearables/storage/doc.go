// Package storage has the tables of samples, summaries and streams. It reads them,
// and writes single rows for package ingest. Samples of a series are in sealed
// blocks (docs/sample-blocks.md). A summary is one sealed document.
//
//	series.go, block.go    series, their keys and their blocks; rows of a deleted user
//	read.go                samples of a user, in pages
//	duplicates.go          samples of one key in several series; repeated sessions
//	offsets.go             how the time zone offsets of samples were found
//	summary.go, notes.go   summaries and streams of workouts; the time series of texts
//	sleep.go               streams of sleeps
//	statistics.go          statistics of resources, and the progress of histories
//	deleted.go             deleting samples and summaries; the records of deletions
//	journal.go             what an import changes, so that it can be undone
//	copy.go                rows into another database
package storage
