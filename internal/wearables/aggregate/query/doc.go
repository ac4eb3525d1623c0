// Package query is the language of aggregations: what a team may ask about a
// user's wearable data, and what such a question means before any data is read.
//
// A query selects columns of one table, keeps the rows that a condition holds
// for, groups them by time and by other columns, and fills the holes of a
// regular line of time. It arrives as JSON and leaves as a Plan, in which every
// name is resolved and every type is right, so that running it cannot go wrong
// for the query's sake.
//
// The order of reading:
//
//	expr.go      the expressions, periods and alignments of a query
//	node.go      walking over JSON with the path of every mistake
//	decode.go    JSON to a Query
//	encode.go    a Query to JSON, as it is given back
//	tables.go, summaries.go, series.go    the tables, their columns and where values stand
//	lex.go, where.go, condition.go        the text of a condition, and what it means
//	plan.go, inputs.go, outputs.go        Compile: a Query to a Plan
//	calendar.go  truncating floating time
//
// It knows no database and none of the values.
//
// Reference 7.12.
package query
