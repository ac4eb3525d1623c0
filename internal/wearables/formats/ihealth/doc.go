// Package ihealth reads the replies of iHealth's API: a page per kind of measurement,
// with the records in a list and their unit beside it.
//
// A time is the local clock time, in seconds as if it were UTC. TimeZone is the clock's
// offset from UTC: "-0800", or a number of hours. Public samples show it, where a
// device sent its measurement seconds before LastChangeTime, which is in UTC. Only
// sport has its times in UTC: a local reading would put them hours after they were
// sent.
//
//	kind.go      the provider
//	resource.go  recognizes records
//	moment.go    converts clock times to instants
//	vitals.go    blood pressure, glucose, saturation
//	weight.go    weighings
//	day.go       days
//	sleep.go     nights
//	sport.go     workouts
//
// Facts come from iHealth's reference and public samples.
package ihealth
