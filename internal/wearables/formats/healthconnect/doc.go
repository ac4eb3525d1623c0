// Package healthconnect reads the export of Android's Health Connect: an
// SQLite database, alone or in a zip, with one table for each kind of record;
// and records of it that are JSON.
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
// The same records come as JSON too, from programs that read them on the phone
// through the client library. The library's names are those of the platform,
// but its numbers of exercises are its own (sessions.go). Each of these is read
// as a list, one object a line, a page, or lists and pages under the names of
// records:
//
//   - react-native-health-connect: the records of readRecords, whole
//     {"records": […], "pageToken"}, in early versions {"result": […]}, or
//     without the page. A value is told in all units: {"inGrams", "inKilograms",
//     …}; offsets are {"id", "totalSeconds"}; metadata has dataOrigin, id,
//     lastModifiedTime, device and recordingMethod. A record does not say what
//     it is, unless somebody added its recordType: else the name around it
//     says so, or a field that no other kind has.
//   - capacitor-health-connect: each record has its type, by the library's old
//     names (HeartRateSeries, ActivitySession); a value is {"unit", "value"},
//     an offset "+02:00".
//   - HCGateway's fetch: {"_id", "id", "app", "start", "end", "data": {…}}, with
//     the values of the first in data.
//   - HC Webhook: {"timestamp", "app_version", "steps": […], "heart_rate": […],
//     …}, in names and units of its own (webhook.go).
//
// They are put into a database of the same tables, and that is imported: one
// reading of records, two ways to come to it.
//
//	kind.go, archive.go   recognising a file; the database in a zip
//	database.go, row.go   reading tables of a database that may be anything
//	schema.go             how large its schema is, before SQLite reads it
//	source.go             which app, which device
//	zones.go              where the phone was
//	tables.go             which table becomes which series
//	import.go, records.go tables to samples
//	mirror.go             records that a second app repeats
//	sleep.go, exercise.go, sports.go  nights and workouts
//
//	json.go, walk.go      recognising records that are JSON; finding them
//	shapes.go, measure.go which record fills which table; its units
//	client.go, webhook.go what the programs write of a record
//	sessions.go           samples, nights and workouts
//	stage.go              the database that they are put into
//
// Facts: the schema of version 14, one public export, the platform's own
// sources for its units and codes, the client library's for its names, and the
// four programs' for what they write.
package healthconnect
