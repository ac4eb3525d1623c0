package store

import (
	"context"
	"errors"
	"fmt"
)

// ErrDamaged is the error of a database whose pages are damaged.
var ErrDamaged = errors.New("store: the database is damaged")

// VerifiedParts lists the parts of the database that Verify checks one by one: the
// tables of SQLite, or PostgreSQL as a whole.
func (db *DB) VerifiedParts(ctx context.Context) (names []string, err error) {
	if db.engine == Postgres {
		return []string{"checksums"}, nil
	}
	err = db.Read(ctx, func(tx *Tx) error {
		names = []string{"sqlite_schema"}
		rows, err := tx.Query(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("store: listing tables: %w", err)
	}
	return names, nil
}

// Verify reads all pages of a table of SQLite and of its indexes. On PostgreSQL it asks
// for failed checksums of pages. It returns ErrDamaged if there is damage.
func (db *DB) Verify(ctx context.Context, part string) error {
	if db.engine == Postgres {
		return db.verifyChecksums(ctx)
	}
	var verdict string
	err := db.Read(ctx, func(tx *Tx) error {
		return tx.QueryRow(ctx, `PRAGMA quick_check("`+part+`")`).Scan(&verdict)
	})
	switch {
	case err != nil:
		return fmt.Errorf("store: verifying %s: %w", part, err)
	case verdict != "ok":
		return fmt.Errorf("%w: %s: %s", ErrDamaged, part, verdict)
	}
	return nil
}

func (db *DB) verifyChecksums(ctx context.Context) error {
	var failures int64
	err := db.Read(ctx, func(tx *Tx) error {
		return tx.QueryRow(ctx, `SELECT COALESCE(SUM(checksum_failures), 0) FROM pg_stat_database WHERE datname = current_database()`).Scan(&failures)
	})
	switch {
	case err != nil:
		return fmt.Errorf("store: reading failed checksums: %w", err)
	case failures > 0:
		return fmt.Errorf("%w: PostgreSQL found %d pages with a wrong checksum", ErrDamaged, failures)
	}
	return nil
}
