// Package clarity reads the CSV that Dexcom Clarity exports: readings of a
// glucose sensor every five minutes, and what the wearer noted beside them.
//
// The document begins with rows that have no time: the wearer's name and birth
// date, which are not read, the receivers and their alarms. Then follow events
// in order of time. The unit of glucose stands in the name of its column. A
// reading outside of what the sensor measures has the word Low or High in
// place of a number; it is left out, not clamped. Times are those of the
// receiver's clock, without a zone.
//
//	kind.go    recognising a file
//	reader.go  rows to samples
//
// Dexcom documents no format: the facts are those of public exports, one of
// which the tests read.
package clarity
