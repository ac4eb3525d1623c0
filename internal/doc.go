// Package internal holds the tests that keep the whole house in order: which
// package may import which (imports_test.go), which modules there are and what
// for (dependencies_test.go), who may speak HTTP and who may read the clock
// (habits_test.go), and that pages and comments name what is there
// (documents_test.go, comments_test.go). They read the source, so a rule that is
// broken names the file and the line.
package internal
