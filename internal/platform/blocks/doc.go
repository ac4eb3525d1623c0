// Package blocks encodes the samples of one series in one period with a few bytes per
// sample, and decodes them bit for bit.
//
// A heart rate once a minute takes about 0.6 bytes, one value of a one-second stream
// 0.4, a full-precision double 7. Encoding and decoding take about ten nanoseconds per
// sample, so reading a day or a month of samples is faster than writing it as JSON.
//
// Read the files in this order:
//
//	columns.go   Columns: samples as parallel slices, and the rules for them
//	header.go    the first bytes: count, first time, sum, minimum, maximum
//	encode.go    Append: columns to bytes
//	decode.go    Decode: bytes to columns, for any input without a panic
//	integers.go  encoding of time steps, durations and scaled values: runs and packed bits
//	reader.go    decoding of these
//	floats.go    values as scaled decimals
//	xor.go       values that are not short decimals
//	merge.go     Merge: new samples into old ones, and a report of the changes
//	sort.go      samples in any order to columns
//
// docs/sample-blocks.md describes the format byte by byte. The package does not know
// resources, users or storage, and it does not encrypt: the caller seals a block before
// storing it.
package blocks
