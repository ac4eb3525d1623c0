// Package ingest stores batches of wearable data and emits the events about
// what they change. It checks values, connects the user to the provider, and
// commits all of it in one transaction.
//
// A later version of a value replaces an earlier one; storing the same value
// again changes nothing.
//
//	ingest.go, intake.go, outcome.go      Ingester: check and sort a batch, plan on a snapshot, commit; the result
//	check.go, believable.go, contradict.go    which values are refused
//	series_plan.go, series_cache.go, announce.go    samples into blocks, and their events
//	summaries.go, overlay.go, height.go, summary_day.go    summaries, version by version
//	stream_plan.go               streams of workouts
//	fallback.go                  offsets from the user's fallback time zone
//	crowd.go, crowd_store.go     pushes of many phones in one transaction
//	history.go, history_days.go  the end of a connection's history
//	introspect_write.go          statistics of resources
//	preview.go                   what storing a batch would change
//	changes.go, both.go          listeners
package ingest
