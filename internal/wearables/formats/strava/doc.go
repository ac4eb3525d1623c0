// Package strava reads replies of Strava's API v3: activities, as a list has them or
// one with its details, their streams, and the athlete.
//
// People collect recordings of their watches at Strava, so a ride is here and with the
// watch's manufacturer too. Both are kept, each under its own provider.
//
// Every activity has the source type app, also one that a watch recorded. Only some
// replies name the device, and the list and the details of one activity must be the
// same workout.
//
// A stream names neither its start nor its activity. It belongs to the activity that
// contains it or is beside it, or to the only one of its file (stream.go).
//
//	reader.go    documents of a file; the profile
//	activity.go  converts an activity to a workout, and its sport
//	stream.go    converts streams, by type, to columns, and assigns them to activities
//
// Facts come from Strava's API reference and its changelog, and public samples.
package strava
