// Package libreview reads what Abbott's glucose sensors leave behind: the CSV
// that LibreView exports, and the answer of LibreLinkUp to a follower's app, a
// JSON document with the readings of half a day.
//
// The CSV has a title line with the wearer's name, which is not read, then a
// header and rows grouped by sensor and kind of record, in order of time within
// a group. Which of the columns of glucose a row fills depends on its kind. The
// unit stands in the names of the columns. Times are those of the reader's
// clock, to the minute, without a zone and in the order of day and month that
// the account is set to: the whole file is looked at before the order is
// believed (order.go). The JSON document has seconds. Both float: they are kept
// as they stand, and no zone moves them.
//
//	kind.go    recognising a file
//	header.go  which column is what
//	order.go   day first or month first
//	reader.go  rows to samples
//	linkup.go  the JSON document
//
// Abbott documents neither: the facts are those of public exports and readers.
package libreview
