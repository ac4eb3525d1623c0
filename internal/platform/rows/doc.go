// Package rows stores generated text compactly, such as JSON with one object per
// sample. A day of heart rates as JSON is 1,440 objects of a hundred bytes, which
// differ in an instant and a number. A Table stores the common text once, and the
// instants and numbers as a block of samples, in less than one byte for both. That
// takes a tenth of the time of a compressor and a quarter of its space.
//
// The text comes back byte for byte. So the text of instants and numbers is part of the
// format, and a test checks it. For a different notation, add a new kind of Field.
//
//	table.go   Table: the common text, the fields, and the packed form
//	writer.go  Writer: single rows; instants and numbers as text
package rows
