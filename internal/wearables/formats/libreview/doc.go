// Package libreview reads data of Abbott's glucose sensors: the CSV that LibreView
// exports, and the answer of LibreLinkUp to a follower's app, a JSON document with the
// readings of half a day.
//
// The CSV has a title line with the wearer's name, which is not read, then a header and
// rows grouped by sensor and kind of record, in order of time within a group. The kind
// of a row decides which column has the glucose. The names of the columns contain the
// unit. Times are those of the reader's clock, to the minute, without a zone and in the
// account's order of day and month. The whole file is scanned before the order is
// trusted (order.go). The JSON document has seconds. Both float: they are stored
// unchanged, and no zone moves them.
//
//	kind.go    recognizes a file
//	header.go  maps columns
//	order.go   day first or month first
//	reader.go  converts rows to samples
//	linkup.go  the JSON document
//
// Abbott documents neither: the facts come from public exports and readers.
package libreview
