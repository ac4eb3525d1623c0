// Package sheet contains the common parts of readers of small text exports:
//
//	rows.go        rows of CSV documents; numbers in the formats of locales
//	bounded.go     records of bounded length
//	local_time.go  local clock times without a zone
//	gather.go      columns to store; amounts of one moment
//	run.go         the run of an import, from opening the file to its summaries
package sheet
