// Package results stores laboratory results: it accepts the reports of labs,
// brings them into one form, keeps every version, and moves the order.
//
// A lab reports an order in pieces: some values early, the rest later, then a
// correction. Any piece may arrive twice or in the wrong order. Every report is
// stored unchanged. The current results are merged from all reports (merge.go)
// by rules that ignore the order of arrival. When the merged results change, a
// revision is added. Revisions are never changed or removed.
//
// Everything is sealed with the user's key and is erased with the user.
//
// # Reading order
//
//	types.go           a revision of an order's results
//	merge.go           many reports as one
//	expected.go        the results that the ordered markers require
//	normalise.go       one result: names, value, type
//	interpretation.go  its range, and its interpretation
//	missing.go         missing results, and the reasons
//	accept_report.go   a report that arrives, and its effect on the order
//	rows.go            reading and writing; documents
//	transaction.go     the results of a transaction
//
// Package refrange reads reference ranges.
package results
