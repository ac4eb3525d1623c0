// Package fit reads FIT files, which watches, bicycle computers and scales
// write: recordings of workouts, monitoring around the clock, weights.
//
// A FIT file is a header, messages and a checksum. Each message has a number
// for its kind, and numbered fields. The Profile gives them names, units and
// scales; it is part of the library that decodes them. Files may be chained:
// several of them, one after the other, in one.
//
// Reading order:
//
//   - fit.go: the kind, and one run over one file
//   - chain.go: one file of a chain after the other, checksum and damage
//   - messages.go: which message goes where, and what is counted
//   - activity.go: records and sessions to workouts
//   - strap.go, intervals.go: beats of the heart beside records
//   - wellness.go, nights.go, monitoring.go, body.go: all other measurements
//   - maker.go: provider, source and device
//
// Facts about the format: the FIT protocol and Profile 21, and public files
// that the tests read.
package fit
