// Package demo generates the data of demo connections: a history when a user
// connects, thirty days by default, and new data every two hours.
//
// It works like the reader of an imported file. The generated data goes through
// formats/files into the ordinary store, with the same checks, derived summaries,
// events and end of history.
//
// All values are computed from the user, the provider and the day. So the same person
// always has the same night, and generating a stretch of time again changes no value.
// The data comes from no real person and says so: the devices are from "Demo", and
// workouts are called demos.
//
//	service.go    connecting, and the jobs
//	fill.go       generates a stretch of time and stores it
//	person.go     the person: resting heart rate, weight, habits
//	day.go        a day: activities, sleep, heart, breath and sugar
//	providers.go  the resources of each provider
//
// Reference 6.8.
package demo
