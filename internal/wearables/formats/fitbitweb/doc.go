// Package fitbitweb reads the JSON that Fitbit's Web API replied: days with
// their activities, time series and their intraday values, sleep of versions 1
// and 1.2, weights, and what was measured at night. The service ended in 2026;
// people and studies have its replies in files.
//
// Times are those on the wearer's wall, without a zone, except for the list of
// activities. In the zone of the profile, else in the user's fallback zone, they
// become instants, without either they float (sheet.Wall). A reply of a day's activities has no date of its
// own: that is the date of the activities in it.
//
// Distances are taken to be in kilometres and weights in kilograms, as the
// interface told them unless it was asked for another system of units; only
// the list of activities says which.
//
// Fitbit tells the totals of days. What an intraday series has of a day need
// not add up to them, so it is a series and no more (replies.Maker.SumsDays).
//
//	kind.go      recognising a file; the table of what there is
//	wall.go      dates and clocks
//	day.go       totals of days
//	intraday.go  values within a day
//	sleep.go     sleep with its stages
//	night.go     what was measured at night
//	workout.go   activities
//	body.go      weights, temperatures, the person and the devices
//	archive.go   the same account in Google's archive
//
// Facts: the maker's reference of the Web API, and public samples; for the
// archive several independent readers of it.
package fitbitweb
