// Package blocks packs the samples of one series and one stretch of time into
// a few bytes each, and unpacks them again bit for bit.
//
// A heart rate once a minute costs about 0.6 bytes, one beat of a one-second
// stream 0.4, a full-precision double 7. Packing and unpacking take some ten
// nanoseconds per sample, so a day or a month of samples is read faster than
// it is written out as JSON.
//
// The order of reading:
//
//	columns.go   Columns: samples as parallel slices, and when they are valid
//	header.go    what the first bytes say: count, first time, sum, least, greatest
//	encode.go    Append: columns to bytes
//	decode.go    Decode: bytes to columns, for any input without a panic
//	integers.go  runs and packed bits: time steps, durations, scaled values
//	reader.go    the same, read back
//	floats.go    values as scaled decimals
//	xor.go       values that are no short decimals
//	merge.go     Merge: new samples into old ones, and what that changed
//
// The format is described byte by byte in docs/sample-blocks.md. It knows
// nothing of resources, users or storage; whoever stores a block seals it.
package blocks
