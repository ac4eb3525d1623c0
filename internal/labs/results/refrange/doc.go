// Package refrange parses reference ranges as laboratories print them.
//
//	r := refrange.Parse("< OR = 5.6")
//	r.High // &Bound{Value: 5.6, Inclusive: true}
//
// A hyphen includes both ends, "<" excludes its end, "up to" includes it.
// Ranges for each sex and ranges in labelled bands are split; the normal band
// gives the bounds. A text that cannot be read for certain has no bounds: a
// wrong bound would call a sick person healthy.
package refrange
