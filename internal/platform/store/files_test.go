package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// Only the owner may read the database, its log and its backups, in a data
// folder that others may read as well.
func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx := store.AsSystem(t.Context())
	db, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	write(t, db, func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), "a") })
	for _, name := range []string{store.FileName, store.FileName + "-wal"} { // as an older version left them
		if err := os.Chmod(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	second, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := db.Backup(ctx, filepath.Join(dir, "backup.db")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{store.FileName, store.FileName + "-wal", store.FileName + "-shm", "backup.db"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o", name, mode)
		}
	}
}
