package store

import (
	"context"
	"errors"
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

// TrustedSkew is the largest difference between the clocks of the node and PostgreSQL
// with which data is deleted by age.
const TrustedSkew = time.Minute

// TrustedGap is the longest time between two checks on SQLite, which has no clock of
// its own, with which data is deleted by age. Checks run each hour.
const TrustedGap = 25 * time.Hour

// ErrClock is the error of a clock that cannot be trusted. Nothing may be deleted by
// age meanwhile: with a clock that is a year ahead, all data looks old.
var ErrClock = errors.New("store: the clock cannot be trusted")

// CheckSkew returns ErrClock if the clocks of this node and PostgreSQL differ by more
// than TrustedSkew.
func (db *DB) CheckSkew(ctx context.Context) error {
	skew, err := db.Skew(ctx)
	if err == nil && skew.Abs() > TrustedSkew {
		err = fmt.Errorf("%w: it differs from PostgreSQL's by %s; set both with the same time server", ErrClock, skew.Round(time.Millisecond))
	}
	return err
}

// CheckClock returns ErrClock if the clock of this node cannot be trusted. On SQLite it
// compares the time with that of the last check, and records it. It cannot distinguish a
// service that did not run for TrustedGap from a wrong clock. An operator then calls
// ConfirmClock.
func (db *DB) CheckClock(ctx context.Context) error {
	if db.engine == Postgres {
		return db.CheckSkew(ctx)
	}
	var gap time.Duration
	err := db.Write(ctx, func(tx *Tx) (err error) {
		if gap, err = tx.clockGap(ctx); err != nil || gap > TrustedGap {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE instance SET clock_at = $1 WHERE id = 1 AND clock_at < $1`, Micros(tx.now))
		return err
	})
	if err == nil && gap > TrustedGap {
		err = gapError(gap)
	}
	return err
}

// ExamineClock checks the clock like CheckClock, without recording the time.
func (db *DB) ExamineClock(ctx context.Context) error {
	if db.engine == Postgres {
		return db.CheckSkew(ctx)
	}
	var gap time.Duration
	err := db.Read(ctx, func(tx *Tx) (err error) {
		gap, err = tx.clockGap(ctx)
		return err
	})
	if err == nil && gap > TrustedGap {
		err = gapError(gap)
	}
	return err
}

func gapError(gap time.Duration) error {
	return fmt.Errorf("%w: it is %s ahead of the last check; if the clock is right and the service was stopped meanwhile, run hale clock confirm", ErrClock, gap.Round(time.Minute))
}

// clockGap returns the time since the last check, 0 before the first one.
func (tx *Tx) clockGap(ctx context.Context) (time.Duration, error) {
	var at int64
	if err := tx.QueryRow(ctx, `SELECT clock_at FROM instance WHERE id = 1`).Scan(&at); err != nil {
		return 0, fmt.Errorf("store: reading the time of the last check: %w", err)
	}
	if at == 0 {
		return 0, nil
	}
	return time.Duration(Micros(tx.now)-at) * time.Microsecond, nil
}

// ConfirmClock records that the clock of this node is right.
func (db *DB) ConfirmClock(ctx context.Context) error {
	return db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `UPDATE instance SET clock_at = $1 WHERE id = 1`, Micros(tx.now))
		return err
	})
}
