// Package runkeeper reads the fitness activities of Runkeeper's Health Graph: pages of
// the feed, and single activities with their course.
//
// Every activity has the source type app: fields name the way an activity arrived, not
// the device that measured it.
//
//	kind.go      documents of a file
//	activity.go  converts an activity to a workout
//	sport.go     its sport
//
// Facts come from the Health Graph's page on fitness activities and a public sample.
// The API has been closed to new programs since.
package runkeeper
