// Package storage has the tables of samples, summaries and streams: it reads
// them, and writes single rows for package ingest. Samples of a series lie in
// sealed blocks (docs/sample-blocks.md), a summary is one sealed document.
//
//	series.go, block.go          series, their keys and their blocks
//	read.go, extent.go, said.go  samples of a user, in pages; what a series holds; samples that came with words later
//	offsets_found.go             how the time zone offsets of samples were found
//	summary_read.go, summary_write.go, overlap.go    summaries
//	stream_read.go, sleep.go, notes.go    streams of workouts and of sleeps; the time series of texts
//	introspect.go                statistics of resources, and the progress of histories
//	copy.go, erase.go            rows into another database; rows of a deleted user
package storage
