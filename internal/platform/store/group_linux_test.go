package store_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A commit whose sync failed may come back after a crash, so its outcome is unknown. A
// full disk changes nothing and is Unavailable.
func TestFailedCommit(t *testing.T) {
	for device, unknown := range map[string]bool{
		"/dev/null": true,  // accepts writes and cannot sync
		"/dev/full": false, // is full
	} {
		d := storetest.NewSQLite(t)
		db, err := store.Open(t.Context(), store.Options{Dir: d.Dir}) // which syncs
		if err != nil {
			t.Fatal(err)
		}
		ctx := store.AsSystem(t.Context())
		add := func(name string) error {
			return db.Write(ctx, func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), name) })
		}
		if err := add("before"); err != nil {
			t.Fatal(err)
		}
		restore := replaceWithDevice(t, filepath.Join(d.Dir, store.FileName+"-wal"), device)
		err = add("lost")
		restore()
		if unknown {
			outcomeUnknown(t, device, err)
		} else {
			unavailable(t, device, err)
		}
		if err := add("after"); err != nil {
			t.Errorf("%s: then %v", device, err)
		}
		if n := teamNames(t, db); n != 2 {
			t.Errorf("%s: %d rows", device, n)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// replaceWithDevice redirects the open descriptors of a file to a device, until
// restore is called.
func replaceWithDevice(t *testing.T, path, device string) (restore func()) {
	t.Helper()
	target, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	saved := map[int]int{}
	for _, number := range descriptors(t, path) {
		saved[number], err = unix.Dup(number)
		if err == nil {
			err = unix.Dup3(int(target.Fd()), number, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		for number, old := range saved {
			if err := unix.Dup3(old, number, 0); err != nil {
				t.Error(err)
			}
			_ = unix.Close(old)
		}
	}
}

// descriptors returns the descriptors of a file that this process has open.
func descriptors(t *testing.T, path string) (all []int) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, entry := range open {
		if name, err := os.Readlink("/proc/self/fd/" + entry.Name()); err != nil || name != path {
			continue
		}
		number, err := strconv.Atoi(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, number)
	}
	if len(all) == 0 {
		t.Fatal("the file is not open")
	}
	return all
}
