// Package inbox takes what lab networks report, keeps it, and brings it to the
// order that it concerns.
//
// A message is stored whole before the network hears that it arrived; the same
// message a second time is no new one. Each of its reports is then handled in a
// job of its own lane: what is said of one order is handled in the order in
// which it came, what is said of different orders side by side.
//
// A report finds its order by our order number or by the sample id, and must be
// about the same person. It moves the order (orders.Advance, which ignores what
// comes late), and its results and visits go to the domains that know them, in
// the same transaction. What finds no order goes to the queue of unmatched
// results.
//
// Reading order: inbox.go (taking), process.go (handling), match.go (whose it
// is), endings.go (what it means for that order), apply.go and collection.go (what
// it changes), answer.go (what comes with the receipt of an order), give.go (a
// report that turns out to be somebody's, or nobody's).
package inbox
