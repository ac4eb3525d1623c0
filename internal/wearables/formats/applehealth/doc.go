// Package applehealth reads HealthKit exports: the zip or the XML file that
// the Health app of a phone writes with "Export All Health Data".
//
// An export is one XML document of up to many gigabytes. It starts with a DTD in its
// DOCTYPE. The elements follow:
//
//   - one Record per measurement
//   - Correlations, which hold copies of Records
//   - Workouts
//   - ActivitySummaries, the rings of a day
//   - one Me with the person's characteristics
//
// In the zip, routes of workouts are GPX files beside the document, and
// electrocardiograms are CSV files.
//
// Reading order of this package:
//
//   - ../xmlscan: bytes to tags, in a window of one mebibyte
//   - time.go: attribute text to instants; days and time zones
//   - document.go, record.go, workout.go: tags to records, days, the person, workouts
//     and their routes
//   - rules.go, nutrition.go: which HealthKit type is which resource, and in which unit
//   - source.go: who measured it
//   - columns.go: values to the columns that wearables stores
//   - cycle.go: days of bleeding and what was noted with them to cycles
//   - archive.go, ecg.go: what comes in a zip
//   - importer.go: the pipeline from a file to the store
//
// Nothing here keeps a whole file in memory and nothing allocates per record.
// Facts about the format: "HealthKit Export Version" DTDs 3 to 14, and public
// exports that the tests read.
package applehealth
