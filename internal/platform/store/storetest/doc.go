// Package storetest gives tests a fresh, migrated database on each engine:
//
//	storetest.Each(t, func(t *testing.T, db *store.DB) { … })
//
// runs a subtest named sqlite and one named postgres. Everything that touches
// SQL is tested this way, which makes the tests our conformance suite for "one
// SQL text, two engines".
//
// Neither subtest migrates: on SQLite a migrated file is copied, on PostgreSQL
// a template database. The PostgreSQL cluster is the one that HALE_TEST_POSTGRES
// names, which `make test` starts once for all packages; without it the package
// starts its own from local binaries, and without binaries the subtest skips and
// says what to install. The role that the tests connect as is an ordinary one
// that owns its tables, so row security binds it as it does in production.
package storetest
