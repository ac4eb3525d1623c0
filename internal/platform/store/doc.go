// Package store gives access to the database: embedded SQLite or PostgreSQL, with
// one hand-written SQL text for both.
//
// A caller such as an HTTP handler or a job starts a transaction, and domains
// receive it:
//
//	err := db.Write(ctx, func(tx *store.Tx) error { … })
//
// Write returns nil only after the change is on disk. Its function may run more than
// once (a lost race, a serialization failure). So it must assign its results from
// scratch each time and use nothing but tx.
//
// On SQLite one goroutine writes. It collects all waiting transactions, runs each under
// a savepoint and commits them together with one fsync (group.go). On PostgreSQL each
// transaction has its own connection and is retried when the database asks for it
// (postgres.go). Its connections limit the wait for an answer (dial.go). SQLite is
// called directly (lite.go), PostgreSQL through database/sql and pgx. Both return the
// same Rows (rows.go).
//
// Personal data and secrets are sealed before they are stored (seal.go). The rules
// for one SQL text on both engines are in docs/decisions/0002.
package store
