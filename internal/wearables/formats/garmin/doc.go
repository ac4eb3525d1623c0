// Package garmin reads JSON of Garmin as people and programs keep it: what the
// Health and Activity interfaces push to partners (dailies, epochs, sleeps,
// activities, …), lists of activities as ConnectStats received them, and what
// the web pages of Garmin Connect are fed with, bare or in a recorded exchange
// {"path", "status", "body"}.
//
// Garmin tells totals of a day and series beside each other. A day's activity
// is what Garmin states; its series of steps, distance, energy and heart rate
// stay series. What it calls the average heart rate of a day is that of a week,
// so that a day has none.
//
// Numbers below zero stand for a reason in place of a value: not worn, too
// much movement, no signal. They are counted as bad values of the part.
//
//	kind.go      the maker; what is kept to the end of a file
//	resource.go  telling documents apart
//	time.go      seconds with offsets, and the two clocks of Connect
//	activity.go  activities to workouts
//	sport.go     what they were
//	day.go       days to activity
//	epoch.go     quarters of an hour to steps, distance, energy
//	series.go    values in the course of a day to samples
//	sleep.go     nights and naps to sleep and sleep_cycle
//	body.go      scales, cuffs, what the wearer drank
//	person.go    settings to the profile
//
// Facts: public samples, and what several open projects read of it; Garmin
// shows its own description to partners only.
package garmin
