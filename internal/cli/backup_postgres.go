package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"hale/internal/app"
	"hale/internal/platform/config"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

// tablesFolder is the folder of a backup of PostgreSQL that has a file for each table.
const tablesFolder = "tables"

func tableFile(backup, table string) string {
	return filepath.Join(backup, tablesFolder, table+".copy")
}

// backupPostgres copies one snapshot of the database to the folder.
func (s *shell) backupPostgres(ctx context.Context, cfg *config.Config, target string, m *manifest) (err error) {
	ctx = store.AsSystem(ctx)
	db, err := s.openDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := os.Mkdir(filepath.Join(target, tablesFolder), 0o700); err != nil {
		return err
	}
	files := map[string]*tableWriter{}
	made, err := db.CopyOut(ctx, func(table string) (io.WriteCloser, error) {
		w, err := createTable(tableFile(target, table))
		files[table] = w
		return w, err
	})
	if err != nil {
		return err
	}
	for i := range made.Tables {
		t := &made.Tables[i]
		t.SHA256 = hex.EncodeToString(files[t.Name].hash.Sum(nil))
		m.Bytes += files[t.Name].bytes
	}
	m.Schema, m.Postgres = made.Schema, &made
	return store.SyncFolder(filepath.Join(target, tablesFolder))
}

// tableWriter writes the file of a table, and hashes it.
type tableWriter struct {
	file  *os.File
	hash  hash.Hash
	bytes int64
}

func createTable(path string) (*tableWriter, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	return &tableWriter{file: f, hash: sha256.New()}, err
}

func (w *tableWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	w.hash.Write(p[:n])
	w.bytes += int64(n)
	return n, err
}

func (w *tableWriter) Close() error { return errors.Join(w.file.Sync(), w.file.Close()) }

// checkTables compares the files of a backup with its description.
func checkTables(folder string, m *manifest) error {
	for _, t := range m.Postgres.Tables {
		sum, rows, err := countRows(tableFile(folder, t.Name))
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the backup is damaged: the table %s is missing", t.Name)
		}
		if err != nil {
			return err
		}
		if sum != t.SHA256 || rows != t.Rows {
			return fmt.Errorf("the backup is damaged: the table %s has changed since the backup", t.Name)
		}
	}
	return nil
}

// countRows hashes a file and counts its lines: a row has one.
func countRows(path string) (sum string, rows int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h, part := sha256.New(), make([]byte, 1<<20)
	for {
		n, err := f.Read(part)
		h.Write(part[:n])
		rows += int64(bytes.Count(part[:n], []byte("\n")))
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(h.Sum(nil)), rows, nil
		}
		if err != nil {
			return "", 0, err
		}
	}
}

// restorePostgres fills the empty database of the settings, and holds it.
func (s *shell) restorePostgres(ctx context.Context, cfg *config.Config, from string, m manifest) (err error) {
	ctx = store.AsSystem(ctx)
	key, err := s.proveTables(cfg, from, &m)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return err
	}
	db, err := s.openDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.CopyIn(ctx, store.CopySource{
		PostgresCopy: *m.Postgres, Held: restoredReason,
		Open: func(table string) (io.ReadCloser, error) {
			s.stepDone()
			return os.Open(tableFile(from, table))
		},
		Prepare: func() error {
			defer s.stepDone()
			return prepareFolderForPostgres(cfg, from, m.RootKey)
		},
	})
	switch {
	case errors.Is(err, store.ErrNotEmpty):
		return withHint(&conflict{err}, "create a database for the restore, owned by the role of --database")
	case errors.Is(err, store.ErrRestoreRuns):
		return withHint(&conflict{err}, "wait for it, or stop it first")
	case err != nil:
		return err
	}
	s.stepDone()
	s.say("%s", heldHint)
	m.Path, m.Integrity = absolutePath(from), "checked"
	return s.showValue(restoredView, restoredBackup{manifest: m, RootKeyCheck: key, Data: "PostgreSQL", Held: true})
}

// prepareFolderForPostgres gives the data folder the root key of the backup, if it has
// none. The files are there before the rows commit: afterwards no restore can be repeated.
func prepareFolderForPostgres(cfg *config.Config, from string, withKey bool) error {
	if err := app.ForgetCodes(cfg.Data, store.Postgres); err != nil || !withKey || cfg.RootKey != "" {
		return err
	}
	err := copyFile(filepath.Join(from, secrets.RootFileName), rootKeyPath(cfg))
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

// proveTables tries the root key of the settings, of the backup, or of the data folder,
// on the keys of the backup.
func (s *shell) proveTables(cfg *config.Config, from string, m *manifest) (keyCheck, error) {
	keys := *cfg
	if m.RootKey && cfg.RootKey == "" {
		keys.Data = from
	}
	root, err := existingRoot(&keys)
	if err != nil {
		return "", err
	}
	if m.Postgres.Rows(store.SealingKeysTable) == 0 {
		return keyNotNeeded, nil
	}
	if root == nil {
		return keyMissing, nil
	}
	for _, t := range m.Postgres.Tables {
		if t.Name != store.SealingKeysTable {
			continue
		}
		f, err := os.Open(tableFile(from, t.Name))
		if err != nil {
			return "", err
		}
		defer f.Close()
		if _, err := store.ProveCopy(root, t, f); err != nil {
			return "", withHint(fmt.Errorf("wrong root key for this backup: %w", err), wrongKeyHint)
		}
	}
	return keyFits, nil
}

// requireEngine refuses a backup of the other engine.
func requireEngine(cfg *config.Config, m *manifest) error {
	switch {
	case m.Postgres != nil && !isPostgres(cfg):
		return withHint(fault.New(fault.Refused, "this is a backup of PostgreSQL"), "name an empty database with --database")
	case m.Postgres == nil && isPostgres(cfg):
		return fault.New(fault.Refused, "this is a backup of the embedded database, and --database names PostgreSQL")
	}
	return nil
}
