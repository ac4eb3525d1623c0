// Package catalogue holds labs and the markers that they offer. It also holds the lab
// tests that teams create from markers, the lab accounts under which orders are
// placed, and the physicians who order.
//
// Labs and markers are the same for every team. The sandbox has a catalogue of its
// own, and only sandbox teams see it. It ships with the binary (folder data), and all
// of it is invented. Real labs are imported (importfile.go), and all teams see them.
// [Load] returns the [Catalogue] that one team sees, from memory. Lab tests, accounts
// and physicians are rows of the team.
//
// Reading order:
//
//	types.go       labs, markers, lab tests, order sets
//	assays.go      the rows of a report and their reference ranges
//	catalogue.go   finding labs and markers
//	tests.go       the lab tests of a team
//	orderset.go    the panel that an order asks for
//	accounts.go, physicians.go, pricing.go
//	compendium.go  tests of another lab that report the same
//	builtin.go     the sandbox catalogue
//	importfile.go  the files that an operator imports; import.go checks and stores them
package catalogue
