// Package whoopexport reads the CSV files that WHOOP mails to whoever asks for
// their data: a zip of physiological_cycles.csv, sleeps.csv, workouts.csv and
// journal_entries.csv, or one of those. A file is told by its header, in
// English or in Spanish: names are translated too.
//
// A cycle is WHOOP's day, from falling asleep to falling asleep, and begins
// the evening before the day that it is of. Its row says how the wearer woke up
// (recovery), repeats the sleep that it begins with, and sums up the rest.
// Times are those on the clock where the cycle began, "2024-03-01 23:12:00",
// beside the zone "UTC+01:00", and "UTCZ" is UTC. Durations are minutes,
// energy is kilocalories though it says cal, and zones of heart rate are shares
// of a workout in percent, in whole numbers; what they leave is below the first.
//
// What WHOOP states is stored as it stands.
//
//	kind.go     recognising a file; the run of an import
//	archive.go  the tables in a zip
//	table.go    the tables and their columns
//	reader.go   counting and storing
//	sleep.go, day.go, workout.go  rows to summaries
//
// Facts: WHOOP's own page about its export, a header of each table in both
// languages as users published them, and the readers of several others.
package whoopexport
