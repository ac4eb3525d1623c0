// Package runkeeper reads the fitness activities of Runkeeper's Health Graph:
// pages of the feed, and single activities with their course.
//
// Every activity has the source type app: what a phone tracked and what was
// typed in are told apart by fields that say how an activity came in, not by
// what measured it.
//
//	kind.go      what a file may hold
//	activity.go  an activity to a workout
//	sport.go     what it was
//
// Facts: the Health Graph's page on fitness activities, and a public sample.
// The interface has been closed to new programs since.
package runkeeper
