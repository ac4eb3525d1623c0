// Package push parses the batches of phones and SDKs: JSON of samples into columns, in
// one pass.
//
// The parser is written by hand, because a batch of 100,000 samples is 10 MB of JSON and
// costs more to parse than to store. It accepts the JSON that encoding/json accepts and
// that is valid UTF-8; tests compare the two. Keys are in any order, and unknown keys are
// skipped.
//
//	samples.go    Parse: the body and its samples
//	series.go     ParseSeries: samples of several resources in one body
//	users.go      ParseUsers: samples of several users in one body
//	repeated.go   samples that differ in a few values only
//	head.go       fields about the whole body
//	fields.go     the fields of a sample, in both spellings
//	groups.go     samples sorted into columns by source, words and unit
//	scan.go       strings, literals, skipping, faults
//	number.go, moment.go    numbers and instants
//	units.go, batch.go      canonical units; the batch to store
//	documents.go, accepted_fields.go    ParseSummaries, and the fields of a summary
package push
