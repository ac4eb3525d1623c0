// Package internal contains the tests of rules for the whole repository. They read the
// source, so each error names the file and the line.
//
//	imports_test.go       which packages may import which
//	dependencies_test.go  each module has its reason in docs/decisions
//	restrictions_test.go  which packages may use HTTP, the clock and the SQL driver
//	english_test.go       plain English in comments, texts, names and pages
//	documents_test.go     links in pages lead to existing files
//	comments_test.go      package comments name existing files
package internal
