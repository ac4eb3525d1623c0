// Package storage has the tables of samples, summaries and streams. It reads them,
// and writes single rows for package ingest. Samples of a series are in sealed
// blocks (docs/sample-blocks.md). A summary is one sealed document.
//
//	series.go, block.go    series, their keys and their blocks
//	read.go                samples of a user, in pages
//	duplicates.go          samples of one key in several series
//	offsets.go             how the time zone offsets of samples were found
//	summary.go, notes.go   summaries; the time series of texts
//	stream.go, sleep.go    streams of workouts and of sleeps
//	statistics.go          statistics of resources, and the progress of histories
//	deleted.go             deleting samples and summaries; what is remembered of them
//	journal.go             what an import changes, so that it can be undone
//	copy.go, erase.go      rows into another database; rows of a deleted user
package storage
