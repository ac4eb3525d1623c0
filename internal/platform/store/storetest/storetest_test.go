package storetest_test

import (
	"context"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// Databases of one engine must be independent of each other, and so must the tests.
func TestEachDatabaseIsFresh(t *testing.T) {
	ctx := store.AsSystem(context.Background())
	for range 2 {
		storetest.Each(t, func(t *testing.T, db *store.DB) {
			if n := tables(t, db, "leftover"); n != 0 {
				t.Fatal("a table of an earlier test is here")
			}
			if n := tables(t, db, "teams"); n != 1 {
				t.Fatal("the schema is not here")
			}
			err := db.Write(ctx, func(tx *store.Tx) error {
				_, err := tx.Exec(ctx, `CREATE TABLE leftover (n BIGINT)`)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestEachAtUsesTheClock(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return noon }, func(t *testing.T, db *store.DB) {
		if got := db.Now(); !got.Equal(noon) {
			t.Errorf("db.Now() = %v, want %v", got, noon)
		}
	})
}

func tables(t *testing.T, db *store.DB, name string) (n int) {
	t.Helper()
	query := `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = $1`
	if db.Engine() == store.Postgres {
		query = `SELECT COUNT(*) FROM pg_tables WHERE tablename = $1`
	}
	ctx := store.AsSystem(context.Background())
	err := db.Read(ctx, func(tx *store.Tx) error { return tx.QueryRow(ctx, query, name).Scan(&n) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}
