package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// What a transaction wrote that was rolled back as a whole is not in the log
// later: another process may have written in its place since.
func TestWhatIsRolledBackIsNotWrittenLater(t *testing.T) {
	for name, fail := range map[string]func(ctx context.Context, tx *store.Tx) error{
		"by SQLite, as where a disk is full": func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, `ROLLBACK`)
			return err
		},
		"for its error": func(context.Context, *store.Tx) error { return errors.New("no") },
		"for a panic":   func(context.Context, *store.Tx) error { panic("no") },
	} {
		t.Run(name, func(t *testing.T) { rolledBack(t, fail) })
	}
}

func rolledBack(t *testing.T, fail func(ctx context.Context, tx *store.Tx) error) {
	d := storetest.NewSQLite(t)
	db := d.Open(t, nil)
	ctx := store.AsSystem(t.Context())
	write(t, db, func(tx *store.Tx) error {
		rows, err := tx.Query(ctx, `PRAGMA cache_size = 10`) // pages go to the log before the transaction ends
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
		t.Fatal("a transaction that was rolled back was committed")
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
	if got, want := namesAfterACrash(ctx, t, path), "after, another process, before"; got != want {
		t.Errorf("there is %s, want %s", got, want)
	}
}

// writeOrPanic is Write with a panic as an error.
func writeOrPanic(ctx context.Context, db *store.DB, fn func(tx *store.Tx) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	return db.Write(ctx, fn)
}

// namesAfterACrash are the teams of a database whose process ends now.
func namesAfterACrash(ctx context.Context, t *testing.T, path string) string {
	t.Helper()
	left := filepath.Join(t.TempDir(), "left.db")
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + end)
		if err == nil {
			err = os.WriteFile(left+end, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", left)
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
