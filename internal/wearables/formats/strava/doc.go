// Package strava reads what Strava's third interface replies: activities, as a
// list has them or one with its details, their streams, and the athlete.
//
// Strava is where people collect what their watches recorded, so that a ride
// is here and with the watch's maker too. Both are kept, each under its own
// provider.
//
// Every activity has the source type app, also one that a watch recorded: only
// some replies name the device, and a list and the details of one activity
// have to be the same workout.
//
// A stream states neither its start nor its activity. It goes with the activity
// that it stands in or beside, or with the only one of its file (pair.go).
//
//	kind.go      what a file may hold
//	activity.go  an activity to a workout
//	sport.go     what it was
//	stream.go    streams, by type, to columns
//	pair.go      which stream is of which activity
//	athlete.go   the profile
//
// Facts: Strava's API reference and its changelog, and public samples.
package strava
