// Package demo invents the data of demo connections: thirty days when a user
// is connected, and what has happened since, every two hours.
//
// It works like the reader of an imported file. What it invents goes through
// providers/files into the ordinary store: the same checks, the same summaries
// made of samples, the same events, the same end of a history.
//
// Everything is computed from the user, the provider and the day, so the same
// person has had the same night whenever one looks, and inventing a stretch of
// time again changes nothing. Nobody's data stands behind it, and it says so:
// devices are made by "Demo", workouts are called demos.
//
//	service.go    connecting, and the jobs
//	fill.go       inventing a stretch of time and storing it
//	person.go     who somebody is: their pulse at rest, their weight, their habits
//	day.go        what somebody does on a day
//	night.go      how somebody sleeps
//	vitals.go     heart, breath and sugar
//	providers.go  what each provider brings
//
// Reference 6.8.
package demo
