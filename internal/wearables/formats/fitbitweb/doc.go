// Package fitbitweb reads JSON of Fitbit's Web API. It reads days with their
// activities, time series with their intraday values, and sleep of versions 1 and 1.2.
// It also reads weights and measurements of the night. The service ended in 2026;
// people and studies have its replies in files.
//
// Times are local clock times without a zone, except in the list of activities. In the
// zone of the profile, or the user's fallback zone, they become instants; without
// either they float (sheet.Wall). A reply of a day's activities has no date of its own:
// its activities have it.
//
// Distances are kilometres and weights kilograms, the API's default; only the list of
// activities names its unit.
//
// Fitbit states the totals of days. The values of an intraday series need not add up to
// them, so it is only a series (replies.Maker.SumsDays).
//
//	reader.go    recognizes a file; the table of resources; Google Takeout; clocks
//	day.go       totals of days; weights, temperatures, the person and the devices
//	intraday.go  values within a day
//	sleep.go     sleep with its stages; measurements of the night
//	workout.go   activities
//
// Facts come from Fitbit's reference of the Web API and public samples; for the archive
// from several independent readers.
package fitbitweb
