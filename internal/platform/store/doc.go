// Package store is the way to the database: embedded SQLite or PostgreSQL,
// one hand-written SQL text for both.
//
// A door opens a transaction, domains receive it:
//
//	err := db.Write(ctx, func(tx *store.Tx) error { … })
//
// Write returns nil only when the change is on disk. Its function may run
// more than once (a lost race, a serialisation failure), so it assigns its
// results from scratch each time and touches nothing but tx.
//
// On SQLite one goroutine writes. It takes whatever transactions are waiting,
// runs each under its own savepoint and commits them together, so that one
// fsync serves many (group.go). On PostgreSQL each transaction has its own
// connection and is tried again where the database asks for it (postgres.go).
// SQLite is spoken to directly (lite.go), PostgreSQL through database/sql and
// pgx; both answer with the same Rows (rows.go).
//
// Personal data and secrets are sealed on their way in (seal.go). The rules
// that keep one SQL text true on both engines are in docs/decisions/0002.
package store
