package store

import (
	"context"
	"errors"
)

// MigrateTo migrates to an older schema, as an older binary did.
func (db *DB) MigrateTo(ctx context.Context, version int64) error {
	provider, done, err := db.provider(ctx)
	if err != nil {
		return err
	}
	defer done()
	if _, err := provider.UpTo(ctx, version); err != nil || db.engine != Postgres {
		return err
	}
	return db.enforceRowSecurity(ctx)
}

// ExecInsecurely runs a statement on a SQLite file as a version without secure_delete
// did.
func ExecInsecurely(path, query string, args ...any) error {
	c, err := openConn(path, append(pragmas(Options{}), "secure_delete(off)"))
	if err != nil {
		return err
	}
	_, err = c.exec(query, args)
	return errors.Join(err, c.close())
}
