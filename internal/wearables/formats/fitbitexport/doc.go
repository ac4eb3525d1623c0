// Package fitbitexport reads the CSV tables of Fitbit days, hours and weights that
// studies get from Fitabase: dailyActivity, hourlySteps and weightLogInfo.
//
// A table may have the rows of a whole study, separated by Id. An import is for one
// user, so a table of several people is refused before anything is stored. Dates have
// the month first, in one of two spellings that change within one file; times are local
// clock times without a zone.
//
// Daily totals are stored unchanged: they are not the sum of the hours. Two tables are
// refused by name. hourlyCalories mixes energy of rest and activity, for which there is
// no series. sleepDay has the minutes of a date, sometimes of several sleeps, without
// the start and end that a sleep needs.
//
//	kind.go    recognizes a table; one person only
//	daily.go   converts days to activity summaries
//	hours.go   converts steps of hours to samples
//	weight.go  converts weights to samples
//	date.go    parses dates and times
package fitbitexport
