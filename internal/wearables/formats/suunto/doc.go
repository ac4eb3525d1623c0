// Package suunto reads replies of Suunto's cloud API: workouts, and a watch's sleep,
// activity and recovery.
//
// Suunto is not in the catalogue, so it cannot be connected. Its data is a person's own
// file, of the provider manual with the app id suunto.
//
//	kind.go     documents of a file
//	workout.go  workouts, and the watches they name
//	sport.go    their sports
//	sleep.go    nights and naps
//	day.go      samples of the day, and its totals
//
// Facts come from public samples of workouts and sleep, and Suunto's public pages.
// There was no sample of a day, so only fields with a plain name and unit are read.
package suunto
