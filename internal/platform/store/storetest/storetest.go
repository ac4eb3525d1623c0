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

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// NewSQLite creates a data folder with a migrated SQLite file.
func NewSQLite(tb testing.TB) Database {
	tb.Helper()
	content, err := migratedFile()
	if err != nil {
		tb.Fatalf("storetest: migrating SQLite: %v", err)
	}
	dir := tb.TempDir()
	if err := os.WriteFile(filepath.Join(dir, store.FileName), content, 0o600); err != nil {
		tb.Fatal(err)
	}
	return Database{Engine: store.SQLite, Dir: dir}
}

// migratedFile returns the content of a migrated SQLite file without rows. Closing the
// database has emptied its write-ahead log.
var migratedFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "hale-storetest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := migrate(context.Background(), store.Options{Dir: dir}); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, store.FileName))
})

// Clock is a clock that a test sets while the service reads it. Use [NewClock].
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows a time.
func NewClock(at time.Time) *Clock { return &Clock{now: at} }

// Now returns the time. It is the argument of [hale/internal/platform/store.DB.SetClock].
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set sets the time.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = at
}

// Advance moves the time forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Plan returns SQLite's plan for a query with args arguments, one step per line.
func Plan(t testing.TB, db *store.DB, query string, args int) string {
	t.Helper()
	var plan strings.Builder
	ctx := store.AsSystem(t.Context())
	err := db.Read(ctx, func(tx *store.Tx) error {
		given := make([]any, args) // the planner ignores the values
		for i := range given {
			given[i] = i
		}
		rows, err := tx.Query(ctx, "EXPLAIN QUERY PLAN "+query, given...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				return err
			}
			plan.WriteString(step + "\n")
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan.String()
}
