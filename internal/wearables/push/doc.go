// Package push reads the batches that phones and other SDKs send: JSON of
// samples straight into columns, in one pass, without a value in between.
//
// A batch of 100,000 samples is 10 MB of JSON; reading it costs more than
// storing it, so this is written by hand. It accepts exactly the JSON that
// encoding/json accepts and that is valid UTF-8 (the tests hold it against
// that), with keys in any order and unknown keys skipped.
//
//	samples.go    Parse: the body and its samples
//	series.go     ParseSeries: samples of several resources in one body
//	head.go       what a body says about itself
//	fields.go     the fields of a sample, in both spellings
//	groups.go     samples sorted into columns by source, words and unit
//	scan.go       strings, literals, skipping; what a fault looks like
//	number.go, moment.go    numbers and instants
//	units.go, batch.go      canonical units; the batch to be stored
//	documents.go  ParseSummaries: the same for summaries, which are few
package push
