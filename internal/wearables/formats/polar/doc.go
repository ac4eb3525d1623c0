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
//	reader.go    the provider; recognizes documents; clocks and durations; the account
//	day.go       converts days to activity; heart rate, steps, temperatures, oxygen
//	sleep.go     nights and their values from other documents
//	exercise.go  converts exercises to workouts
//
// Facts come from Polar's AccessLink documentation and public samples.
package polar
