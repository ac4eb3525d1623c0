// Package derive computes summaries from samples: the activity and body of a
// day, nights of sleep, the heart rate of workouts, and the profile.
//
// It reads stored series for the days that the caller names, and stores the
// summaries through an Ingester, which announces only changes. So a derivation
// can run any number of times, after any import or push for those days: the same
// samples give the same summaries.
//
// All sums stay inside one provider. Several sources of one provider see the
// same steps, so their intervals are merged; sessions of different sources are
// never joined. Two providers are never merged here.
//
// A day is a calendar day at the place of the person: each sample carries its
// offset from UTC. So days of 23 and 25 hours need no special rule.
//
// The order of reading:
//
//	facts.go     the input: workouts, sleep, and the facts that a provider states
//	days.go      Deriver, and the order of its steps
//	load.go      reading series, merging intervals, rounding
//	activity.go  the activity of a day
//	body.go      the body of a day, and the profile
//	sleep.go     nights
//	workouts.go  workouts, their routes, streams and heart-rate zones
package derive
