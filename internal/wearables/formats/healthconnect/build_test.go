package healthconnect

import (
	"archive/zip"
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"
)

// build makes a database out of files of testdata and statements.
func build(tb testing.TB, statements ...string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "health connect #1?.db")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(filepath.Dir(path), "made.db"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, text := range statements {
		if filepath.Ext(text) == ".sql" {
			raw, err := os.ReadFile(filepath.Join("testdata", text))
			if err != nil {
				tb.Fatal(err)
			}
			text = string(raw)
		}
		if _, err := db.ExecContext(context.Background(), text); err != nil {
			tb.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := os.Rename(filepath.Join(filepath.Dir(path), "made.db"), path); err != nil {
		tb.Fatal(err)
	}
	return path
}

// zipFile puts a file into a zip, as the phone does.
func zipFile(tb testing.TB, name string, content []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func contents(tb testing.TB, path string) []byte {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}
