// Package ultrahuman reads the JSON that Ultrahuman's interface replies, for
// partners and for a wearer's own token. A reply has the metrics of one day,
// {"data": {"metric_data": [{"type": …, "object": …}]}}, or of several days,
// {"data": {"metrics": {"2024-01-15": […]}}}.
//
// The maker describes the metrics only in words. Their JSON is known from
// several independent readers that agree. Where these disagree about the meaning
// of a value, the value is counted and left out. Steps within a day may be
// running totals or not, so only the day's total is read.
//
// Instants are exact, in seconds since 1970. The zone is the one that the reply
// names, or otherwise the user's fallback zone.
//
//	kind.go   recognising a file; the table of metrics
//	series.go measurements during the day
//	day.go    one value a day
//	sleep.go  nights
package ultrahuman
