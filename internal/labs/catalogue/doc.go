// Package catalogue is the catalogue of laboratory testing: labs, the markers that
// can be ordered from them, the lab tests a team makes of markers, the accounts
// under which orders are placed, and the physicians who order.
//
// Labs and markers are the same for every team. Those of the sandbox ship with
// the binary (folder data, all of it invented) and are seen by sandbox teams
// only; those of real labs are imported (importfile.go) and seen by all. A
// [Catalogue] is what one team sees: For gives it, from memory.
//
// Lab tests, accounts and physicians are rows of the team.
//
// Reads in this order: types.go, values.go and panel.go (what there is),
// catalogue.go and load.go (finding labs and markers), tests.go and testlist.go
// (a team's lab tests), orderset.go and pick.go (what an order will be of),
// accounts.go, physicians.go, pricing.go, compendium.go, crosswalk.go and
// convert.go (which test of another lab reports the same), builtin.go, seed.go
// and import*.go (where the rows come from).
package catalogue
