// Package oura reads JSON documents of an Oura ring in the shapes of API v2. A file
// holds one document, a list, or a page {"data": […], "next_token": …}. Or it is one
// object that holds several of those by the names of resources.
//
// No field of a document names its kind, and file names are not used, so the fields
// that only one resource has identify it (resource.go). So one file may hold several
// resources.
//
// Oura's values are stored unchanged. In particular the durations of a night are not
// recomputed from its hypnogram: real nights differ by minutes.
//
// Oura's day starts at 4 o'clock. Its `day` is the date of an activity and of a night;
// heart rate, which the day's activity uses, is by calendar day.
//
// Package replies contains the code that all providers' documents share.
//
//	kind.go      the provider
//	resource.go  recognizes documents
//	sleep.go     converts nights to sleep and sleep_cycle
//	scores.go    scores of a night from other documents
//	daily.go     converts days to activity
//	series.go    converts heart rate and sessions to samples
//	workout.go, person.go
//
// Facts come from Oura's OpenAPI document and public samples.
package oura
