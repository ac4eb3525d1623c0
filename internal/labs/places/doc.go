// Package places knows where: ZIP codes, the patient service centers of labs,
// and where phlebotomists come to the patient.
//
// Three questions are asked of it:
//
//	place, known := places.Zip("85004")                 // coordinates, state, time zone
//	found, err := directory.Near(ctx, tx, viewer, query) // service centers around a point
//	offers, err := places.Coverage(ctx, tx, viewer, zip) // phlebotomy at an address
//
// ZIP codes ship with the binary. Service centers and coverage come from files
// that an operator imports, for everybody or for one team. The list of a lab's
// service centers that a team sees is the first that exists of
//
//  1. the team's own,
//  2. everybody's,
//  3. for a team in sandbox, one that is made up.
//
// The made-up one is in no table: each of its sites is a function of its number.
//
// A search looks into an index in memory: the sites of one list by latitude,
// with their place on the unit sphere. It holds no more than it takes to choose;
// what is shown of the few chosen sites is read from the database. Each list
// has a version, which a node reads with every search, so that an import counts
// everywhere as soon as it is committed.
//
// Reads in this order: zip.go, sphere.go, index.go, site.go, list.go, directory.go,
// madeup.go; hours.go, coverage.go; records.go, geojson.go, form.go, parse*.go, import*.go,
// write.go.
package places
