package store_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// What a COMMIT wrote that could not be synced may come back after a crash, so
// nobody is told to come again because nothing was done. Where there is no room
// nothing was, and people are.
func TestACommitThatIsNotSafe(t *testing.T) {
	for device, unknown := range map[string]bool{
		"/dev/null": true,  // takes what is written, and cannot sync
		"/dev/full": false, // has no room
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
		works := becomeDevice(t, filepath.Join(d.Dir, store.FileName+"-wal"), device)
		err = add("lost")
		works()
		if err == nil || !strings.Contains(err.Error(), "committing") || fault.Is(err, fault.Unavailable) == unknown {
			t.Errorf("%s: %v", device, err)
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

// becomeDevice puts a device in the place of a file that this process has open,
// until it is called off.
func becomeDevice(t *testing.T, path, device string) (off func()) {
	t.Helper()
	stand, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer stand.Close()
	kept := map[int]int{}
	for _, number := range descriptors(t, path) {
		kept[number], err = unix.Dup(number)
		if err == nil {
			err = unix.Dup3(int(stand.Fd()), number, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		for number, old := range kept {
			if err := unix.Dup3(old, number, 0); err != nil {
				t.Error(err)
			}
			_ = unix.Close(old)
		}
	}
}

// descriptors are those by which this process has a file open.
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
