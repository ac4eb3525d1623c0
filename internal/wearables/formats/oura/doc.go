// Package oura reads the JSON documents of an Oura ring in the shapes of the
// maker's second interface: one document, a list of them, a page
// {"data": […], "next_token": …}, or one object that holds several of those by
// the names of resources.
//
// A document says in no field what it is, and a file's name is not looked at,
// so each is told by the fields that only its resource has (resource.go). That
// also lets one file hold several resources.
//
// What Oura states is stored as it stands. In particular the durations of a
// night are not recomputed from its hypnogram: real nights differ by minutes.
//
// Oura's day is from 4 o'clock to 4 o'clock. Its `day` is kept as the date of
// an activity and of a night; heart rate, which the day's activity takes in,
// is by calendar day.
//
// Package replies does what all makers' documents need.
//
//	kind.go      what Oura is among the makers
//	resource.go  telling documents apart
//	sleep.go     nights to sleep and sleep_cycle
//	scores.go    what is said of a night elsewhere
//	daily.go     days to activity
//	series.go    heart rate and sessions to samples
//	workout.go, person.go
//
// Facts: Oura's OpenAPI document, and public samples.
package oura
