// Package fitbitexport reads the CSV tables of Fitbit days and weights that
// studies get from Fitabase: dailyActivity and weightLogInfo.
//
// A table may have the rows of a whole study, told apart by Id. An import is
// for one user, so a table of several people is refused before anything of it
// is stored. Dates have the month first, in one of two spellings that change
// within one file; times are those on the wearer's wall, without a zone.
//
// Daily totals are stored as they stand and not derived: they are not the sum
// of the hours. That is also why tables of hours are not read: a day's summary
// would be derived from them in place of the total. Nor is sleepDay: it has the
// minutes of a date, of several sleeps together, and no time at which any of
// them began or ended, which every sleep of ours has.
//
//	kind.go    recognising a table; one person only
//	daily.go   days to activity summaries
//	weight.go  weights to samples
//	date.go    dates and times
package fitbitexport
