// Package refrange reads reference ranges as laboratories print them.
//
//	r := refrange.Parse("< OR = 5.6")
//	r.High // &Bound{Value: 5.6, Inclusive: true}
//
// A hyphen includes both ends, "<" leaves its end out, "up to" takes it in.
// Ranges for each sex and ranges in labelled bands are taken apart; of bands
// the normal one gives the bounds. What cannot be read for certain is left
// alone: a misread bound calls a sick person healthy.
package refrange
