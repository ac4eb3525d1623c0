// Package whoopexport reads the CSV files that WHOOP sends on request: a zip of
// physiological_cycles.csv, sleeps.csv, workouts.csv and journal_entries.csv, or one of
// those. Its header identifies a file, in English or in Spanish: names are translated
// too.
//
// A cycle is WHOOP's day, from falling asleep to falling asleep, and begins the evening
// before its date. Its row has the state at waking (recovery), repeats the sleep at its
// start, and sums up the rest. Times are local clock times where the cycle began,
// "2024-03-01 23:12:00", beside the zone "UTC+01:00", and "UTCZ" is UTC. Durations are
// minutes, energy is kilocalories though it says cal. Zones of heart rate are whole
// percents of a workout; the rest is below the first zone.
//
// WHOOP's values are stored unchanged.
//
//	archive.go  recognizes a file; the tables in a zip
//	table.go    the tables and their columns
//	reader.go   counting and storing
//	days.go     converts rows of days, nights and workouts to summaries
//
// Facts come from WHOOP's own page about its export, a header of each table in both
// languages as users published them, and several other readers.
package whoopexport
