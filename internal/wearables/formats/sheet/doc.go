// Package sheet contains the common parts of readers of small text exports:
//
//	rows.go        rows of CSV documents
//	bounded.go     records of bounded length
//	local_time.go  local clock times without a zone
//	number.go      numbers in the formats of people's locales
//	gather.go      columns to store
//	portions.go    amounts of one moment
//	run.go         the run of an import, from opening the file to its summaries
package sheet
