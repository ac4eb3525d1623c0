// Package sheet is what the readers of small text exports share: rows of CSV
// documents (rows.go), records that may not be endless (bounded.go), clocks on
// the wall without a zone (wall.go), numbers as people's locales write them
// (number.go), columns to store (gather.go), amounts of one moment
// (portions.go), and the run of an import from opening the file to its
// summaries (run.go).
package sheet
