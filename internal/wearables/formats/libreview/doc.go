// Package libreview reads data of Abbott's glucose sensors in two forms. LibreView
// exports a CSV. LibreLinkUp answers a follower's app with a JSON document that has the
// readings of half a day.
//
// The CSV has a title line with the wearer's name, which the package ignores. A header
// and rows follow. The rows are grouped by sensor and kind of record, and are in order of
// time within a group. The kind of a row decides which column has the glucose. The
// names of the columns contain the unit. Times are those of the clock of the device that
// reads the sensor. They are to the minute, without a zone, and in the account's order of
// day and month. The whole file is scanned before the order is trusted (order.go). Times
// of the JSON document have seconds. Times of both forms float: they are stored
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
