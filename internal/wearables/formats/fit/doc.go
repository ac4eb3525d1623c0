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
//   - fit.go: the kind, one run over one file, and chains of files
//   - messages.go: which message goes where, and what is counted
//   - activity.go: records, sessions and intervals to workouts
//   - heart_rate_strap.go: heart rates beside records
//   - wellness.go, nights.go: all other measurements
//   - maker.go: provider, source and device
//
// Facts about the format: the FIT protocol and Profile 21, and public files
// that the tests read.
package fit
