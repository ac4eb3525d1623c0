package store

import (
	"context"
	"fmt"
	"time"
)

// MaxSkew is the largest difference between the clocks of the process and the
// database that causes no warning.
const MaxSkew = time.Second

// Clock returns the SQL of the current time in microseconds, by the clock of the
// database. All nodes of a database share this clock. A test that changes Now does
// not change it.
func (tx *Tx) Clock() string {
	if tx.db.engine == SQLite {
		return `CAST(unixepoch('subsec') * 1000000 AS INTEGER)`
	}
	return `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`
}

// Skew returns how far the clock of the database is ahead of Now, negative when it
// is behind. It is 0 if the difference is within the time that the query took.
// SQLite uses the clock of the process.
func (db *DB) Skew(ctx context.Context) (time.Duration, error) {
	if db.engine == SQLite {
		return 0, nil
	}
	var theirs, before, after time.Time
	err := db.Read(ctx, func(tx *Tx) error {
		before = db.Now()
		err := tx.QueryRow(ctx, `SELECT `+tx.Clock()).Scan(ScanTime(&theirs))
		after = db.Now()
		return err
	})
	switch {
	case err != nil:
		return 0, fmt.Errorf("store: reading the database's clock: %w", err)
	case theirs.Before(before):
		return theirs.Sub(before), nil
	case theirs.After(after):
		return theirs.Sub(after), nil
	}
	return 0, nil
}
