// Package diagnoses knows ICD-10-CM, the codes of diagnoses that insurers ask
// for: it finds codes by words, and checks that codes exist, are complete and
// may stand together.
//
// common.csv, some nine hundred codes that laboratories see most, ships with
// the binary; the operator imports the official yearly list, which then counts
// instead. Titles are the official ones, works of the United States government.
// synonyms.csv is ours: what people say instead. excludes.csv holds the
// Excludes notes of the official tabular list about codes that ship; the
// tabular list itself can be imported too.
//
//	code.go      the form of a code, with its dot
//	list.go      all codes, and the words that lead to them
//	search.go    finding codes by words or by the beginning of a code
//	excludes.go  which codes may not, or may rather not, stand together
//	validate.go  judging the codes of an order
//	order.go     the official file of codes
//	tabular.go   the official file of notes
package diagnoses
