// Package healthconnect reads the export of Android's Health Connect: an SQLite
// database, alone or in a zip, with one table per kind of record. It also reads records
// of it as JSON.
//
// Records of a moment have time and zone_offset. Those of an interval have start_time,
// end_time and an offset for each. Times are milliseconds of Unix time, offsets
// seconds. A heart rate record is a row with many samples in a table of its own. Every
// record names the app that wrote it, often the device, and how it was recorded. Values
// are in the platform's base units: grams, metres, litres, small calories (a thousandth
// of a kilocalorie), watts, percent, mmol/L.
//
// Apps read from Health Connect and write the same data back, so a record may appear
// twice (records.go). Many write an offset of zero if they know none (zones.go).
//
// The database is untrusted. It is opened as a file that never changes and is never
// written, with the schema distrusted. Only plain tables and plain columns are read
// (database.go).
//
// Programs that read the records on the phone through the client library save them as
// JSON. The library uses the platform's names, but its own numbers of exercises
// (sessions.go). Each of these is read as a list, one object a line, a page, or lists
// and pages under the names of records:
//
//	react-native-health-connect: the records of readRecords, whole
//	{"records": […], "pageToken"}, in early versions {"result": […]}, or
//	without the page. A value has all units: {"inGrams", "inKilograms", …};
//	offsets are {"id", "totalSeconds"}; metadata has dataOrigin, id,
//	lastModifiedTime, device and recordingMethod. A record names its kind only
//	by an added recordType, the name around it, or a unique field.
//
//	capacitor-health-connect: each record has its type, by the library's old
//	names (HeartRateSeries, ActivitySession); a value is {"unit", "value"},
//	an offset "+02:00".
//
//	HCGateway's fetch: {"_id", "id", "app", "start", "end", "data": {…}}, with
//	the values of the first in data.
//
//	HC Webhook: {"timestamp", "app_version", "steps": […], "heart_rate": […],
//	…}, in names and units of its own (dialects.go).
//
// They are put into a database of the same tables, which is then imported. So there is
// one reader of records for both forms.
//
//	archive.go             the database in a zip
//	database.go            reads tables of an untrusted database
//	schema.go              size of its schema, before SQLite reads it
//	source.go              apps and devices
//	zones.go               time zones of the phone
//	tables.go              maps tables to series
//	import.go              recognizes a file; the run of an import
//	records.go             converts tables to samples; records that a second app repeats
//	sleep.go, exercise.go  nights and workouts
//
//	json.go, walk.go  recognizes and finds records in JSON
//	forms.go          maps records to tables; units
//	dialects.go       forms of the programs
//	sessions.go       samples, nights and workouts
//	staging.go        the database for JSON records
//
// Facts come from these sources:
//
//   - the schema of version 14, and one public export
//   - the platform's own sources, for its units and codes
//   - the client library, for its names
//   - the four programs, for their forms
package healthconnect
