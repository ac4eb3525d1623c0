// Package aggregate answers questions about a user's wearable data: it runs
// the plans of package query over what package wearables has stored.
//
//	result, err := aggregate.Run(ctx, tx, aggregate.Request{User: user, Plan: plan, From: from, To: to})
//
// The order of reading:
//
//	run.go       Run: load, filter, group, choose sources, reduce, align
//	vector.go    Vector: one column in memory
//	floating.go  what the clock on the person's wall showed
//	extent.go    when there may be data at all
//	outside.go   how samples are told apart outside
//	load.go, load_series.go, load_summaries.go    the rows of a table
//	document.go, lists.go, macros.go              values out of a summary
//	filter.go    conditions, with unknown where a value is missing
//	group.go, sources.go, reduce.go               groups, their best source, their values
//	align.go     rows for empty buckets, filled from their neighbours
//	table.go, json.go, parquet.go                 results, and their two forms
//
// Everything is columns from the packed blocks to the answer. A series is read
// in stretches of time and summaries some hundred at a time, so that what does
// not fit is noticed early. How much one query may read, hold and give, and a
// batch of them, is bounded in run.go.
//
// Below it, query is the language and continuous keeps the results of stored
// queries up to date. Formulas are named in docs/aggregation.md.
//
// Reference 7.11, 7.12.
package aggregate
