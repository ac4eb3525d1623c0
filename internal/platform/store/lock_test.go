package store_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// How long a lock is waited for is a choice; a long wait is told of, and not each
// of them.
func TestWaitingForAnotherProcess(t *testing.T) {
	d := storetest.NewSQLite(t)
	ctx := store.AsSystem(t.Context())
	var told atomic.Int64
	db, err := store.Open(ctx, store.Options{Dir: d.Dir, LockWait: 1200 * time.Millisecond, LockHeld: func(waited time.Duration) {
		if waited < time.Second || waited > 3*time.Second {
			t.Errorf("told of %v", waited)
		}
		told.Add(1)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	touch := func(db *store.DB, during func()) error {
		return db.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE instance SET pinged_at = pinged_at WHERE id = 1`)
			during()
			return err
		})
	}
	err = touch(d.Open(t, nil), func() {
		for range 2 {
			began := time.Now()
			err := touch(db, func() {})
			unavailable(t, "a write", err)
			if took := time.Since(began); !store.IsLocked(err) || store.IsFull(err) || took > 3*time.Second {
				t.Errorf("after %v: %v", took, err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := touch(db, func() {}); err != nil || told.Load() != 1 {
		t.Errorf("%v; told %d times", err, told.Load())
	}
}

// Callers are told of a full disk and of no other trouble.
func TestWhatCallersAreToldOfTrouble(t *testing.T) {
	down := &store.Unavailable{Cause: store.ErrClosed}
	if text := down.Message(); strings.Contains(text, "full") || strings.Contains(text, "closed") {
		t.Error(text)
	}
}
