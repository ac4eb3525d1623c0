// Package wearables stores what devices and apps measured: samples of time
// series, summaries of days and sessions, and the streams of workouts.
//
// A value is told apart from others by what it is about, and a later version
// replaces an earlier one. Storing tells what is new, what changed and what was
// there already; the first two become events in the same transaction.
//
// The order of reading:
//
//	types.go, batch.go   samples, summaries, streams, and a batch of them
//	resources.go         every kind of time series; the table is in resources/
//	extra.go, said.go    words that some of them have, and what came without
//	documents.go         every kind of summary, in one table
//	ingest.go, outcome.go                 Ingester: check, plan on a snapshot, commit; what became of it
//	crowd.go, crowd_store.go              pushes of many phones in one transaction
//	preview.go           what storing a batch would change
//	check.go, intake.go, order.go         which values are believed, and how they are sorted
//	shapes.go, believable.go              the same of what is inside a summary
//	bounds.go, offsets.go, offsets_found.go    when collection ends; the fallback time zone
//	series.go, samples.go, announce.go    samples into sealed blocks, and events
//	summaries.go, merge.go, height.go     documents, version by version
//	summary_day.go, night.go, contradict.go    the day of a session; what a sleep leaves out; what none may say
//	notes.go             the one time series of texts
//	streams.go, stream_pack.go, stream_store.go    the course of a workout
//	history.go, history_days.go           when a connection's past has arrived
//	changes.go, both.go  telling a listener what changed, in the same transaction
//	introspect_write.go, introspect.go    what was heard of each resource, and how far its past is
//	read.go, extent.go, summary_read.go, sleep.go    reading it back
//	wire.go, plain.go, text.go, clock.go    JSON of samples and sources, for events and reads alike
//	copy.go              summaries as they are, into another database
//	erase.go             what deleting a user removes
//
// Below it, blocks packs samples into a byte or two each, push reads what
// phones send, merged makes one line of what several sources measured, and
// derive makes summaries out of samples.
//
// It knows nothing of providers' formats: readers of files and of pushes bring
// their data in the types of this package, in canonical units.
package wearables
