package store_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// The file of a version without secure_delete is rewritten once: its free pages lose
// the bytes of deleted keys.
func TestScrubOnce(t *testing.T) {
	dir := t.TempDir()
	ctx := store.AsSystem(t.Context())
	path := filepath.Join(dir, store.FileName)
	secret := bytes.Repeat([]byte("a key to be erased "), 4)
	has := func() bool {
		t.Helper()
		found := false
		for _, suffix := range []string{"", "-wal"} {
			content, err := os.ReadFile(path + suffix)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			found = found || bytes.Contains(content, secret)
		}
		return found
	}
	open := func() *store.DB {
		t.Helper()
		db, err := store.Open(ctx, store.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := open()
	if err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	// The old version adds keys and deletes one.
	if err := store.ExecInsecurely(path,
		`INSERT INTO sealing_keys (team_id, subject_id, number, wrapped, created_at) VALUES (randomblob(16), x'01', 1, $1, 0), (randomblob(16), x'02', 1, x'00', 0)`, secret); err != nil {
		t.Fatal(err)
	}
	if err := store.ExecInsecurely(path, `DELETE FROM sealing_keys WHERE subject_id = x'01'`); err != nil {
		t.Fatal(err)
	}
	if !has() {
		t.Fatal("the deleted key left no bytes: the test shows nothing")
	}
	db = open()
	defer db.Close()
	for i, want := range []bool{true, false} {
		if done, err := db.ScrubOnce(ctx); done != want || err != nil {
			t.Errorf("call %d: %v, %v", i+1, done, err)
		}
	}
	if has() {
		t.Error("the deleted key is still in the file")
	}
}

// A scrub removes the bytes of a deleted key from the files of both engines.
func TestScrub(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t, nil)
		ctx := store.AsSystem(t.Context())
		secret := bytes.Repeat([]byte("a key to be erased "), 4)
		subject := uuid.New()
		exec := func(query string, args ...any) {
			t.Helper()
			if err := db.Write(ctx, func(tx *store.Tx) error {
				_, err := tx.Exec(ctx, query, args...)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		for range 50 {
			exec(`INSERT INTO sealing_keys (team_id, subject_id, number, wrapped, created_at) VALUES ($1, $2, 1, $3, 0)`, uuid.New(), uuid.New(), []byte("kept"))
		}
		exec(`INSERT INTO sealing_keys (team_id, subject_id, number, wrapped, created_at) VALUES ($1, $2, 1, $3, 0)`, uuid.New(), subject, secret)
		if !holds(t, d, db, secret) {
			t.Fatal("the key is not in the files: the test shows nothing")
		}
		began, read, done := make(chan struct{}), make(chan struct{}), make(chan error)
		go func() { // a reader from before the deletion, which could still see the key
			done <- db.Read(ctx, func(tx *store.Tx) error {
				var n int
				err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM teams`).Scan(&n)
				close(began)
				<-read
				return err
			})
		}()
		<-began
		exec(`DELETE FROM sealing_keys WHERE subject_id = $1`, subject)
		if err := db.Scrub(ctx); !errors.Is(err, store.ErrScrubBusy) {
			t.Errorf("a scrub beside an older reader: %v", err)
		}
		close(read)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		for err := store.ErrScrubBusy; err != nil; { // PostgreSQL's own workers may read, too
			if err = db.Scrub(ctx); err != nil && !errors.Is(err, store.ErrScrubBusy) {
				t.Fatal(err)
			}
		}
		if holds(t, d, db, secret) {
			t.Error("the deleted key is still in the files")
		}
	})
}

// holds reports whether bytes are in the files that hold the keys.
func holds(t *testing.T, d storetest.Database, db *store.DB, secret []byte) bool {
	t.Helper()
	files := []string{db.Path(), db.Path() + "-wal"}
	if db.Engine() == store.Postgres {
		admin, err := sql.Open("pgx", storetest.SuperuserURL(t, d))
		if err != nil {
			t.Fatal(err)
		}
		defer admin.Close()
		if _, err := admin.ExecContext(t.Context(), `CHECKPOINT`); err != nil {
			t.Fatal(err)
		}
		var folder, file string
		if err := admin.QueryRowContext(t.Context(),
			`SELECT current_setting('data_directory'), pg_relation_filepath('sealing_keys')`).Scan(&folder, &file); err != nil {
			t.Fatal(err)
		}
		files = []string{filepath.Join(folder, file)}
	}
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if bytes.Contains(content, secret) {
			return true
		}
	}
	return false
}
