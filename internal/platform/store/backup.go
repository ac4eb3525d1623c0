package store

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Backup writes a consistent copy of the SQLite database to a new file while the
// service continues. The copy holds sealed values, so the root key must be backed up
// too, in another place.
func (db *DB) Backup(ctx context.Context, path string) error {
	if db.engine != SQLite {
		return errors.New("store: back up PostgreSQL with its own tools (pg_dump, or base backups)")
	}
	if err := createPrivate(path); err != nil { // VACUUM INTO accepts an empty file
		return fmt.Errorf("store: backup: %w", err)
	}
	l, err := openConn(db.path, pragmas(Options{}))
	if err != nil {
		return fmt.Errorf("store: backup: %w", err)
	}
	l.raw.SetInterrupt(ctx.Done())
	if _, err := l.exec(`VACUUM INTO $1`, []any{path}); err != nil {
		return errors.Join(fmt.Errorf("store: backup: %w", err), l.close())
	}
	if err := l.close(); err != nil {
		return fmt.Errorf("store: backup: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("store: backup: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// Check reads the whole SQLite database and returns an error if it is damaged.
func (db *DB) Check(ctx context.Context) error {
	if db.engine != SQLite {
		return nil
	}
	var verdict string
	err := db.Read(ctx, func(tx *Tx) error {
		return tx.QueryRow(ctx, `PRAGMA integrity_check(10)`).Scan(&verdict)
	})
	if err != nil {
		return fmt.Errorf("store: checking: %w", err)
	}
	if verdict != "ok" {
		return fmt.Errorf("store: the database is damaged: %s", verdict)
	}
	return nil
}
