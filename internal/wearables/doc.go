// Package wearables defines what devices and apps measure: samples of time
// series, summaries of days and sessions, and the streams of workouts, in
// canonical units. Readers of files and of pushes produce these types; they hold
// no SQL.
//
//	samples.go, batch.go  sources and samples; summaries and their ids, batches and results
//	resources.go          kinds of time series and their words; the table is in resources/
//	documents.go          kinds of summaries and their fields, and how documents are stored
//	shapes.go             the shapes of those fields
//	ingestion.go          why values are refused; when collection ends; fallback time zones
//	night.go              fields of a sleep that follow from others
//	streams.go            the course of a workout, and its packed form
//	wire.go, text.go      JSON of samples, sources and summaries
//
// Package ingest stores batches, package storage has the tables and reads them.
// Push parses request bodies, derive makes summaries of samples, merged makes
// one line of several sources.
package wearables
