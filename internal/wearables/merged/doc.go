// Package merged combines the samples of several sources into one line. When a
// phone, a watch and an app that mirrors both report steps, adding them up
// counts every step two or three times.
//
// Sources have an order, and each value comes from the best source that has
// one. Resources that add up, such as steps, are merged interval by interval:
// an interval counts only for the share that no better source covers. Levels,
// such as a heart rate, come from the best source and, in its gaps, from the
// next one. Nothing is stored: a merged line is computed when it is read, and
// names the source of each piece.
//
// The order of reading:
//
//	priorities.go  resources that add up, levels, and the order of sources
//	totals.go      totals of whole days beside finer samples
//	coverage.go    spans, the coverage of time by sources, and the merge
//	reader.go      reads the stored series stretch by stretch, page by page
//	days.go        sums, or minimum, mean and maximum, by local day
//	sessions.go    sessions of several sources that are one
//	wire.go        the JSON of pages and days
//
// Plain reads and events are never merged.
package merged
