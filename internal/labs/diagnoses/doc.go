// Package diagnoses holds ICD-10-CM, the diagnosis codes that insurers ask for.
// It searches codes by words, and checks that codes exist, are complete and may
// be used together.
//
// common.csv ships with the binary: the nine hundred codes that laboratories
// see most. The operator can import the official yearly list, which replaces
// it. Titles are the official ones, works of the United States government.
// synonyms.csv is ours: the words that people use instead of the titles.
// excludes.csv holds the Excludes notes of the official tabular list for the
// codes that ship. The tabular list can be imported too.
//
//	list.go      all codes, the words that lead to them, and the form of a code
//	search.go    finding codes by words or by the beginning of a code
//	excludes.go  codes that exclude each other, and the official file of notes
//	validate.go  checking the codes of an order
//	codefile.go  the official file of codes
package diagnoses
