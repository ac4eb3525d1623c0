// Package deletion deletes wearable data of a user: samples, summaries and streams. It
// deletes what a filter selects, what an import stored, and the records that a phone or a
// provider reports as deleted.
//
//	filter.go   what to delete
//	deletion.go a deletion, its report and its row
//	step.go     a part of a deletion, in one transaction
//	undo.go     undoing an import
//	former.go   the versions that come back then
//	follow.go   summaries that were derived from deleted samples
//
// A small deletion is complete in one transaction. A large one continues in a job. It
// ends with one event for each resource.
//
// Deleted records do not come back: package storage keeps their fingerprints. See
// docs/deleting-data.md.
package deletion
