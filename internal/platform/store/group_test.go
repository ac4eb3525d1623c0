package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// Pages of a transaction that was rolled back are not written later, because another
// process may have written to the same place in the log.
func TestRolledBackPagesAreNotWritten(t *testing.T) {
	for name, fail := range map[string]func(ctx context.Context, tx *store.Tx) error{
		"by SQLite, as for a full disk": func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, `ROLLBACK`)
			return err
		},
		"after an error": func(context.Context, *store.Tx) error { return errors.New("no") },
		"after a panic":  func(context.Context, *store.Tx) error { panic("no") },
	} {
		t.Run(name, func(t *testing.T) { rollBack(t, fail) })
	}
}

func rollBack(t *testing.T, fail func(ctx context.Context, tx *store.Tx) error) {
	d := storetest.NewSQLite(t)
	db := d.Open(t, nil)
	ctx := store.AsSystem(t.Context())
	write(t, db, func(tx *store.Tx) error {
		rows, err := tx.Query(ctx, `PRAGMA cache_size = 10`) // SQLite writes pages to the log before the commit
		return errors.Join(err, rows.Close())
	})
	write(t, db, func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), "before") })
	if writeOrPanic(ctx, db, func(tx *store.Tx) error {
		for range 20 {
			if err := addTeam(ctx, tx, uuid.New(), strings.Repeat("x", 3000)); err != nil {
				return err
			}
		}
		return fail(ctx, tx)
	}) == nil {
		t.Fatal("the transaction did not fail")
	}
	path := filepath.Join(d.Dir, store.FileName)
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.ExecContext(ctx, `INSERT INTO teams (id, name, environment, settings, created_at)
		VALUES (randomblob(16), 'another process', 'sandbox', '{}', 0)`); err != nil {
		t.Fatal(err)
	}
	write(t, db, func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), "after") })
	if got, want := namesAfterCrash(ctx, t, path), "after, another process, before"; got != want {
		t.Errorf("there is %s, want %s", got, want)
	}
}

// writeOrPanic calls Write and returns a panic of fn as an error.
func writeOrPanic(ctx context.Context, db *store.DB, fn func(tx *store.Tx) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	return db.Write(ctx, fn)
}

// namesAfterCrash returns the names of the teams in a database, as if its process
// ended now.
func namesAfterCrash(ctx context.Context, t *testing.T, path string) string {
	t.Helper()
	crashed := filepath.Join(t.TempDir(), "left.db")
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + end)
		if err == nil {
			err = os.WriteFile(crashed+end, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", crashed)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var names, whole string
	if err := db.QueryRowContext(ctx, `PRAGMA integrity_check`).Scan(&whole); err != nil || whole != "ok" {
		t.Errorf("the database is damaged: %s %v", whole, err)
	}
	if err := db.QueryRowContext(ctx, `SELECT group_concat(name, ', ' ORDER BY name) FROM teams`).Scan(&names); err != nil {
		t.Errorf("reading: %v", err)
	}
	return names
}

// LockWait limits the wait for another process. A long wait calls LockHeld, but not
// every time.
func TestWaitForAnotherProcess(t *testing.T) {
	d := storetest.NewSQLite(t)
	ctx := store.AsSystem(t.Context())
	var calls atomic.Int64
	db, err := store.Open(ctx, store.Options{Dir: d.Dir, LockWait: 1200 * time.Millisecond, LockHeld: func(waited time.Duration) {
		if waited < time.Second || waited > 10*time.Second {
			t.Errorf("LockHeld got %v", waited)
		}
		calls.Add(1)
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
			if took := time.Since(began); !store.IsLocked(err) || store.IsFull(err) || took > 10*time.Second {
				t.Errorf("after %v: %v", took, err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := touch(db, func() {}); err != nil || calls.Load() != 1 {
		t.Errorf("%v; LockHeld was called %d times", err, calls.Load())
	}
}
