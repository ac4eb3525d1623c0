// Package garmin reads JSON of Garmin in the forms that people and programs have:
//
//   - Messages that the Health and Activity APIs push to partners, such as dailies,
//     epochs, sleeps and activities.
//   - Lists of activities, as the program ConnectStats received them.
//   - Responses behind the web pages of Garmin Connect, alone or in a recorded
//     exchange {"path", "status", "body"}.
//
// Garmin has totals of a day and series beside each other. A day's activity has
// Garmin's totals; its series of steps, distance, energy and heart rate stay series.
// Garmin's average heart rate of a day is that of a week, so it is left out.
//
// Numbers below zero are reasons for a missing value: not worn, too much movement, no
// signal. They count as bad values of their part.
//
//	reader.go    the provider; recognizes documents; instants and the two clocks of Connect
//	activity.go  converts activities to workouts, and their sports
//	day.go       converts days to activity, and quarters of an hour to samples
//	series.go    converts values of a day to samples
//	sleep.go     converts nights and naps to sleep and sleep_cycle
//	body.go      scales, cuffs, hydration; settings as the profile
//
// Facts come from public samples and several open projects; Garmin shows its own
// description to partners only.
package garmin
