// Package clarity reads the CSV that Dexcom Clarity exports: readings of a glucose
// sensor every five minutes, and the wearer's notes.
//
// The document begins with rows without a time: the wearer's name and birth date, which
// are not read, the receivers and their alarms. Then follow events in order of time.
// The name of a column contains the unit of glucose. A reading outside of the sensor's
// range has the word Low or High in place of a number; it is left out, not clamped.
// Times are those of the receiver's clock, without a zone.
//
//	kind.go    recognizes a file
//	reader.go  converts rows to samples
//
// Dexcom documents no format: the facts come from public exports, one of which the
// tests read.
package clarity
