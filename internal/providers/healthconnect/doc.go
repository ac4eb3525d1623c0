// Package healthconnect reads the export of Android's Health Connect: an
// SQLite database, alone or in a zip, with one table for each kind of record.
//
// Records of a moment have time and zone_offset, those of a stretch start_time,
// end_time and an offset for each; times are milliseconds of Unix time, offsets
// seconds. A heart rate record is a row with many samples in a table of its
// own. Every record names the app that wrote it, often the device, and how it
// was recorded. Values are in the platform's base units: grams, metres, litres,
// small calories (a thousandth of a kilocalorie), watts, percent, mmol/L.
//
// Apps read from Health Connect and write back what they read, so that a
// record may stand there twice (mirror.go). Many write an offset of zero where
// they know none (zones.go).
//
// The database comes from a stranger. It is opened as a file that never
// changes and is never written, with the schema distrusted, and only plain
// tables and plain columns are read (database.go).
//
//	kind.go, archive.go   recognising a file; the database in a zip
//	database.go, row.go   reading tables of a database that may be anything
//	source.go             which app, which device
//	zones.go              where the phone was
//	tables.go             which table becomes which series
//	import.go, records.go tables to samples
//	mirror.go             records that a second app repeats
//	sleep.go, exercise.go, sports.go  nights and workouts
//
// Facts: the schema of version 14, one public export, and the platform's own
// sources for its units and codes.
package healthconnect
