// Package fitbitexport reads the CSV tables of Fitbit days, hours and weights
// that studies get from Fitabase: dailyActivity, hourlySteps and weightLogInfo.
//
// A table may have the rows of a whole study, told apart by Id. An import is
// for one user, so a table of several people is refused before anything of it
// is stored. Dates have the month first, in one of two spellings that change
// within one file; times are those on the wearer's wall, without a zone.
//
// Daily totals are stored as they stand and not derived: they are not the sum
// of the hours, which stand beside them. Two tables are refused by name:
// hourlyCalories, since no series has the energy of rest and activity together,
// and sleepDay, which has the minutes of a date, of several sleeps together, and
// no time at which any of them began or ended, which every sleep of ours has.
//
//	kind.go    recognising a table; one person only
//	daily.go   days to activity summaries
//	hours.go   steps of hours to samples
//	weight.go  weights to samples
//	date.go    dates and times
package fitbitexport
