// Package derive makes summaries from samples: the activity and body of a
// day, nights of sleep, the heart rate of workouts, the profile.
//
// It works on series that are stored already, for the days that somebody
// names, and hands what it finds to wearables, which announces only what
// changed. So it may run any number of times, after any import or push that
// touched those days, and gives the same answer from the same samples.
//
// All sums are made inside one provider. Several sources of one provider see
// the same steps, so their intervals are merged (coverage.go); sessions are
// never joined across sources. Two providers are never merged here.
//
// A day is a calendar day of the place where the person was: each sample
// carries the offset from UTC that held there. Days of 23 and 25 hours need no
// rule of their own that way.
//
// Reading order: days.go (what runs when), load.go (reading the series),
// coverage.go (the merge), then one file per summary.
package derive
