package store

import "context"

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
