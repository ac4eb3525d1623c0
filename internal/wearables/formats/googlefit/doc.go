// Package googlefit reads the data points of Google Fit as JSON. It reads datasets of
// its REST API, {"dataSourceId": …, "point": […]}, alone or in buckets. It also reads
// the files of "All Data" in Google Takeout, {"Data Source": …, "Data Points": […]}. A
// point names its data type, so one file may hold several.
//
// Times are exact: nanoseconds since 1970, as text or as a number. No point has the
// person's zone. Series therefore have no offset, and days and sessions use the user's
// fallback zone, or UTC (reference 7.10).
//
// The service has no totals of days: those are the sums of the series.
//
//	kind.go    recognizes a file
//	point.go   a point's fields: times, values, source
//	series.go  converts measurements and amounts to samples
//	energy.go  energy, of which some is basal and some is not
//	segment.go converts activities and sleep to workouts and nights
//	sport.go   names of the numbers of activities
//
// Facts come from Google's pages on data types, activity types and sleep stages, and
// public samples; for the archive from several independent readers.
package googlefit
