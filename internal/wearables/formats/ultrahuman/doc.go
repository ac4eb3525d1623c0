// Package ultrahuman reads the JSON that Ultrahuman's interface replies for
// partners and for a wearer's own token: the metrics of a day,
// {"data": {"metric_data": [{"type": …, "object": …}]}}, or of several days,
// {"data": {"metrics": {"2024-01-15": […]}}}.
//
// The maker describes the metrics in words; how they are written is known from
// several independent readers that agree. Where they do not agree what a value
// means, it is counted and left out: steps within a day may be running totals
// or not, so that only the day's total is read.
//
// Instants are exact, in seconds since 1970. The zone is the one the reply
// names, else the user's fallback zone.
//
//	kind.go   recognising a file; the table of metrics
//	series.go what was measured through the day
//	day.go    a value a day
//	sleep.go  nights
package ultrahuman
