// Package rows keeps text that is rows of one shape by its columns. A day of
// heart rates as JSON is 1,440 objects of a hundred bytes that differ in an
// instant and a number; the shape is kept once, the instants and numbers as a
// block of samples is, in less than a byte for both. That is a tenth of the work
// of a compressor and a quarter of its room.
//
// The text comes back byte for byte. So what instants and numbers look like is
// part of the format, and a test holds it to that: another look is another kind
// of hole.
//
//	text.go    Text: a shape and its columns, and the text they make
//	pack.go    Pack and Unpack: a Text as it is kept
//	writer.go  Writer: single rows, quickly
//	write.go   instants and numbers
package rows
