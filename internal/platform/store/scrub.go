package store

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Deleted rows leave bytes behind: in free pages, in the log, in dead row versions.
// The bytes of a deleted key would open everything that the key sealed. SQLite
// overwrites deleted content (secure_delete) from the first start of a version that
// knows user_version 1. Scrub removes the rest.

// scrubbedVersion is the user_version of a SQLite file that was written with
// secure_delete from the start, or rewritten since.
const scrubbedVersion = 1

// scrubWait limits the time that a scrub waits for readers of SQLite's log, or for a
// lock of PostgreSQL. Writes wait meanwhile.
const scrubWait = time.Second

// ErrScrubBusy is returned if a scrub must be repeated, because another transaction was
// reading.
var ErrScrubBusy = errors.New("store: other transactions are reading what is to be removed")

// Scrub removes the remains of deleted keys from the database files. SQLite moves its
// log into the database and truncates it. PostgreSQL rewrites the table of the keys;
// its own log and its archives keep old bytes until they are recycled.
func (db *DB) Scrub(ctx context.Context) error {
	if db.engine == Postgres {
		return db.scrubPostgres(ctx)
	}
	return db.withScrubber(ctx, func(c *conn) error { return truncateLog(c) })
}

// ScrubOnce rewrites a SQLite file that an older version wrote without secure_delete,
// and reports whether it did so. It needs free space of the size of the database, in
// the folder of SQLITE_TMPDIR and in the data folder.
func (db *DB) ScrubOnce(ctx context.Context) (done bool, err error) {
	if db.engine == Postgres {
		return false, nil
	}
	err = db.withScrubber(ctx, func(c *conn) error {
		var version int64
		rows, err := c.query(`PRAGMA user_version`, nil)
		if err != nil {
			return err
		}
		if rows.Next() {
			err = rows.Scan(&version)
		}
		if err = errors.Join(err, rows.Close()); err != nil || version >= scrubbedVersion {
			return err
		}
		if done, err = hasKeys(c); err != nil {
			return err
		}
		if done {
			if _, err := c.exec(`VACUUM`, nil); err != nil {
				return err
			}
		}
		if _, err := c.exec(fmt.Sprintf(`PRAGMA user_version = %d`, scrubbedVersion), nil); err != nil {
			return err
		}
		return truncateLog(c)
	})
	if err != nil && !done && IsFull(err) {
		return false, nil // a new database has no deleted keys; the next start writes the version
	}
	return done, err
}

// withScrubber runs fn with a connection of its own. Its temporary data, which can be
// as large as the database, is in files.
func (db *DB) withScrubber(ctx context.Context, fn func(*conn) error) error {
	all := append(pragmas(Options{NoMmap: true, LockWait: scrubWait}), "temp_store(file)")
	c, err := openConn(db.path, all)
	if err != nil {
		return fmt.Errorf("store: scrubbing: %w", err)
	}
	c.raw.SetInterrupt(ctx.Done())
	err = errors.Join(fn(c), c.close())
	if err != nil && !errors.Is(err, ErrScrubBusy) {
		err = fmt.Errorf("store: scrubbing: %w", err)
	}
	return err
}

func hasKeys(c *conn) (bool, error) {
	rows, err := c.query(`SELECT 1 FROM sealing_keys LIMIT 1`, nil)
	if err != nil {
		return false, err
	}
	found := rows.Next()
	return found, rows.Close()
}

func truncateLog(c *conn) error {
	rows, err := c.query(`PRAGMA wal_checkpoint(TRUNCATE)`, nil)
	if err != nil {
		return err
	}
	var busy, logged, moved int64
	if rows.Next() {
		err = rows.Scan(&busy, &logged, &moved)
	}
	if err = errors.Join(err, rows.Close()); err == nil && busy != 0 {
		err = ErrScrubBusy
	}
	return err
}

// scrubPostgres rewrites the table of the keys on PostgreSQL. It returns ErrScrubBusy if
// dead rows remain: a transaction that began before their deletion could still read them,
// even one of another program. It opens a separate connection, because only the notices
// of the connection report remaining rows.
func (db *DB) scrubPostgres(ctx context.Context) error {
	config, err := pgx.ParseConfig(db.url)
	if err != nil {
		return errAddress
	}
	kept := 0
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { kept += keptRows(n) }
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("store: scrubbing: %w", err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }() // nothing is left to do
	_, err = c.Exec(ctx, fmt.Sprintf(`SET lock_timeout = %d`, scrubWait.Milliseconds()))
	if err == nil {
		_, err = c.Exec(ctx, `VACUUM (FULL, VERBOSE) sealing_keys`)
	}
	switch {
	case isLockTimeout(err), err == nil && kept > 0:
		return ErrScrubBusy
	case err != nil:
		return fmt.Errorf("store: scrubbing: %w", err)
	}
	return nil
}

var firstNumber = regexp.MustCompile(`^\D*(\d+)`)

// keptRows returns the number of dead rows that VACUUM could not remove. Its notice about
// the table of the keys has the number first in the detail, in every language.
func keptRows(n *pgconn.Notice) int {
	found := firstNumber.FindStringSubmatch(n.Detail)
	if found == nil || !strings.Contains(n.Message, "sealing_keys") {
		return 0
	}
	kept, err := strconv.Atoi(found[1])
	if err != nil {
		return 1 // too large for an int
	}
	return kept
}
