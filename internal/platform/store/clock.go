package store

import (
	"context"
	"fmt"
	"time"
)

// MostSkew is how far the clock of a process may be from the database's before
// people are warned.
const MostSkew = time.Second

// Clock is the SQL of the present moment in microseconds, by the clock of the
// database. All nodes that share a database share it, whatever their own clocks
// say; it is not moved when a test moves Now.
func (tx *Tx) Clock() string {
	if tx.db.engine == SQLite {
		return `CAST(unixepoch('subsec') * 1000000 AS INTEGER)`
	}
	return `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`
}

// Skew is how far the clock of the database is ahead of Now; it is negative
// when it is behind, and 0 when the time that the question took leaves that
// open. SQLite has the clock of the process.
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
		return 0, fmt.Errorf("store: asking for the database's clock: %w", err)
	case theirs.Before(before):
		return theirs.Sub(before), nil
	case theirs.After(after):
		return theirs.Sub(after), nil
	}
	return 0, nil
}
