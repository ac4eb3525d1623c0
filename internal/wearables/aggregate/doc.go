// Package aggregate runs the plans of package query over the stored data of a
// user.
//
//	result, err := aggregate.Run(ctx, tx, aggregate.Request{User: user, Plan: plan, From: from, To: to})
//
// The order of reading:
//
//	run.go       Run: load, filter, group, choose sources, reduce, align; the limits
//	vector.go    Vector: one column in memory; floating time
//	load.go      the rows of a table, from series and from summaries
//	document.go  the values of a summary: fields, lists and macros
//	filter.go    conditions; a missing value makes them unknown
//	group.go     groups, their best source, and their reduced values
//	align.go     rows for empty buckets, filled from their neighbours
//	table.go     results, as JSON and as Parquet
//
// All data is in columns, from the packed blocks to the result. Series are read
// in stretches of time and summaries in pages of some hundred, so a query that
// is too large is refused early. run.go bounds how much a query, and a batch of
// queries, may read, hold in memory and return.
//
// Package query is the language. Package continuous keeps the results of stored
// queries up to date. docs/aggregation.md names the formulas.
//
// Reference 7.11, 7.12.
package aggregate
