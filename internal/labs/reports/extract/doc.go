// Package extract turns the words of a lab report and their places on the page
// into rows of results and the report's metadata. It is pure: it reads no file,
// calls no program and keeps no state.
//
// types.go declares the document that package pages produces and the result
// that package reports stores. value.go and ranges.go hold the grammars of
// values and of reference ranges. NeedsReview marks a row that two readings do
// not agree on, or that does not fit its analyte. The extractor prefers a
// question to a wrong answer. It never converts units.
package extract
