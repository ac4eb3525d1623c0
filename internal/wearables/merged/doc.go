// Package merged makes one number of what several sources measured at the same
// time: where phone, watch and an app that mirrors both report steps, adding
// them up counts every step two or three times.
//
// Sources are put into an order, and what is measured is taken from the best
// one that was there. What adds up over time, such as steps, is merged interval
// by interval: of an interval only the share counts that no better source
// covers. What is a level, such as a heart rate, is taken from the best source
// and, in its gaps, from the next. Nothing is stored; a merged line is made
// when it is read, and says for each piece where it comes from.
//
// The order of reading:
//
//	kinds.go        which resources add up, and which are levels
//	order.go        which source is better than which
//	priorities.go   what a team says about that
//	coverage.go     stretches of time, and whose they are
//	line.go         the merge itself
//	reader.go       along the stored series, a few days at a time
//	page.go         one page of a merged line
//	days.go         its sums, or its bounds and means, by local day
//	wire.go         JSON of both
//
// Plain reads and events are never merged.
package merged
