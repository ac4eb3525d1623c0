// Package places holds locations: ZIP codes, the patient service centers of
// labs, and the coverage of phlebotomists who visit patients.
//
// It has three entry points:
//
//	place, known := places.Zip("85004")                 // coordinates, state, time zone
//	found, err := directory.Near(ctx, tx, viewer, query) // service centers around a point
//	offers, err := places.Coverage(ctx, tx, viewer, zip) // phlebotomy at an address
//
// ZIP codes ship with the binary. Service centers and coverage come from files
// that an operator imports, for all teams or for one. A team sees the first list
// of a lab's service centers that exists:
//
//  1. the list of the team,
//  2. the list of all teams,
//  3. in sandbox, a made-up list.
//
// The made-up list is not stored: each site is a function of its number.
//
// A search uses an index in memory: the sites of one list, sorted by latitude,
// with their position on the unit sphere. The index holds only the fields that
// select sites; the database has the rest. Each list has a version. A node reads
// the version with every search, so that all nodes see an import as soon as it
// is committed.
//
// Reading order: zip.go, index.go, site.go, directory.go, sandbox_sites.go; hours.go,
// coverage.go; records.go, parse.go, import.go.
package places
