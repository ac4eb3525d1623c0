// Package googlefit reads the data points of Google Fit as JSON: datasets as
// its REST interface replied them, {"dataSourceId": …, "point": […]}, the same
// in buckets, and the files of "All Data" in Google's archive,
// {"Data Source": …, "Data Points": […]}. A point says of which data type it
// is, so one file may hold several.
//
// Times are exact: nanoseconds since 1970, as text or as a number. No point
// says in which zone the person was, so that series have no offset, and days
// and sessions are those of the user's fallback zone, else of UTC (reference
// 7.10).
//
// The service told no totals of days: those are the sums of the series.
//
//	kind.go    recognising a file
//	point.go   a point's fields: times, values, where it comes from
//	series.go  measurements and amounts to samples
//	energy.go  energy, of which some is basal and some is not
//	segment.go activities and sleep to workouts and nights
//	sport.go   what the numbers of activities are called
//
// Facts: Google's pages on data types, activity types and sleep stages; public
// samples; for the archive's shape several independent readers of it.
package googlefit
