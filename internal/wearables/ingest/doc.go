// Package ingest stores batches of wearable data and emits the events about what
// they change. It checks values, connects the user to the provider, and commits
// all of that in one transaction. A later version of a value replaces an earlier
// one; the same value again changes nothing.
//
//	ingest.go, job.go               Ingester: sort a batch, plan on a snapshot, commit; the result
//	push_batch.go                   pushes of many phones in one transaction
//	check.go                        which values are refused, and why
//	series.go                       samples into blocks, and their events
//	summary.go, summary_fields.go   summaries, version by version
//	stream.go                       streams of workouts
//	fallback.go                     offsets from the user's fallback time zone
//	history.go, statistics.go       the end of a connection's history; statistics of resources
//	preview.go                      what storing a batch would change
//
// Above it are the API, imports and jobs. Below it, package storage has the tables
// and package connections the links between users and providers.
package ingest
