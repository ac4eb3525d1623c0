package storetest

import (
	"context"
	"testing"
	"time"

	"hale/internal/platform/store"
)

// Database says where a fresh database is, for tests that open it themselves,
// such as those that start the whole service.
type Database struct {
	Engine store.Engine
	URL    string // --database: a PostgreSQL address, or empty for SQLite in Dir
	Dir    string // --data: an empty folder but for the SQLite file
}

// Each runs fn as a subtest on SQLite and as one on PostgreSQL, each with an
// open database of its own that is closed when the subtest ends.
func Each(t *testing.T, fn func(t *testing.T, db *store.DB)) {
	t.Helper()
	EachAt(t, nil, fn)
}

// EachAt is Each with a clock; nil means the real one.
func EachAt(t *testing.T, now func() time.Time, fn func(t *testing.T, db *store.DB)) {
	t.Helper()
	EachDatabase(t, func(t *testing.T, d Database) {
		fn(t, d.Open(t, now))
	})
}

// EachDatabase runs fn as a subtest on each engine with a database that nobody
// has opened.
func EachDatabase(t *testing.T, fn func(t *testing.T, d Database)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { fn(t, NewSQLite(t)) })
	t.Run("postgres", func(t *testing.T) { fn(t, NewPostgres(t)) })
}

// Open opens the database until the test ends. A test whose machine loses
// power does not exist, so SQLite need not wait for the disk.
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

// SQLite is an open SQLite database, for what only that engine does and for
// benchmarks.
func SQLite(tb testing.TB) *store.DB {
	tb.Helper()
	return NewSQLite(tb).Open(tb, nil)
}

// Postgres is an open PostgreSQL database; the test skips where there are no
// binaries.
func Postgres(tb testing.TB) *store.DB {
	tb.Helper()
	return NewPostgres(tb).Open(tb, nil)
}

// migrate opens the database of o, brings its schema forward and closes it.
func migrate(ctx context.Context, o store.Options) error {
	db, err := store.Open(ctx, o)
	if err != nil {
		return err
	}
	if err := db.Migrate(store.AsSystem(ctx)); err != nil {
		_ = db.Close() // the migration's error is the one to report
		return err
	}
	return db.Close()
}
