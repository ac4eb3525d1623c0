package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	modernc "modernc.org/sqlite"
	"zombiezen.com/go/sqlite"

	"hale/internal/platform/fault"
)

// errBadConn makes database/sql remove a connection from its pool.
var errBadConn = driver.ErrBadConn

// ErrNoRows is returned by Scan for a query without rows.
var ErrNoRows = sql.ErrNoRows

// IsUnique reports whether err is the violation of a unique constraint. In a
// PostgreSQL transaction all later statements fail, so prefer ON CONFLICT.
func IsUnique(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "23505"
	}
	code := sqlite.ErrCode(err)
	return code == sqlite.ResultConstraintUnique || code == sqlite.ResultConstraintPrimaryKey
}

// IsFull reports whether the disk was full.
func IsFull(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "53100"
	}
	return primaryCode(err) == sqlite.ResultFull
}

// IsIOError reports whether SQLite could not open, read or write a file.
func IsIOError(err error) bool {
	code := primaryCode(err)
	return code == sqlite.ResultIOErr || code == sqlite.ResultCantOpen
}

// primaryCode returns the code of a SQLite error. Migrations use another driver.
func primaryCode(err error) sqlite.ResultCode {
	var migrating *modernc.Error
	if errors.As(err, &migrating) {
		return sqlite.ResultCode(migrating.Code()).ToPrimary()
	}
	return sqlite.ErrCode(err).ToPrimary()
}

// IsDamaged reports whether the embedded database's file is damaged or no database.
func IsDamaged(err error) bool {
	code := sqlite.ErrCode(err).ToPrimary()
	return code == sqlite.ResultCorrupt || code == sqlite.ResultNotADB
}

// IsLocked reports whether another process held a SQLite lock for longer than
// Options.LockWait.
func IsLocked(err error) bool { return sqlite.ErrCode(err).ToPrimary() == sqlite.ResultBusy }

// isLockTimeout reports whether PostgreSQL gave up waiting for a lock.
func isLockTimeout(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "55P03"
}

// Unavailable is a failure of the database: it cannot be reached, is shutting down,
// or its disk is full. Nothing was changed, and the caller may retry.
type Unavailable struct{ Cause error }

func (e *Unavailable) Error() string { return e.Cause.Error() }

func (e *Unavailable) Unwrap() error { return e.Cause }

// Kind returns fault.Unavailable.
func (*Unavailable) Kind() fault.Kind { return fault.Unavailable }

// Message returns the text for callers. The cause is for the log only, except a full
// disk, because a retry fails until an operator makes room.
func (e *Unavailable) Message() string {
	if IsFull(e.Cause) {
		return "The server's disk is full and nothing was stored: try again when there is room"
	}
	return "The database is not available now: try again"
}

// RetryAfter returns the seconds to wait before a retry.
func (*Unavailable) RetryAfter() int { return 2 }

// markUnavailable wraps a failure of the database in Unavailable. It leaves other
// errors unchanged.
func markUnavailable(err *error) {
	if *err != nil && fault.KindOf(*err) == fault.Internal && isUnavailable(*err) {
		*err = &Unavailable{*err}
	}
}

func isUnavailable(err error) bool {
	var unreached *pgconn.ConnectError
	var pg *pgconn.PgError
	switch {
	case errors.Is(err, context.Canceled): // the caller left
		return false
	case errors.Is(err, errCommitUnknown): // it may be committed
		return false
	case errors.Is(err, ErrClosed), errors.As(err, &unreached):
		return true
	case errors.As(err, &pg): // a standby or a read-only server; connection; resources; server shutting down or starting
		return pg.Code == "25006" || strings.HasPrefix(pg.Code, "08") || strings.HasPrefix(pg.Code, "53") || strings.HasPrefix(pg.Code, "57P")
	}
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull, sqlite.ResultIOErr, sqlite.ResultBusy:
		return true
	default:
		return false
	}
}

// markLost wraps the error of a transaction in Unavailable if its connection broke.
func markLost(ctx context.Context, raw *sql.Conn, err error) error {
	if ctx.Err() != nil || fault.KindOf(err) != fault.Internal || errors.Is(err, errCommitUnknown) {
		return err
	}
	gone := false
	checkErr := raw.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		gone = ok && c.Conn().IsClosed()
		return nil
	})
	if gone || checkErr != nil {
		return &Unavailable{err}
	}
	return err
}
