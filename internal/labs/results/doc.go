// Package results is what laboratories find: it takes their reports, brings
// them into one form, keeps every version, and moves the order along.
//
// A lab reports an order in pieces: some values early, the rest later, then a
// correction, and any of it twice or in the wrong order. So every report is
// kept as it came, and the present results are made of all of them together
// (merge.go) by rules that do not look at the order in which they arrived. When
// that changes anything, a revision is added; none is ever changed or removed.
//
// Everything is sealed with the user's key and goes with the user.
//
// # Reading order
//
//	types.go      a revision of an order's results
//	merge.go, observations.go, names.go   many reports as one
//	expected.go   what the ordered markers owe
//	normalise.go, values.go, judge.go   one result: value, range, interpretation
//	signal.go     the names of one test's rows
//	missing.go, failure.go              what is not there, and why
//	take.go       a report that arrives
//	settle.go     what it does to the order
//	rows.go       reading and writing
//	together.go   the results of a transaction
//	pdf.go        documents
//
// refrange reads reference ranges.
package results
