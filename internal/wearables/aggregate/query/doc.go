// Package query is the language of aggregations: the questions that a team may
// ask about a user's wearable data, checked before any data is read.
//
// A query selects columns of one table and filters rows by a condition. It
// groups rows by time and by other columns, and fills the holes of a regular
// time line. Its input is JSON. Its output is a Plan, in which every name is
// resolved and every type is checked, so a plan cannot fail because of its
// query.
//
// The order of reading:
//
//	expr.go       the expressions, periods and alignments of a query
//	decode.go     JSON to a Query; every error has the path of its place
//	encode.go     a Query to JSON, as reads return it
//	stored.go     the body that creates a continuous query
//	tables.go     the tables, their columns, and the place of each value
//	condition.go  the text of a condition: tokens, parser and type check
//	plan.go       Compile: a Query to a Plan
//	calendar.go   truncating floating time
//
// The package uses no database and reads no values.
//
// Reference 7.12.
package query
