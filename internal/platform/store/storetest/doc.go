// Package storetest gives tests a fresh, migrated database on each engine:
//
//	storetest.Each(t, func(t *testing.T, db *store.DB) { … })
//
// runs a subtest named sqlite and one named postgres. All code with SQL is tested this
// way, so the tests verify that one SQL text works on both engines.
//
// The subtests do not migrate: SQLite copies a migrated file, and PostgreSQL a template
// database. The PostgreSQL cluster is the one of HALE_TEST_POSTGRES, which `make test`
// starts once for all packages. Without it the package starts its own cluster from
// local binaries. Without binaries the subtest skips and names the package to install.
// Tests connect as an ordinary role that owns its tables, so row-level security applies
// as in production.
package storetest
