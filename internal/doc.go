// Package internal holds the tests that keep the whole house in order: which
// package may import which (imports_test.go), who may speak HTTP and who may
// read the clock (habits_test.go). They read the source, so a rule that is
// broken names the file and the line.
package internal
