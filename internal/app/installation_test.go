package app_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/platform/ops"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// requireRefusedStart starts a service that must not start, and returns the error.
func requireRefusedStart(t *testing.T, d storetest.Database) string {
	t.Helper()
	before := listFiles(t, d.Dir)
	a, err := app.New(t.Context(), app.Options{Config: apptest.Config(t, d), Log: ops.NewLogger(&apptest.Buffer{}, "text", "info"), Version: "test"})
	if err == nil {
		_ = a.Stop(context.WithoutCancel(t.Context()))
		t.Fatal("the service starts")
	}
	if after := listFiles(t, d.Dir); after != before {
		t.Errorf("the folder had %q and has %q", before, after)
	}
	return err.Error()
}

// listFiles lists a folder, with the sizes of its files.
func listFiles(t *testing.T, folder string) string {
	t.Helper()
	all, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, entry := range all {
		if info, err := entry.Info(); err == nil && entry.Name() != app.LockName && !entry.IsDir() {
			b.WriteString(entry.Name() + " ")
			if entry.Name() != app.InstallationFile {
				b.WriteString(strings.Repeat("+", min(1, int(info.Size()))) + " ")
			}
		}
	}
	return b.String()
}

// A data folder without its database is not a new installation: the start is refused,
// says why, and leaves every file.
func TestALostDatabaseIsNotReplaced(t *testing.T) {
	d := storetest.NewSQLite(t)
	database := filepath.Join(d.Dir, store.FileName)
	s := apptest.Start(t, d)
	s.End()
	kept := readFile(t, database)
	put := func(path string, content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(path string) {
		t.Helper()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}

	put(database+"-wal", []byte("the last transactions"))
	remove(database)
	if text := requireRefusedStart(t, d); !strings.Contains(text, "hale.db is missing from") || !strings.Contains(text, "hale restore") {
		t.Error(text)
	}
	put(database, nil)
	if text := requireRefusedStart(t, d); !strings.Contains(text, "hale.db is empty in") {
		t.Error(text)
	}
	remove(filepath.Join(d.Dir, app.InstallationFile)) // as before this version
	if text := requireRefusedStart(t, d); !strings.Contains(text, "its log hale.db-wal is there") {
		t.Error(text)
	}
	remove(database + "-wal")
	put(database, kept)
	apptest.Start(t, d).End()

	other := storetest.NewSQLite(t)
	apptest.Start(t, other).End()
	put(database, readFile(t, filepath.Join(other.Dir, store.FileName)))
	put(filepath.Join(d.Dir, "root.key"), readFile(t, filepath.Join(other.Dir, "root.key")))
	if text := requireRefusedStart(t, d); !strings.Contains(text, "another installation") {
		t.Error(text)
	}
	remove(filepath.Join(d.Dir, app.InstallationFile))
	apptest.Start(t, d).End()
}

// A folder that served a PostgreSQL database refuses an empty one and another one.
func TestAnotherPostgresDatabaseIsRefused(t *testing.T) {
	d := storetest.NewPostgres(t)
	apptest.Start(t, d).End()
	apptest.Start(t, d).End()
	other := storetest.NewPostgres(t)
	other.Dir = d.Dir
	if text := requireRefusedStart(t, other); !strings.Contains(text, "PostgreSQL database is empty") && !strings.Contains(text, "served another one") {
		t.Error(text)
	}
	elsewhere := other
	elsewhere.Dir = t.TempDir()
	apptest.Start(t, elsewhere).End()
	if err := os.WriteFile(filepath.Join(d.Dir, "root.key"), readFile(t, filepath.Join(elsewhere.Dir, "root.key")), 0o600); err != nil {
		t.Fatal(err)
	}
	if text := requireRefusedStart(t, other); !strings.Contains(text, "another installation") {
		t.Error(text)
	}
}

// An older version had no ids. Its database gets one, and so does an old backup of the
// folder's own.
func TestADatabaseOfAnOlderVersionIsAccepted(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.Start(t, d)
		if err := s.DB.Write(store.AsSystem(t.Context()), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE instance SET installation = ''`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		s.End()
		apptest.Start(t, d).End()
		if err := app.RequireDatabase(apptest.Config(t, d)); errors.Is(err, app.ErrLost) {
			t.Error(err)
		}
	})
}
