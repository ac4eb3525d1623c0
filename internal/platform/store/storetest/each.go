package storetest

import (
	"context"
	"testing"
	"time"

	"hale/internal/platform/store"
)

// Database is the address of a fresh database, for tests that open it themselves,
// such as tests of the whole service.
type Database struct {
	Engine store.Engine
	URL    string // --database: a PostgreSQL address, or empty for SQLite in Dir
	Dir    string // --data: a folder that contains at most the SQLite file
}

// Each runs fn as a subtest on SQLite and on PostgreSQL. Each subtest has an open
// database of its own, which is closed when the subtest ends.
func Each(t *testing.T, fn func(t *testing.T, db *store.DB)) {
	t.Helper()
	EachAt(t, nil, fn)
}

// EachAt runs fn like Each, with a clock. nil means the real clock.
func EachAt(t *testing.T, now func() time.Time, fn func(t *testing.T, db *store.DB)) {
	t.Helper()
	EachDatabase(t, func(t *testing.T, d Database) {
		fn(t, d.Open(t, now))
	})
}

// EachDatabase runs fn as a subtest on each engine with a database that is not open.
func EachDatabase(t *testing.T, fn func(t *testing.T, d Database)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { fn(t, NewSQLite(t)) })
	t.Run("postgres", func(t *testing.T) { fn(t, NewPostgres(t)) })
}

// Open opens the database until the test ends. SQLite does not sync commits, because
// tests need no durability after a power loss.
func (d Database) Open(tb testing.TB, now func() time.Time) *store.DB {
	tb.Helper()
	db, err := store.Open(context.Background(), store.Options{
		URL: d.URL, Dir: d.Dir, Now: now, Synchronous: "NORMAL", Conns: 16,
	})
	if err != nil {
		tb.Fatalf("storetest: opening: %v", err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("storetest: closing: %v", err)
		}
	})
	return db
}

// SQLite returns an open SQLite database, for benchmarks and for tests of that engine.
func SQLite(tb testing.TB) *store.DB {
	tb.Helper()
	return NewSQLite(tb).Open(tb, nil)
}

// Postgres returns an open PostgreSQL database. Without binaries the test skips.
func Postgres(tb testing.TB) *store.DB {
	tb.Helper()
	return NewPostgres(tb).Open(tb, nil)
}

// migrate opens, migrates and closes a database.
func migrate(ctx context.Context, o store.Options) error {
	db, err := store.Open(ctx, o)
	if err != nil {
		return err
	}
	if err := db.Migrate(store.AsSystem(ctx)); err != nil {
		_ = db.Close() // report the error of the migration
		return err
	}
	return db.Close()
}
