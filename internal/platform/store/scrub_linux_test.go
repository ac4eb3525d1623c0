package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"hale/internal/platform/store"
)

// A new database has no deleted keys, so a full disk is no reason to report that some
// remain.
func TestScrubOnceOfANewDatabaseOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("no small disk: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	ctx := store.AsSystem(t.Context())
	db, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 8<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	if done, err := db.ScrubOnce(ctx); done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
}
