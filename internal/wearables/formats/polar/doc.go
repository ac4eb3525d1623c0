// Package polar reads JSON of Polar's AccessLink as people keep it: continuous
// heart rate, sleep, nightly recharge, daily activity and its samples,
// exercises with samples and routes, physical information, temperatures and
// tests of the blood's oxygen; one document, lists, or pages.
//
// Names are written with underscores in newer documents and with hyphens in
// older ones.
//
// Sleep has its offset from UTC and an exercise names one. Continuous heart
// rate, steps and daily activity have the time on the watch alone: with the
// user's fallback zone they are exact, without one they float (sheet.Wall).
//
//	kind.go      the maker
//	resource.go  telling documents apart
//	time.go      clocks on the wall, durations, times of a night
//	heart.go     continuous heart rate, steps, temperatures, oxygen
//	sleep.go     nights and what is said of them
//	exercise.go  exercises to workouts
//	day.go       days to activity
//	person.go    physical information and the account
//
// Facts: Polar's AccessLink documentation, and public samples.
package polar
