// Package internal contains the tests of rules for the whole repository. They read the
// source, so each error names the file and the line.
//
//	imports_test.go       which packages may import which
//	dependencies_test.go  each module has its reason in docs/decisions
//	restrictions_test.go  which packages may use HTTP, the clock and the SQL driver
//	english_test.go       plain English in comments, texts, names, pages and the API
//	documents_test.go     links in pages lead to existing files
//	comments_test.go      package comments name existing files
//	errors_test.go        docs/errors.md lists the codes of errors
//	security_test.go      tables of docs/security.md name existing tests
//	notice_test.go        NOTICE names embedded files
//	alerts_test.go        alerts and dashboard use existing metrics
package internal
