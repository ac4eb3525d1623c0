// Package ihealth reads the replies of iHealth's web interface: a page for
// each kind of measurement, with the records in a list and their unit beside
// it.
//
// A time is what the clock showed, in seconds as if that had been UTC, and
// TimeZone says how far the clock was from UTC: "-0800", or a number of hours.
// Public samples show it, where a device told its measurement seconds before
// LastChangeTime, which is in UTC. Only sport has its times in UTC already: a
// local reading would put them hours after they were told.
//
//	kind.go      what iHealth is among the makers
//	resource.go  telling records apart
//	moment.go    clocks to instants
//	vitals.go    blood pressure, glucose, saturation
//	weight.go    weighings
//	day.go       days
//	sleep.go     nights
//	sport.go     workouts
//
// Facts: iHealth's reference, and public samples.
package ihealth
