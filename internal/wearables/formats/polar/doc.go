// Package polar reads JSON of Polar's AccessLink as people keep it: one document,
// lists, or pages. The documents are continuous heart rate, sleep, nightly recharge,
// daily activity and its samples, exercises with samples and routes, physical
// information, temperatures and oxygen tests.
//
// Names have underscores in newer documents and hyphens in older ones.
//
// Sleep has its offset from UTC and an exercise names one. Continuous heart rate, steps
// and daily activity have only the watch's local time. With the user's fallback zone
// they are exact, without one they float (sheet.Wall).
//
//	kind.go      the provider
//	resource.go  recognizes documents
//	time.go      local clock times, durations, times of a night
//	heart.go     continuous heart rate, steps, temperatures, oxygen
//	sleep.go     nights and their values from other documents
//	exercise.go  converts exercises to workouts
//	day.go       converts days to activity
//	person.go    physical information and the account
//
// Facts come from Polar's AccessLink documentation and public samples.
package polar
