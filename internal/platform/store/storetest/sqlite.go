package storetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"hale/internal/platform/store"
)

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
