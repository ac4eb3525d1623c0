// Package suunto reads what Suunto's cloud interface replies: workouts, and
// what a watch notes day and night: sleep, activity and recovery.
//
// Suunto is not in the catalogue, so that nobody can connect it: its data is a
// person's own file, of the provider manual with the app id suunto, as that of
// other programs of which we know the format and not the maker.
//
//	kind.go     what a file may hold
//	workout.go  workouts, and the watches they name
//	sport.go    what they were
//	sleep.go    nights and naps
//	day.go      samples of the day, and its totals
//
// Facts: public samples of workouts and sleep, and Suunto's public pages. For
// the samples of a day there was no sample, so that only what is plain by its
// name and unit is read.
package suunto
