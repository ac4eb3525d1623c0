// Package wearables defines what devices and apps measure: samples of time
// series, summaries of days and sessions, and the streams of workouts, in
// canonical units. Readers of files and of pushes produce these types; they hold
// no SQL.
//
//	types.go, batch.go           sources and samples; summaries, streams, batches and results
//	resources.go, extra.go       kinds of time series; the table is in resources/
//	documents.go, shapes.go      kinds of summaries, their fields and the shapes of those
//	reasons.go, bounds.go        why values are refused; when collection ends
//	fallback_zone.go             the time zone of values that state none
//	night.go                     fields of a sleep that follow from others
//	streams.go, stream_pack.go   the course of a workout, and its packed form
//	wire.go, plain.go, text.go, canonical.go    JSON of samples, sources and summaries
//	summary_id.go                the id of a summary
//
// Package ingest stores batches, package storage has the tables and reads them.
// Push parses request bodies, derive makes summaries of samples, merged makes
// one line of several sources.
package wearables
